"""Several environments in one process, stepped at the same time."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from tresse import _native
from tresse.env.case import episode_seed
from tresse.env.observation import features
from tresse.env.single import CongestionEnv, Observation
from tresse.errors import TresseError


class VectorCongestionEnv(VectorEnv[Observation, NDArray[np.float32], NDArray[Any]]):
    """`num_envs` environments; the other arguments are those of `CongestionEnv`.

    Native threads step them at the same time, with the interpreter lock released. An environment whose episode is over
    begins its next one at the next step (`AutoresetMode.NEXT_STEP`).
    """

    def __init__(self, num_envs: int, *arguments: Any, **options: Any) -> None:
        if num_envs < 1:
            raise TresseError(f"num_envs is at least 1, not {num_envs}")
        own = [CongestionEnv(*arguments, **options) for _ in range(num_envs)]
        self._cases = [env._case for env in own]
        self._reward = own[0]._reward
        self.num_envs = num_envs
        self.metadata = {**CongestionEnv.metadata, "autoreset_mode": AutoresetMode.NEXT_STEP}
        self.single_observation_space = own[0].observation_space
        self.single_action_space = own[0].action_space
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._done = np.ones(num_envs, dtype=np.bool_)

    def reset(
        self,
        *,
        seed: int | list[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Observation, dict[str, Any]]:
        """Begins an episode in each environment; a single seed stands for it and the ones that follow it."""
        super().reset(seed=seed if isinstance(seed, int) else None, options=options)
        seeds: list[int | None] = [None] * self.num_envs
        if isinstance(seed, int):
            seeds = [seed + i for i in range(self.num_envs)]
        elif seed is not None:
            seeds = list(seed)
        if len(seeds) != self.num_envs:
            raise TresseError(f"{self.num_envs} environments need {self.num_envs} seeds, not {len(seeds)}")
        self._begin(list(range(self.num_envs)), seeds)
        self._done[:] = False
        return self._see(), self._info()

    def step(
        self, actions: NDArray[np.float32]
    ) -> tuple[Observation, NDArray[Any], NDArray[Any], NDArray[Any], dict[str, Any]]:
        """A round in each environment, or the beginning of its next episode."""
        over = [i for i in range(self.num_envs) if self._done[i]]
        going = [i for i in range(self.num_envs) if not self._done[i]]
        values = np.asarray(actions, dtype=np.float64).reshape(self.num_envs)
        asked = [self._cases[i].actions([float(values[i])]) for i in going]
        for i, told in zip(going, _native.step_all([self._cases[i].native for i in going], asked), strict=True):
            self._cases[i].take(told)
        if over:
            self._begin(over, [None] * len(over))
        rewards = np.zeros(self.num_envs, dtype=np.float64)
        terminated = np.zeros(self.num_envs, dtype=np.bool_)
        truncated = np.zeros(self.num_envs, dtype=np.bool_)
        for i in going:
            case = self._cases[i]
            rewards[i] = case.worth(self._reward, 0)
            terminated[i] = case.rounds[0].ended and not case.timed
            truncated[i] = case.over and not terminated[i]
        self._done = terminated | truncated
        return self._see(), rewards, terminated, truncated, self._info()

    def _begin(self, places: list[int], seeds: list[int | None]) -> None:
        drawn = [episode_seed(self.np_random, seed) for seed in seeds]
        for i, told in zip(places, _native.reset_all([self._cases[i].native for i in places], drawn), strict=True):
            self._cases[i].take(told)
            self._cases[i].check_begun()

    def _see(self) -> Observation:
        return np.stack([features(case.rounds[0]) for case in self._cases])

    def _info(self) -> dict[str, Any]:
        infos: dict[str, Any] = {}
        for i, case in enumerate(self._cases):
            infos = self._add_info(infos, case.info(case.rounds[0]), i)
        return infos
