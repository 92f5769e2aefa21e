"""What all forms of the environment share: the case and its episodes."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tresse import _native
from tresse.env.link import LINK
from tresse.env.observation import Reward, Round, action
from tresse.errors import TresseError
from tresse.experiments import Experiment, Only, Profile, Settings, chosen

ActionKind: TypeAlias = Literal["factor", "window", "increase"]
KINDS = ("factor", "window", "increase")


class CaseSteps:
    """One case in which agents control the flows of one scheme, step by step."""

    def __init__(
        self,
        experiment: Experiment | None,
        scheme: str,
        kind: ActionKind,
        interval: float | None,
        flows: int | None,
        only: Only | None,
        set: Settings | None,  # noqa: A002
        profile: Profile,
    ) -> None:
        if kind not in KINDS:
            raise TresseError(f"action is one of {', '.join(KINDS)}, not {kind!r}")
        if interval is not None and not 1e-9 <= interval <= 1e6:
            raise TresseError(f"interval is 1e-9 to 1e6 seconds, not {interval}")
        if flows is not None and not 1 <= flows <= 4096:
            raise TresseError(f"flows is 1 to 4096, not {flows}")
        cases = chosen(LINK if experiment is None else experiment, profile, only, set)
        picoseconds = None if interval is None else round(interval * 1e12)
        self.native = _native.Environment(cases, scheme, flows, picoseconds)
        self.flows, self.subflows, self.mss = self.native.shape
        self.kind = kind
        self.rounds: list[Round] = []
        self.time = 0.0
        self.over = False
        self.timed = False

    def take(self, told: _native.Told) -> None:
        """Takes in the results of a step."""
        self.time, length, self.over, self.timed, rows = told
        self.rounds = [Round.of(row, length, self.mss) for row in rows]

    def actions(self, values: list[float | None]) -> list[tuple[int, int]]:
        """The number to send, by agent; None leaves the window as it is."""
        return [
            (-1, 0) if value is None else action(self.kind, value, max(own.cwnd, 1))
            for value, own in zip(values, self.rounds, strict=True)
        ]

    def check_begun(self) -> None:
        """An episode in which no agent ever got a window is an error in the experiment."""
        if self.over and not any(own.cwnd for own in self.rounds):
            raise TresseError("the case was over before a flow of the agents' scheme could send")

    def info(self, own: Round) -> dict[str, Any]:
        """The information that comes with the observation, in plain units."""
        return {
            "time_s": self.time,
            "step_s": own.length,
            "goodput_bps": own.goodput_bps,
            "srtt_s": own.srtt,
            "min_rtt_s": own.min_rtt,
            "delivered_packets": own.delivered,
            "marks": own.marks,
            "retransmissions": own.retransmissions,
            "timeouts": own.timeouts,
            "cwnd_packets": own.cwnd,
            "in_flight_packets": own.in_flight,
        }

    def worth(self, reward: Reward, place: int) -> float:
        """The reward of an agent; 0 before its flow begins."""
        own = self.rounds[place]
        return float(reward(own)) if own.begun else 0.0


def episode_seed(random: np.random.Generator, seed: int | None) -> int:
    """The seed of an episode: the given one, or the generator's next one."""
    return seed if seed is not None else int(random.integers(1, 2**53))


def scalar(value: NDArray[np.float32] | float) -> float:
    """The number in an action."""
    return float(np.asarray(value, dtype=np.float64).reshape(-1)[0])
