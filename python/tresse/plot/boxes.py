"""Distributions as boxes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.patches import Patch

from tresse.errors import TresseError
from tresse.plot import draw, rows
from tresse.plot.cases import Chosen
from tresse.plot.stats import Distribution, distribution

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from tresse.plot.palette import Look
    from tresse.runs import Run


def boxes(run: Run, name: str, chosen: Chosen, wish: draw.Wish) -> Figure:
    """Least, 10th, 50th and 90th percentile and greatest value, for each value of the dimension that is `beside`.

    Where all values are the same, there is a point.
    """
    quantity, columns = rows.quantity(run, name)
    values = quantity.values(columns)
    weights = columns.number(quantity.weights) if quantity.weights else None
    found = [
        (own, distribution(values[own.mask], None if weights is None else weights[own.mask]))
        for own in rows.series(columns, chosen)
    ]
    found = [(own, of) for own, of in found if of.count > 0]
    if not found:
        raise TresseError(f"{run.folder}: no row has a {name}")
    (along,) = chosen.beside
    groups = chosen.order(along, (own.x for own, _ in found))
    names = chosen.order(chosen.by[0], (own.name for own, _ in found))
    looks = draw.looks(run, names)
    drawn = draw.canvas(chosen.titled(own.panel for own, _ in found), None)
    ends = [_end([of for _, of in found], wish.log_y), *(float(of.values[0]) for _, of in found)]
    known = np.array([end for end in ends if end > 0 or not wish.log_y])
    for axes in drawn.all:
        scale = draw.scale_axis(axes.yaxis, name, known, log=wish.log_y)
        draw.named_places(drawn, axes, along, groups)
        if not wish.log_y:
            axes.set_ylim(min(0.0, float(known.min())) / scale.factor, 1.04 * float(known.max()) / scale.factor or 1.0)
        draw.set_range(axes.yaxis, wish.y_range, scale)
    width = 0.8 / max(len({own.name for own, _ in found if (own.panel, own.x) == key}) for key in _keys(found))
    for own, of in found:
        beside = [name for name in names if any((o.panel, o.x, o.name) == (own.panel, own.x, name) for o, _ in found)]
        at = groups.index(own.x) + (beside.index(own.name) - (len(beside) - 1) / 2) * width
        _box(drawn.panels[own.panel], at, 0.9 * width, of, scale.factor, looks[own.name])
    draw.outer_labels(drawn)
    alone = all(own.x == own.name for own, _ in found)
    drawn.legend([] if alone else [Patch(**_fill(looks[name])) for name in names], [] if alone else names)
    return drawn.figure


def _keys(found: list[tuple[rows.Series, Distribution]]) -> set[Any]:
    return {(own.panel, own.x) for own, _ in found}


def _end(all_of: list[Distribution], log: bool) -> float:
    """The end of the axis: a few values far beyond all boxes would flatten them."""
    high = max(of.percentile(90) for of in all_of)
    most = max(float(of.values[-1]) for of in all_of)
    return most if log or most <= 5 * high or high <= 0 else 2.5 * high


def _fill(look: Look) -> dict[str, Any]:
    return {"facecolor": look.colour, "edgecolor": look.colour, "alpha": 0.4, "linewidth": 0.8}


def _box(axes: Axes, at: float, width: float, of: Distribution, factor: float, look: Look) -> None:
    least, most = float(of.values[0]) / factor, float(of.values[-1]) / factor
    if least == most:
        axes.plot(at, least, color=look.colour, marker=look.marker, linestyle="none", clip_on=False)
        return
    low, middle, high = (of.percentile(percent) / factor for percent in (10, 50, 90))
    axes.plot([at, at], [least, low], color=look.colour, linewidth=0.9)
    axes.plot([at, at], [high, most], color=look.colour, linewidth=0.9)
    axes.bar(at, high - low, width, bottom=low, **_fill(look))
    axes.plot(
        [at - width / 2, at + width / 2], [middle, middle], color=look.colour, linewidth=1.8, solid_capstyle="butt"
    )
