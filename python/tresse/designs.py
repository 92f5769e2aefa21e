"""Designs that need a sampler: points of the unit cube, by scipy.stats.qmc.

`python -m tresse.designs` reads a request as JSON (`kind`, `points`, `dimensions`, `seed`) and writes the points: the
command `tresse sweep` asks it.
"""

from __future__ import annotations

import json
import sys
import warnings

from tresse.errors import TresseError, missing


def draw(kind: str, points: int, dimensions: int, seed: int) -> list[list[float]]:
    """Points of the unit cube, each with `dimensions` numbers from 0 to below 1.

    `kind`: `sobol` (scrambled; a power of 2 of points is balanced), `latin-hypercube` or `random`. The same seed gives
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
            # Any number of points is possible; that a power of 2 is better stands in the documentation.
            warnings.simplefilter("ignore", UserWarning)
            drawn = qmc.Sobol(dimensions, scramble=True, rng=seed).random(points)
    else:
        drawn = qmc.LatinHypercube(dimensions, rng=seed).random(points)
    rows: list[list[float]] = drawn.tolist()
    return rows


def main() -> int:
    """Answers the request on standard input; the exit code."""
    asked = json.load(sys.stdin)
    try:
        json.dump(draw(asked["kind"], asked["points"], asked["dimensions"], asked["seed"]), sys.stdout)
    except TresseError as error:
        print(error, file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
