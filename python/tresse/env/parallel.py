"""The PettingZoo environment."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.utils import seeding
from numpy.typing import NDArray
from pettingzoo import ParallelEnv

from tresse import _native
from tresse.env.case import ActionKind, CaseSteps, episode_seed, scalar
from tresse.env.observation import FEATURES, Reward, features, utility
from tresse.errors import TresseError
from tresse.experiments import Experiment, Only, Profile, Settings

Observation = NDArray[np.float32]


class ParallelCongestionEnv(ParallelEnv[str, Observation, NDArray[np.float32]]):  # type: ignore[misc]
    """One agent for each subflow of the flows of one scheme. They are named `flow0.subflow0` and so on.

    The arguments are those of `CongestionEnv`. `flows` says how many flows have agents, in the order of their starts (by
    default those that start at time 0). A step is one round of the slowest subflow, or `interval` seconds. An agent sees
    `FEATURES` of its own subflow, then those of its siblings in their order. It is done when its flow ends.
    """

    metadata: dict[str, Any] = {"name": "tresse_congestion_v0", "render_modes": []}  # noqa: RUF012

    def __init__(
        self,
        experiment: Experiment | None = None,
        *,
        scheme: str = "agent",
        action: ActionKind = "factor",
        interval: float | None = None,
        flows: int | None = None,
        reward: Reward = utility,
        only: Only | None = None,
        set: Settings | None = None,  # noqa: A002
        profile: Profile = "quick",
    ) -> None:
        self.render_mode = None
        self._case = case = CaseSteps(experiment, scheme, action, interval, flows, only, set, profile)
        self._reward = reward
        self._random, _ = seeding.np_random(None)
        self.possible_agents = [f"flow{f}.subflow{s}" for f in range(case.flows) for s in range(case.subflows)]
        self._places = {agent: place for place, agent in enumerate(self.possible_agents)}
        self.agents: list[str] = []
        shape = (len(FEATURES) * case.subflows,)
        self.observation_spaces = {a: spaces.Box(0.0, 1.0, shape, np.float32) for a in self.possible_agents}
        self.action_spaces = {a: spaces.Box(-1.0, 1.0, (1,), np.float32) for a in self.possible_agents}

    def observation_space(self, agent: str) -> spaces.Box:
        """What `agent` sees."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Box:
        """What `agent` does."""
        return self.action_spaces[agent]

    def reset(
        self,
        seed: int | None = None,
        options: dict[str, Any] | None = None,  # noqa: ARG002
    ) -> tuple[dict[str, Observation], dict[str, dict[str, Any]]]:
        """Begins an episode with `seed`, as in `tresse.run`; without one, the generator's next seed is used."""
        if seed is not None:
            self._random, _ = seeding.np_random(seed)
        self._case.take(_native.reset_all([self._case.native], [episode_seed(self._random, seed)])[0])
        self._case.check_begun()
        self.agents = list(self.possible_agents)
        return self._see(), self._infos()

    def step(
        self, actions: dict[str, NDArray[np.float32]]
    ) -> tuple[
        dict[str, Observation],
        dict[str, float],
        dict[str, bool],
        dict[str, bool],
        dict[str, dict[str, Any]],
    ]:
        """Applies the agents' actions and lets a round pass."""
        if not self.agents:
            raise TresseError("no agent is left: call reset()")
        case = self._case
        values = [scalar(actions[agent]) if agent in actions else None for agent in self.possible_agents]
        case.take(_native.step_all([case.native], [case.actions(values)])[0])
        terminated = {a: case.rounds[self._places[a]].ended and not case.timed for a in self.agents}
        truncated = {a: case.over and not terminated[a] for a in self.agents}
        rewards = {a: case.worth(self._reward, self._places[a]) for a in self.agents}
        seen, infos = self._see(), self._infos()
        self.agents = [a for a in self.agents if not (terminated[a] or truncated[a])]
        return seen, rewards, terminated, truncated, infos

    def _see(self) -> dict[str, Observation]:
        each = [features(own) for own in self._case.rounds]
        seen = {}
        for agent in self.agents:
            place, count = self._places[agent], self._case.subflows
            first = place - place % count
            siblings = [each[i] for i in range(first, first + count) if i != place]
            seen[agent] = np.concatenate([each[place], *siblings])
        return seen

    def _infos(self) -> dict[str, dict[str, Any]]:
        return {a: self._case.info(self._case.rounds[self._places[a]]) for a in self.agents}
