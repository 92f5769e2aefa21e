"""Metrics of cases: against an axis, or as bars."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from tresse.errors import TresseError
from tresse.plot import draw, palette
from tresse.plot.cases import By, Chosen, Panel, Where, axis_title, choose, magnitudes
from tresse.plot.errors import unknown
from tresse.plot.measured import measured
from tresse.plot.style import preset
from tresse.plot.units import Scale, formatted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from tresse.plot.palette import Look
    from tresse.runs import Run

_PAPER: dict[str, Any] = {"marker": "D", "markerfacecolor": "white", "linestyle": "none", "zorder": 5}
_OPTIMUM: dict[str, Any] = {"linestyle": (0, (4, 2))}
_SPREAD = 16
"""If the values of an axis spread further than this, it is logarithmic."""
_FAR = 2.5
"""An optimum this many times the measured values would dwarf everything else, so the axis does not include it."""


@dataclass(frozen=True)
class Mark:
    """A metric of a case, or of a part of it."""

    panel: Panel
    series: str
    x: str
    value: float
    """NaN if the paper has a value but we have none."""
    ci95: float | None
    published: float | None
    optimum: float | None


def marks_of(run: Run, chosen: Chosen, metric: str, wish: draw.Wish = draw.PLAIN) -> list[Mark]:
    """The metric of every case, or of its parts, and the paper's points of the figure itself."""
    marks: list[Mark] = []
    known: dict[str, None] = {}
    for case, own in measured(run, chosen):
        known |= dict.fromkeys(own.metrics)
        value = own.metrics.get(metric)
        if value is None:
            continue
        x = ", ".join(chosen.value(case, name, own.part) for name in chosen.beside)
        rest = (values.get(metric) for values in (own.ci95, own.published, own.optimum))
        marks.append(Mark(chosen.panel(case, own.part), chosen.series(case, own.part), x, value, *rest))
    if not marks:
        raise unknown(metric, known, "metric", of=" ".join(["by", *chosen.divisions]) if chosen.divisions else "")
    for point in wish.printed:
        _add(marks, point, next(iter(chosen.titled(mark.panel for mark in marks))))
    return marks


def _add(marks: list[Mark], point: draw.Printed, first: Panel) -> None:
    """Adds a point of the paper to ours; if we have none, it stays alone."""
    panel = next((mark.panel for mark in marks if point.panel in mark.panel), first)
    here = [mark for mark in marks if (mark.panel, mark.series) == (panel, point.series)]
    numbers = magnitudes(list(dict.fromkeys(mark.x for mark in here))) or {}
    for mark in here:
        if mark.x == point.x or numbers.get(mark.x, math.nan) == _number(point.x):
            marks[marks.index(mark)] = replace(mark, published=point.y)
            return
    marks.append(Mark(panel, point.series, point.x, math.nan, None, point.y, None))


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def against(run: Run, axis: str, metric: str, by: By, where: Where | None, log: bool | None, ax: Axes | None) -> Figure:
    """See `Plots.axis`."""
    chosen = choose(run, by, where, beside=[axis], sliced=True)
    return lines(run, chosen, _of_slice(chosen, metric), draw.Wish(log_x=log), ax)


def _of_slice(chosen: Chosen, metric: str) -> str:
    """The name that a metric has of the slice that is shown, if there is one."""
    return metric if chosen.slice is None else f"{chosen.slice.name}.{metric}"


def lines(run: Run, chosen: Chosen, metric: str, wish: draw.Wish, ax: Axes | None = None) -> Figure:
    """The metric of these cases against the axis that is `beside`."""
    (x,) = chosen.beside
    marks = marks_of(run, chosen, metric, wish)
    values = chosen.order(x, (mark.x for mark in marks if mark.x != "–"))
    if not values:
        raise TresseError(f"no case has a value of {x}")
    numbers = magnitudes(values)
    place = numbers or {value: float(i) for i, value in enumerate(values)}
    far = numbers is not None and min(place.values()) > 0 and max(place.values()) >= _SPREAD * min(place.values())
    log_x = numbers is not None and (far if wish.log_x is None else wish.log_x)
    drawn = draw.canvas(chosen.titled(mark.panel for mark in marks), ax)
    looks = draw.looks(run, chosen.order(chosen.by[0], (mark.series for mark in marks)))
    scale = _upright(drawn, metric, marks, wish)
    title, shown = axis_title(x, values)
    for axes in drawn.all:
        if log_x:
            axes.set_xscale("log")
        _ticks(axes, {shown[value]: at for value, at in place.items()}, log_x)
        draw.set_range(axes.xaxis, wish.x_range, Scale(1.0, "", 0))
        axes.set_xlabel(title)
    for (panel, name), own in _grouped(marks).items():
        axes, look = drawn.panels[panel], looks[name]
        level = [mark for mark in own if mark.x == "–"]
        if level:
            axes.axhline(level[0].value / scale.factor, color=look.colour, linestyle=look.dash, zorder=1)
        line = sorted((mark for mark in own if mark.x != "–"), key=lambda mark: place[mark.x])
        _line(axes, [place[mark.x] for mark in line], line, look, scale.factor, joined=numbers is not None)
    handles = [
        Line2D([], [], color=look.colour, marker=look.marker, linestyle="none" if numbers is None else look.dash)
        for look in looks.values()
    ]
    _finish(drawn, handles, list(looks), marks)
    return drawn.figure


