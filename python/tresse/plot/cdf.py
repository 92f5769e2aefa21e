"""The cumulative distribution of a quantity."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from tresse.errors import TresseError
from tresse.plot import draw, palette, rows
from tresse.plot.cases import By, Chosen, Where, choose
from tresse.plot.stats import Distribution, Numbers, distribution, half_width_95

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from tresse.runs import Run

_MOST_POINTS = 1500
"""The most points of a curve: more cannot be distinguished in print."""
_PERCENTILES = (1, 5, 10, 25, 50, 75, 90, 95, 99)


def cdf(run: Run, name: str, by: By, where: Where | None, ax: Axes | None) -> Figure:
    """See `Plots.cdf`."""
    return curves(run, name, choose(run, by, where, sliced=True), draw.PLAIN, ax)


def curves(run: Run, name: str, chosen: Chosen, wish: draw.Wish, ax: Axes | None = None) -> Figure:
    """The distributions of these cases."""
    quantity, columns = rows.quantity(run, name)
    log = quantity.log if wish.log_x is None else wish.log_x
    values = quantity.values(columns)
    weights = columns.number(quantity.weights) if quantity.weights else None
    seeds = columns.number("seed") if "seed" in columns.names else np.zeros(columns.rows)
    found = [
        (own, distribution(values[own.mask], None if weights is None else weights[own.mask]))
        for own in rows.series(columns, chosen)
    ]
    found = [(own, whole) for own, whole in found if whole.count > 0]
    if not found:
        hint = "flows that were stopped have no completion time"
        raise TresseError(f"{run.folder}: no row has a {name}", hint=hint)
    drawn = draw.canvas(chosen.titled(own.panel for own, _ in found), ax)
    looks = draw.looks(run, list(dict.fromkeys(own.name for own, _ in found)))
    every = np.concatenate([whole.values for _, whole in found])
    banded = False
    for axes in drawn.all:
        scale = draw.scale_axis(axes.xaxis, name, every, log=log)
        axes.set_ylim(0, 1)
        axes.set_ylabel(f"Share of {quantity.of}")
    for own, whole in found:
        axes, look = drawn.panels[own.panel], looks[own.name]
        x, y = _curve(whole)
        axes.step(x / scale.factor, y, where="post", color=look.colour, linestyle=look.dash)
        several = [
            distribution(values[mask], None if weights is None else weights[mask])
            for seed in np.unique(seeds[own.mask])
            if not np.isnan(values[mask := own.mask & (seeds == seed)]).all()
        ]
        if len(several) > 1:
            banded = True
            low, high = _band(several, x)
            axes.fill_between(x / scale.factor, low, high, step="post", color=look.colour, alpha=0.15, linewidth=0)
    if not log:
        for axes in drawn.all:
            axes.set_xlim(0 if every.min() >= 0 else None, _end([whole for _, whole in found]) / scale.factor)
    for axes in drawn.all:
        draw.set_range(axes.xaxis, wish.x_range, scale)
    printed = _published(name, chosen, drawn, looks, scale.factor)
    printed |= _printed(wish, drawn, looks, scale.factor)
    lines = [Line2D([], [], color=look.colour, linestyle=look.dash) for look in looks.values()]
    notes: list[tuple[Artist, str]] = [(_PAPER, "published")] if printed else []
    notes += [(Patch(color=palette.MUTED, alpha=0.2, linewidth=0), "95 % interval over seeds")] if banded else []
    draw.outer_labels(drawn)
    drawn.legend([*lines, *(handle for handle, _ in notes)], [*looks, *(label for _, label in notes)])
    return drawn.figure


_PAPER = Line2D([], [], color=palette.TEXT, marker="D", markerfacecolor="white", linestyle="none")


def _curve(whole: Distribution) -> tuple[Numbers, Numbers]:
    """The corners of the curve: it steps up to a share at each value, starting from 0."""
    x, y = whole.values, whole.cumulative / whole.count
    if len(x) > _MOST_POINTS:
        places = np.searchsorted(y, np.linspace(0, 1, _MOST_POINTS))
        kept = np.unique(np.concatenate([[0], np.minimum(places, len(x) - 1), [len(x) - 1]]))
        x, y = x[kept], y[kept]
    return np.concatenate([x[:1], x]), np.concatenate([[0.0], y])


def _band(several: list[Distribution], x: Numbers) -> tuple[Numbers, Numbers]:
    """The 95 % interval, at each value, of the seeds' shares."""
    shares = np.array([own.share_up_to(x) for own in several])
    half = half_width_95(shares)
    middle = shares.mean(axis=0)
    return np.clip(middle - half, 0, 1), np.clip(middle + half, 0, 1)


def _end(all_of: list[Distribution]) -> float:
    """The end of a linear axis: otherwise, one value in a thousand, far beyond all others, would squeeze the curves."""
    most = max(float(own.values[-1]) for own in all_of)
    nearly = max(own.percentile(99.9) for own in all_of)
    return 1.25 * nearly if 0 < 3 * nearly < most else most * 1.02


def _published(name: str, chosen: Chosen, drawn: draw.Canvas, looks: dict[str, palette.Look], factor: float) -> bool:
    """Percentiles that the paper printed."""
    stem, _, unit = name.rpartition("_")
    any_of_them = False
    for case in chosen.cases if chosen.by == ("scheme",) and not chosen.divisions else []:
        for percent in _PERCENTILES:
            value = case.published.get(f"{stem}_p{percent}_{unit}")
            if value is not None and chosen.series(case) in looks:
                colour = looks[chosen.series(case)].colour
                axes = drawn.panels[chosen.panel(case)]
                axes.plot(
                    value / factor, percent / 100, "D", color=colour, markerfacecolor="white", clip_on=False, zorder=5
                )
                any_of_them = True
    return any_of_them


def _printed(wish: draw.Wish, drawn: draw.Canvas, looks: dict[str, palette.Look], factor: float) -> bool:
    """The points that the figure itself has from the paper; their y is a share."""
    for point in wish.printed:
        look = looks.get(point.series)
        colour = palette.TEXT if look is None else look.colour
        axes = drawn.panel_titled(point.panel)
        axes.plot(float(point.x) / factor, point.y, "D", color=colour, markerfacecolor="white", clip_on=False, zorder=5)
    return bool(wish.printed)
