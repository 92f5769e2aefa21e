"""Designs that need a sampler: points of the unit cube, from scipy.stats.qmc.

`python -m tresse.designs` reads a request as JSON (`kind`, `points`, `dimensions`, `seed`) and writes the points. The
command `tresse sweep` calls it.
"""

from __future__ import annotations

import json
import sys
import warnings

from tresse.errors import TresseError, missing


def draw(kind: str, points: int, dimensions: int, seed: int) -> list[list[float]]:
    """Points of the unit cube, each with `dimensions` numbers from 0 (included) to 1 (excluded).

    `kind`: `sobol` (scrambled; balanced if `points` is a power of 2), `latin-hypercube` or `random`. The same seed gives
    the same points.
    """
    try:
        from scipy.stats import qmc
    except ImportError:
        raise missing("SciPy", "sweep") from None
    if kind == "random":
        import numpy as np

        drawn = np.random.default_rng(seed).random((points, dimensions))
    elif kind == "sobol":
        with warnings.catch_warnings():
            # Any number of points is possible; the documentation says that a power of 2 is better.
            warnings.simplefilter("ignore", UserWarning)
            drawn = qmc.Sobol(dimensions, scramble=True, rng=seed).random(points)
    else:
        drawn = qmc.LatinHypercube(dimensions, rng=seed).random(points)
    rows: list[list[float]] = drawn.tolist()
    return rows


def main() -> int:
    """Answers the request on standard input; returns the exit code."""
    asked = json.load(sys.stdin)
    try:
        json.dump(draw(asked["kind"], asked["points"], asked["dimensions"], asked["seed"]), sys.stdout)
    except TresseError as error:
        print(error, file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
