"""Statistics, as the program computes them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Numbers: TypeAlias = NDArray[np.float64]

_T = (
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16, 2.145, 2.131,
    2.12, 2.11, 2.101, 2.093, 2.086, 2.08, 2.074, 2.069, 2.064, 2.06, 2.056, 2.052, 2.048, 2.045, 2.042,
)  # fmt: skip
"""The 97.5 % quantile of Student's t for 1, 2, … degrees of freedom."""


@dataclass(frozen=True)
class Distribution:
    """Values in ascending order, and how many there are up to and including each."""

    values: Numbers
    cumulative: Numbers

    @property
    def count(self) -> float:
        """How many values there are."""
        return float(self.cumulative[-1]) if len(self.cumulative) else 0.0

    def percentile(self, percent: float) -> float:
        """The smallest value in the data that at least this percentage of all values do not exceed."""
        if not len(self.values):
            return math.nan
        rank = max(1, math.ceil(self.count * percent / 100))
        place = int(np.searchsorted(self.cumulative, rank, side="left"))
        return float(self.values[min(place, len(self.values) - 1)])

    def share_up_to(self, at: Numbers) -> Numbers:
        """The share of all that does not exceed each of these."""
        places = np.searchsorted(self.values, at, side="right")
        upto = np.concatenate([[0.0], self.cumulative])[places]
        shares: Numbers = upto / self.count
        return shares


def distribution(values: Numbers, weights: Numbers | None = None) -> Distribution:
    """The distribution of values, each with its number of occurrences; NaN does not count."""
    known = ~np.isnan(values)
    distinct, place = np.unique(values[known], return_inverse=True)
    each = np.ones(int(known.sum())) if weights is None else weights[known]
    sums = np.bincount(place, weights=each, minlength=len(distinct)).astype(float)
    return Distribution(distinct, np.cumsum(sums))


def half_width_95(values: Numbers) -> Numbers:
    """Half the width of the 95 % interval of the means over the first axis, by Student's t."""
    n = len(values)
    t = _T[n - 2] if n - 2 < len(_T) else _T[-1]
    half: Numbers = t * np.std(values, axis=0, ddof=1) / math.sqrt(n)
    return half
