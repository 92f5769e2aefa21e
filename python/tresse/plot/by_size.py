"""Slowdown or completion time against flow size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.lines import Line2D

from tresse.errors import TresseError
from tresse.plot import draw, palette, rows
from tresse.plot.cases import By, Where, choose
from tresse.plot.stats import Distribution, Numbers, distribution
from tresse.plot.units import axis_title, formatted

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from tresse.runs import Run

_PER_DECADE = 4
_FEW = 100
"""With fewer flows, a high percentile depends on the luck of one flow: its marker is hollow."""


def fct_slowdown(run: Run, percentiles: tuple[float, float], by: By, where: Where | None, ax: Axes | None) -> Figure:
    """See `Plots.fct_slowdown`."""
    quantity, columns = rows.quantity(run, "slowdown_ratio")
    chosen = choose(run, by, where, sliced=True)
    values, sizes = quantity.values(columns), columns.number("size_bytes")
    found = []
    for own in rows.series(columns, chosen):
        bins = _bins(sizes[own.mask], values[own.mask])
        found += [(own, bins)] if bins else []
    if not found:
        raise TresseError(f"{run.folder}: no flow has a slowdown", hint="only flows with a size that finished have one")
    drawn = draw.canvas(chosen.titled(own.panel for own, _ in found), ax)
    looks = draw.looks(run, list(dict.fromkeys(own.name for own, _ in found)))
    high = max(percentiles)
    every = np.array([of.percentile(p) for _, bins in found for _, of in bins for p in percentiles])
    where_x = np.array([at for _, bins in found for at, _ in bins])
    width = drawn.preset.line_pt
    few = False
    for own, bins in found:
        axes, look = drawn.panels[own.panel], looks[own.name]
        x = [at for at, _ in bins]
        for percent in sorted(percentiles):
            thick = percent == high
            y = [of.percentile(percent) for _, of in bins]
            axes.plot(x, y, color=look.colour, linestyle=look.dash, linewidth=width * (1.4 if thick else 0.7))
            size = drawn.preset.marker_pt * (1 if thick else 0.6)
            hollow = np.array([thick and of.count < _FEW for _, of in bins])
            few |= bool(hollow.any())
            style: dict[str, Any] = {
                "marker": look.marker,
                "markersize": size,
                "linestyle": "none",
                "color": look.colour,
            }
            axes.plot(np.array(x)[~hollow], np.array(y)[~hollow], **style)
            axes.plot(np.array(x)[hollow], np.array(y)[hollow], markerfacecolor="white", **style)
    for axes in drawn.all:
        draw.scale_axis(axes.xaxis, "size_bytes", where_x, log=True)
        draw.scale_axis(axes.yaxis, "slowdown_ratio", every, log=True)
        axes.set_ylabel(axis_title("slowdown_ratio"))
        axes.set_ylim(bottom=min(1.0, float(every.min())))
    lines = [
        Line2D([], [], color=look.colour, linestyle=look.dash, marker=look.marker, linewidth=width)
        for look in looks.values()
    ]
    notes = [
        Line2D([], [], color=palette.MUTED, linewidth=width * (1.4 if percent == high else 0.7))
        for percent in sorted(percentiles)
    ]
    names = [f"{_ordinal(percent)}" for percent in sorted(percentiles)]
    if few:
        notes.append(Line2D([], [], color=palette.MUTED, marker="o", markerfacecolor="white", linestyle="none"))
        names.append(f"of fewer than {_FEW} flows")
    draw.outer_labels(drawn)
    drawn.legend([*lines, *notes], [*looks, *names])
    return drawn.figure


def _ordinal(percent: float) -> str:
    return "median" if percent == 50 else f"{formatted('', percent)}th percentile"


def _bins(sizes: Numbers, values: Numbers) -> list[tuple[float, Distribution]]:
    """The middle of each size bin, and its flows' values. Bins are equally wide on a logarithmic axis, or single sizes."""
    known = ~np.isnan(sizes) & ~np.isnan(values)
    sizes, values = sizes[known], values[known]
    if not len(sizes):
        return []
    few = len(np.unique(sizes)) <= 12
    place = sizes if few else np.floor(np.log10(np.maximum(1, sizes)) * _PER_DECADE + 1e-9)
    bins = []
    for own in np.unique(place):
        inside = place == own
        middle = float(np.sqrt(sizes[inside].min() * sizes[inside].max()))
        bins.append((middle, distribution(values[inside])))
    return bins
