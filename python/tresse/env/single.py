"""The Gymnasium environment."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from tresse import _native
from tresse.env.case import ActionKind, CaseSteps, episode_seed, scalar
from tresse.env.observation import FEATURES, Reward, features, utility
from tresse.errors import TresseError
from tresse.experiments import Experiment, Only, Profile, Settings

Observation = NDArray[np.float32]


class CongestionEnv(gymnasium.Env[Observation, NDArray[np.float32]]):
    """One agent controls one flow with one subflow; everything else in the experiment is as in a run.

    `experiment`, `only`, `set` and `profile` choose one case, as for `tresse.run`; without an experiment it is
    `tresse.env.LINK`. The agent gets the first flow of `scheme` that starts. It uses that scheme's transport and
    its controller's signals: if the controller does not react to marks, the agent sees none.

    A step is one round, the agent's smoothed RTT, or `interval` seconds. `action` says what the number from -1 to 1
    means: "factor" (the window times 2 ** a), "window" (1024 ** ((a + 1) / 2) packets) or "increase" (a round adds
    16 (a + 1) packets, and a mark or a loss halves the window; with the other two, only the agent moves it).
    Observations are `tresse.env.FEATURES`; `reward` takes a `Round`. The episode is terminated when the flow ends and
    truncated when the experiment's duration has passed.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012

    def __init__(
        self,
        experiment: Experiment | None = None,
        *,
        scheme: str = "agent",
        action: ActionKind = "factor",
        interval: float | None = None,
        reward: Reward = utility,
        only: Only | None = None,
        set: Settings | None = None,  # noqa: A002
        profile: Profile = "quick",
    ) -> None:
        self.render_mode = None
        self._case = CaseSteps(experiment, scheme, action, interval, 1, only, set, profile)
        if self._case.subflows != 1:
            raise TresseError(
                f"this environment steers one subflow, and {scheme} has {self._case.subflows}",
                hint="tresse.env.ParallelCongestionEnv has an agent for each",
            )
        self._reward = reward
        self.observation_space = spaces.Box(0.0, 1.0, (len(FEATURES),), np.float32)
        self.action_space = spaces.Box(-1.0, 1.0, (1,), np.float32)

    def reset(
        self,
        *,
        seed: int | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Observation, dict[str, Any]]:
        """Begins an episode with `seed`, as in `tresse.run`; without one, the generator's next seed is used."""
        super().reset(seed=seed, options=options)
        told = _native.reset_all([self._case.native], [episode_seed(self.np_random, seed)])
        self._case.take(told[0])
        self._case.check_begun()
        own = self._case.rounds[0]
        return features(own), self._case.info(own)

    def step(self, action: NDArray[np.float32]) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Applies `action` and lets a round pass."""
        if self._case.over or not self._case.rounds or self._case.rounds[0].ended:
            raise TresseError("no episode is in progress: call reset()")
        told = _native.step_all([self._case.native], [self._case.actions([scalar(action)])])
        self._case.take(told[0])
        own = self._case.rounds[0]
        terminated = own.ended and not self._case.timed
        truncated = self._case.over and not terminated
        return features(own), self._case.worth(self._reward, 0), terminated, truncated, self._case.info(own)