def _grouped(marks: list[Mark]) -> dict[tuple[Panel, str], list[Mark]]:
    groups: dict[tuple[Panel, str], list[Mark]] = {}
    for mark in marks:
        groups.setdefault((mark.panel, mark.series), []).append(mark)
    return groups


def _line(axes: Axes, at: list[float], line: list[Mark], look: Look, factor: float, *, joined: bool) -> None:
    values = [mark.value / factor for mark in line]
    half = [(mark.ci95 or 0.0) / factor for mark in line]
    dash = look.dash if joined else "none"
    axes.plot(at, values, color=look.colour, linestyle=dash, marker=look.marker)
    draw.intervals(axes, at, values, half, look.colour)
    best = [(x, mark.optimum / factor) for x, mark in zip(at, line, strict=True) if mark.optimum is not None]
    if best:
        axes.plot(*zip(*best, strict=True), color=look.colour, alpha=0.75, linewidth=0.9, **_OPTIMUM)
    printed = [(x, mark.published / factor) for x, mark in zip(at, line, strict=True) if mark.published is not None]
    if printed:
        axes.plot(*zip(*printed, strict=True), color=look.colour, **_PAPER)


def _ticks(axes: Axes, place: dict[str, float], log: bool) -> None:
    """A tick at each value, as written in the experiment; ticks that would overlap are left out."""
    ordered = sorted(place.items(), key=lambda own: own[1])
    at = np.array([math.log(x) if log else x for _, x in ordered])
    span = float(at[-1] - at[0]) or 1.0
    spec = axes.get_subplotspec()
    across = spec.get_gridspec().ncols if spec is not None else 1
    letters = preset().width_in / across * 72 * 0.8 / (0.6 * preset().font_pt)
    kept: list[tuple[str, float]] = []
    last = -math.inf
    for (word, x), where in zip(ordered, at, strict=True):
        if (where - last) / span * letters >= len(word) + 1:
            kept.append((word, x))
            last = where
    axes.set_xticks([x for _, x in kept], [word for word, _ in kept])
    axes.set_xticks([x for _, x in ordered], minor=True, labels=[""] * len(ordered))


def bars(run: Run, metric: str, x: str | None, by: By, where: Where | None, ax: Axes | None) -> Figure:
    """See `Plots.bars`."""
    chosen = choose(run, by, where, beside=[] if x is None else [x], sliced=True)
    if x is None and chosen.panels:
        chosen = choose(run, by, where, beside=[chosen.panels[0]], sliced=True)
    return columns(run, chosen, _of_slice(chosen, metric), draw.PLAIN, ax)


def columns(run: Run, chosen: Chosen, metric: str, wish: draw.Wish, ax: Axes | None = None) -> Figure:
    """The metric of these cases as bars, side by side along the axis that is `beside`."""
    along = chosen.beside[0] if chosen.beside else None
    marks = marks_of(run, chosen, metric, wish)
    names = chosen.order(chosen.by[0], (mark.series for mark in marks))
    looks = draw.looks(run, names)
    # Without a second dimension, each series has its own place, under its own name.
    alone = along is None or along in chosen.by
    groups = names if alone else chosen.order(along or "", (mark.x for mark in marks))
    drawn = draw.canvas(chosen.titled(mark.panel for mark in marks), ax)
    scale = _upright(drawn, metric, marks, wish)
    beside: dict[tuple[Panel, str], list[str]] = {}
    for mark in sorted(marks, key=lambda mark: names.index(mark.series)):
        beside.setdefault((mark.panel, mark.series if alone else mark.x), []).append(mark.series)
    slots = max(len(own) for own in beside.values())
    width = 0.8 / slots
    told = slots * len(groups) * 5 * 0.56 * drawn.preset.font_pt < drawn.panel_pt
    for mark in marks:
        group = mark.series if alone else mark.x
        own = beside[mark.panel, group]
        at = groups.index(group) + (own.index(mark.series) - (len(own) - 1) / 2) * width
        axes = drawn.panels[mark.panel]
        _bar(axes, at, width * 0.92, mark, looks[mark.series], scale.factor)
        if told:
            _tell(axes, at, mark, scale.factor, drawn.preset.font_pt - 2)
    for axes in drawn.all:
        draw.named_places(drawn, axes, "" if alone else along or "", groups)
    handles = [] if alone else [Patch(**_fill(looks[name])) for name in names]
    _finish(drawn, handles, [] if alone else names, marks)
    return drawn.figure


