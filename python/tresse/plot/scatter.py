"""One metric against another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from matplotlib.lines import Line2D

from tresse.plot import draw, palette
from tresse.plot.cases import Chosen, Panel
from tresse.plot.errors import unknown
from tresse.plot.measured import Measured, measured
from tresse.plot.units import axis_title

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from tresse.runs import Run


@dataclass(frozen=True)
class _Point:
    panel: Panel
    series: str
    x: float
    y: float
    ci95: tuple[float, float]
    is_ours: bool


def scatter(run: Run, x: str, y: str, chosen: Chosen, wish: draw.Wish) -> Figure:
    """A point for each case, with its 95 % intervals; hollow diamonds: the paper's values."""
    points: list[_Point] = []
    known: dict[str, None] = {}
    for case, own in measured(run, chosen):
        known |= dict.fromkeys(own.metrics)
        place = (chosen.panel(case, own.part), chosen.series(case, own.part))
        ours = (_metric(own, x), _metric(own, y))
        if ours[0] is not None and ours[1] is not None:
            points.append(_Point(*place, ours[0], ours[1], (own.ci95.get(x, 0.0), own.ci95.get(y, 0.0)), True))
        if x in own.published and y in own.published:
            points.append(_Point(*place, own.published[x], own.published[y], (0.0, 0.0), False))
    if not points:
        raise unknown(x if x not in known else y, known, "metric")
    panels = chosen.titled(point.panel for point in points)
    drawn = draw.canvas(panels, None)
    names = chosen.order(chosen.by[0], (point.series for point in points))
    looks = draw.looks(run, names)
    first = next(iter(panels))
    for printed in wish.printed:
        panel = next((own for own in panels if printed.panel in own), first)
        points.append(_Point(panel, printed.series, float(printed.x), printed.y, (0.0, 0.0), False))
    for axes in drawn.all:
        across = draw.scale_axis(axes.xaxis, x, [point.x for point in points], log=wish.log_x is True)
        up = draw.scale_axis(axes.yaxis, y, [point.y for point in points], log=wish.log_y)
        axes.set_xlabel(axis_title(x, across))
    for point in points:
        axes, look = drawn.panels[point.panel], looks.get(point.series)
        colour = palette.TEXT if look is None else look.colour
        at = (point.x / across.factor, point.y / up.factor)
        if not point.is_ours:
            axes.plot(*at, "D", color=colour, markerfacecolor="white", clip_on=False, zorder=5)
            continue
        axes.plot(*at, color=colour, marker=look.marker if look else "o", linestyle="none")
        if point.ci95[0]:
            axes.errorbar(*at, xerr=point.ci95[0] / across.factor, color=colour, elinewidth=0.9)
        draw.intervals(axes, [at[0]], [at[1]], [point.ci95[1] / up.factor], colour)
    for axes in drawn.all:
        _from_zero(axes, points, wish, (across.factor, up.factor))
        draw.set_range(axes.xaxis, wish.x_range, across)
        draw.set_range(axes.yaxis, wish.y_range, up)
    style: dict[str, Any] = {"linestyle": "none"}
    handles = [Line2D([], [], color=look.colour, marker=look.marker, **style) for look in looks.values()]
    labels = list(looks)
    if any(not point.is_ours for point in points):
        handles.append(Line2D([], [], color=palette.TEXT, marker="D", markerfacecolor="white", **style))
        labels.append("published")
    draw.outer_labels(drawn)
    drawn.legend(handles, labels)
    return drawn.figure


def _metric(own: Measured, name: str) -> float | None:
    """A metric; `optimum.NAME` is one of the optimum."""
    found = own.optimum.get(name.removeprefix("optimum.")) if name.startswith("optimum.") else own.metrics.get(name)
    return None if found is None else float(found)


def _from_zero(axes: Axes, points: list[_Point], wish: draw.Wish, factors: tuple[float, float]) -> None:
    """Axes from zero, unless they are logarithmic or a value is negative, with room for the last marker."""
    for own, is_log, factor, limit in (
        ([point.x for point in points], wish.log_x is True, factors[0], axes.set_xlim),
        ([point.y for point in points], wish.log_y, factors[1], axes.set_ylim),
    ):
        if not is_log and min(own) >= 0:
            limit(0, 1.06 * max(own) / factor or 1.0)
