"""Learning environments: an agent controls the window of a subflow, in any experiment.

`CongestionEnv` is a Gymnasium environment with one agent, `ParallelCongestionEnv` PettingZoo's parallel form with one agent
for each subflow, and `VectorCongestionEnv` is several environments that native threads step at the same time.
They need the package's extra `env`.
"""

from __future__ import annotations

from importlib.util import find_spec

from tresse.errors import missing

for _package in ("numpy", "gymnasium"):
    if find_spec(_package) is None:
        raise missing(_package, "env")

from tresse.env.link import LINK  # noqa: E402
from tresse.env.observation import FEATURES, Round, utility  # noqa: E402
from tresse.env.single import CongestionEnv  # noqa: E402
from tresse.env.vector import VectorCongestionEnv  # noqa: E402

__all__ = ["FEATURES", "LINK", "CongestionEnv", "Round", "VectorCongestionEnv", "utility"]

if find_spec("pettingzoo") is not None:
    from tresse.env.parallel import ParallelCongestionEnv

    __all__ += ["ParallelCongestionEnv"]