def _fill(look: Look) -> dict[str, Any]:
    return {"facecolor": look.colour, "hatch": look.hatch, "edgecolor": "white", "alpha": 0.85, "linewidth": 0}


def _bar(axes: Axes, at: float, width: float, mark: Mark, look: Look, factor: float) -> None:
    axes.bar(at, mark.value / factor, width, **_fill(look))
    draw.intervals(axes, [at], [mark.value / factor], [(mark.ci95 or 0.0) / factor], palette.TEXT)
    if mark.optimum is not None:
        best = mark.optimum / factor
        axes.plot([at - width / 2, at + width / 2], [best, best], color=palette.TEXT, linewidth=1.1, **_OPTIMUM)
    if mark.published is not None:
        axes.plot(at, mark.published / factor, color=palette.TEXT, **_PAPER)


def _tell(axes: Axes, at: float, mark: Mark, factor: float, size: float) -> None:
    """Writes the value above a bar and its marks."""
    if math.isnan(mark.value):
        return
    top = mark.value + (mark.ci95 or 0)
    if mark.optimum is not None and top <= mark.optimum < 1.1 * top:
        top = mark.optimum
    style: dict[str, Any] = {"ha": "center", "va": "bottom", "fontsize": size, "color": palette.MUTED}
    text = formatted("", mark.value / factor, 3)
    axes.annotate(text, (at, top / factor), (0, 2), textcoords="offset points", **style)


def _upright(drawn: draw.Canvas, metric: str, marks: list[Mark], wish: draw.Wish) -> Scale:
    """The axis of the metric, with room for everything drawn: from zero, unless it is logarithmic."""
    values = [own for mark in marks for own in (mark.value, mark.published) if own is not None and not math.isnan(own)]
    most = max(values)
    ends = [most]
    far = math.inf if wish.log_y else _FAR * most
    ends += [mark.optimum for mark in marks if mark.optimum is not None and mark.optimum <= far]
    # With few seeds, an interval can be wider than everything else: then it extends beyond the figure.
    ends += [min(mark.value + mark.ci95, 1.4 * most) for mark in marks if mark.ci95 is not None]
    least = min(0.0, *values)
    for axes in drawn.all:
        if wish.log_y:
            above = [own for own in (*values, *ends) if own > 0] or [1.0]
            scale = draw.scale_axis(axes.yaxis, metric, above, log=True)
            low = [mark.value - mark.ci95 for mark in marks if mark.ci95 is not None and mark.ci95 < mark.value]
            axes.set_ylim(min(*above, *low) / 1.3, 1.3 * max(above))
        else:
            scale = draw.scale_axis(axes.yaxis, metric, ends)
            axes.set_ylim(least / scale.factor, 1.08 * max(ends) / scale.factor or 1.0)
        draw.set_range(axes.yaxis, wish.y_range, scale)
    return scale


def _finish(drawn: draw.Canvas, handles: Sequence[Artist], labels: list[str], marks: list[Mark]) -> None:
    notes: list[tuple[Line2D, str]] = []
    if any(mark.optimum is not None for mark in marks):
        notes.append((Line2D([], [], color=palette.OPTIMUM, **_OPTIMUM), "optimum"))
    if any(mark.published is not None for mark in marks):
        notes.append((Line2D([], [], color=palette.TEXT, **_PAPER), "published"))
    if any(mark.ci95 is not None for mark in marks):
        notes.append((Line2D([], [], color=palette.TEXT, marker="|", linestyle="none", markersize=8), "95 % interval"))
    draw.outer_labels(drawn)
    drawn.legend([*handles, *(line for line, _ in notes)], [*labels, *(name for _, name in notes)])
