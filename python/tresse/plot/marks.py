"""Metrics of cases: against an axis, or as bars."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from tresse.errors import TresseError
from tresse.plot import draw, palette
from tresse.plot.cases import PARTS, By, Chosen, Where, choose, magnitudes
from tresse.plot.errors import unknown
from tresse.plot.style import preset
from tresse.plot.units import Scale, formatted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from tresse.plot.palette import Look
    from tresse.runs import Case, Run

_PAPER: dict[str, Any] = {"marker": "D", "markerfacecolor": "white", "linestyle": "none", "zorder": 5}
_OPTIMUM: dict[str, Any] = {"linestyle": (0, (4, 2))}
_SPREAD = 16
"""If the values of an axis spread further than this, it is logarithmic."""
_FAR = 2.5
"""An optimum this many times the measured values would dwarf everything else, so the axis does not include it."""


@dataclass(frozen=True)
class _Mark:
    """A metric of a case, or of a part of it."""

    panel: str
    series: str
    x: str
    value: float
    ci95: float | None
    published: float | None
    optimum: float | None


def _marks(run: Run, chosen: Chosen, metric: str, x: str | None) -> list[_Mark]:
    marks: list[_Mark] = []
    known: dict[str, None] = {}
    of_case = {id(case): own for case, own in zip(run.cases, run.report_json["cases"], strict=True)}
    for case in chosen.cases:
        for part, own in _measured(case, of_case[id(case)], chosen):
            known |= dict.fromkeys(own["metrics"])
            value = own["metrics"].get(metric)
            if value is None:
                continue
            at = "" if x is None else ((part or "–") if x in PARTS else chosen.value(case, x))
            rest = (own[name].get(metric) for name in ("ci95", "published", "optimum"))
            marks.append(_Mark(chosen.panel(case), chosen.series(case, part), at, value, *rest))
    if not marks:
        raise unknown(metric, known, "metric", of=f"by {chosen.part}" if chosen.part else "")
    return marks


def _measured(case: Case, report: dict[str, Any], chosen: Chosen) -> list[tuple[str | None, dict[str, Any]]]:
    """The measured values of a case, or of each wanted part."""
    by = chosen.part
    if by is None:
        whole = {name: getattr(case, name) for name in ("metrics", "ci95", "published", "optimum")}
        return [(None, whole)]
    wanted = chosen.parts.get(by)
    return [
        (
            name,
            {
                "metrics": metrics,
                "ci95": report.get("ci95_by", {}).get(by, {}).get(name, {}),
                "published": report.get("published_by", {}).get(by, {}).get(name, {}),
                "optimum": {},
            },
        )
        for name, metrics in case.by.get(by, {}).items()
        if wanted is None or name in wanted
    ]


def against(run: Run, axis: str, metric: str, by: By, where: Where | None, log: bool | None, ax: Axes | None) -> Figure:
    """See `Plots.axis`."""
    chosen = choose(run, by, where, beside=[axis])
    (x,) = chosen.beside
    marks = _marks(run, chosen, metric, x)
    values = list(dict.fromkeys(mark.x for mark in marks if mark.x != "–"))
    if not values:
        raise TresseError(f"no case has a value of {axis}")
    numbers = magnitudes(values)
    place = numbers or {value: float(i) for i, value in enumerate(values)}
    far = numbers is not None and min(place.values()) > 0 and max(place.values()) >= _SPREAD * min(place.values())
    log_x = numbers is not None and (far if log is None else log)
    drawn = draw.canvas(chosen.in_order(mark.panel for mark in marks), ax)
    looks = draw.looks(run, chosen, list(dict.fromkeys(mark.series for mark in marks)))
    scale = _upright(drawn, metric, marks)
    for axes in drawn.all:
        if log_x:
            axes.set_xscale("log")
        _ticks(axes, place, log_x)
        axes.set_xlabel(x.replace("_", " ") if "." not in x else x)
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


def _grouped(marks: list[_Mark]) -> dict[tuple[str, str], list[_Mark]]:
    groups: dict[tuple[str, str], list[_Mark]] = {}
    for mark in marks:
        groups.setdefault((mark.panel, mark.series), []).append(mark)
    return groups


def _line(axes: Axes, at: list[float], line: list[_Mark], look: Look, factor: float, *, joined: bool) -> None:
    values = [mark.value / factor for mark in line]
    half = [(mark.ci95 or 0.0) / factor for mark in line]
    dash = look.dash if joined else "none"
    axes.plot(at, values, color=look.colour, linestyle=dash, marker=look.marker)
    if any(half):
        axes.errorbar(at, values, yerr=half, color=look.colour, linestyle="none", capsize=2, elinewidth=0.9)
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
    chosen = choose(run, by, where, beside=[] if x is None else [x])
    if x is None and chosen.panels:
        chosen = choose(run, by, where, beside=[chosen.panels[0]])
    along = chosen.beside[0] if chosen.beside else None
    marks = _marks(run, chosen, metric, along)
    names = list(dict.fromkeys(mark.series for mark in marks))
    looks = draw.looks(run, chosen, names)
    # Without a second dimension, each series has its own place, under its own name.
    alone = along is None or along in chosen.by
    groups = names if alone else list(dict.fromkeys(mark.x for mark in marks))
    drawn = draw.canvas(chosen.in_order(mark.panel for mark in marks), ax)
    scale = _upright(drawn, metric, marks)
    beside: dict[tuple[str, str], list[str]] = {}
    for mark in marks:
        beside.setdefault((mark.panel, mark.series if alone else mark.x), []).append(mark.series)
    slots = max(len(own) for own in beside.values())
    width = 0.8 / slots
    told = slots * len(groups) * 5 * 0.56 * drawn.preset.font_pt < _points(drawn)
    for mark in marks:
        group = mark.series if alone else mark.x
        own = beside[mark.panel, group]
        at = groups.index(group) + (own.index(mark.series) - (len(own) - 1) / 2) * width
        axes = drawn.panels[mark.panel]
        _bar(axes, at, width * 0.92, mark, looks[mark.series], scale.factor)
        if told:
            _tell(axes, at, mark, scale.factor, drawn.preset.font_pt - 2)
    for axes in drawn.all:
        letters = _points(drawn) / len(groups) / (0.56 * drawn.preset.font_pt)
        lean = max(len(group) for group in groups) > letters
        axes.set_xticks(range(len(groups)), groups, rotation=30 if lean else 0, ha="right" if lean else "center")
        axes.tick_params(axis="x", length=0)
        axes.grid(visible=False, axis="x")
        axes.set_xlim(-0.6, len(groups) - 0.4)
        if along is not None and not alone and along not in ("pattern", "variant", "scheme"):
            axes.set_xlabel(along)
    handles = [] if alone else [Patch(**_fill(looks[name])) for name in names]
    _finish(drawn, handles, [] if alone else names, marks)
    return drawn.figure


def _points(drawn: draw.Canvas) -> float:
    """The width of a panel in points."""
    across = min(len(drawn.all), drawn.preset.across)
    return 72 * (drawn.figure.get_figwidth() / across - 0.08 * drawn.preset.font_pt)


def _fill(look: Look) -> dict[str, Any]:
    return {"facecolor": look.colour, "hatch": look.hatch, "edgecolor": "white", "alpha": 0.85, "linewidth": 0}


def _bar(axes: Axes, at: float, width: float, mark: _Mark, look: Look, factor: float) -> None:
    axes.bar(at, mark.value / factor, width, **_fill(look))
    if mark.ci95 is not None:
        axes.errorbar(at, mark.value / factor, mark.ci95 / factor, color=palette.TEXT, capsize=2, elinewidth=0.9)
    if mark.optimum is not None:
        best = mark.optimum / factor
        axes.plot([at - width / 2, at + width / 2], [best, best], color=palette.TEXT, linewidth=1.1, **_OPTIMUM)
    if mark.published is not None:
        axes.plot(at, mark.published / factor, color=palette.TEXT, **_PAPER)


def _tell(axes: Axes, at: float, mark: _Mark, factor: float, size: float) -> None:
    """Writes the value above a bar and its marks."""
    top = mark.value + (mark.ci95 or 0)
    if mark.optimum is not None and top <= mark.optimum < 1.1 * top:
        top = mark.optimum
    style: dict[str, Any] = {"ha": "center", "va": "bottom", "fontsize": size, "color": palette.MUTED}
    text = formatted("", mark.value / factor, 3)
    axes.annotate(text, (at, top / factor), (0, 2), textcoords="offset points", **style)


def _upright(drawn: draw.Canvas, metric: str, marks: list[_Mark]) -> Scale:
    """The axis of the metric, from zero, with room for everything drawn."""
    most = max(max(mark.value, mark.published or 0.0) for mark in marks)
    ends = [most]
    ends += [mark.optimum for mark in marks if mark.optimum is not None and mark.optimum <= _FAR * most]
    # With few seeds, an interval can be wider than everything else: then it extends beyond the figure.
    ends += [min(mark.value + mark.ci95, 1.4 * most) for mark in marks if mark.ci95 is not None]
    least = min(0.0, *(mark.value for mark in marks))
    for axes in drawn.all:
        scale = draw.scale_axis(axes.yaxis, metric, ends)
        axes.set_ylim(least / scale.factor, 1.08 * max(ends) / scale.factor or 1.0)
    return scale


def _finish(drawn: draw.Canvas, handles: Sequence[Artist], labels: list[str], marks: list[_Mark]) -> None:
    notes: list[tuple[Line2D, str]] = []
    if any(mark.optimum is not None for mark in marks):
        notes.append((Line2D([], [], color=palette.OPTIMUM, **_OPTIMUM), "optimum"))
    if any(mark.published is not None for mark in marks):
        notes.append((Line2D([], [], color=palette.TEXT, **_PAPER), "published"))
    if any(mark.ci95 is not None for mark in marks):
        notes.append((Line2D([], [], color=palette.TEXT, marker="|", linestyle="none", markersize=8), "95 % interval"))
    draw.outer_labels(drawn)
    drawn.legend([*handles, *(line for line, _ in notes)], [*labels, *(name for _, name in notes)])
