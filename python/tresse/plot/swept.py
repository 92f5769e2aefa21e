"""The figure of a sweep: a metric against the key that it sweeps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tresse.errors import TresseError
from tresse.plot.cases import text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from tresse.sweeps import Sweep


def swept(sweep: Sweep, metric: str) -> Figure:
    """The metric against the key with the most values, the first of them; other keys have panels."""
    values = {axis: {text(case.axes.get(axis)) for case in sweep.cases} for axis in sweep.keys.values()}
    if not values:
        raise TresseError(f"{sweep.folder}: no point could be run")
    widest = max(values, key=lambda axis: len(values[axis]))
    return sweep.plot.axis(widest, metric)
