"""A metric by two dimensions: a table whose cells are coloured."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from matplotlib.colors import LinearSegmentedColormap, to_rgb
from matplotlib.patches import Rectangle

from tresse.plot import draw, palette
from tresse.plot.cases import Chosen
from tresse.plot.marks import Mark, marks_of
from tresse.plot.units import Scale, axis_title, scale_of, scaled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from tresse.runs import Run


def matrix(run: Run, chosen: Chosen, metric: str) -> Figure:
    """The dimension that is `beside` gives the columns, the series are the rows.

    The darker a cell, the larger the multiple of its column's smallest value.
    """
    marks = marks_of(run, chosen, metric)
    (along,) = chosen.beside
    xs = chosen.order(along, (mark.x for mark in marks))
    ys = chosen.order(chosen.by[0], (mark.series for mark in marks))
    titles = chosen.titled(mark.panel for mark in marks)
    drawn = draw.canvas(titles, None, share=False)
    down = math.ceil(len(titles) / drawn.preset.columns(len(titles)))
    drawn.figure.set_figheight(down * (len(ys) + 2.6) * 2.1 * drawn.preset.font_pt / 72)
    scale = scale_of(metric, [mark.value for mark in marks])
    short = Scale(scale.factor, scale.unit, max(0, scale.decimals - 1))
    strength = _strengths(marks)
    colours = LinearSegmentedColormap.from_list("tresse", palette.HEAT)
    for mark in marks:
        axes = drawn.panels[mark.panel]
        x, y = xs.index(mark.x), ys.index(mark.series)
        colour = colours(0.08 + 0.62 * strength[id(mark)])
        axes.add_patch(Rectangle((x - 0.48, y - 0.47), 0.96, 0.94, facecolor=colour, linewidth=0))
        light = sum(part * weight for part, weight in zip(to_rgb(colour), (0.3, 0.59, 0.11), strict=True)) > 0.55
        axes.text(
            x, y, scaled(mark.value, short), ha="center", va="center",
            fontsize=drawn.preset.font_pt - 1, color=palette.TEXT if light else "white",
        )  # fmt: skip
    for place, axes in enumerate(drawn.all):
        draw.named_places(drawn, axes, along, xs)
        axes.set_xlim(-0.5, len(xs) - 0.5)
        axes.set_ylim(len(ys) - 0.5, -0.5)
        axes.set_yticks(range(len(ys)), ys if place % drawn.preset.columns(len(titles)) == 0 else [""] * len(ys))
        axes.tick_params(axis="y", length=0)
        axes.grid(visible=False)
        axes.spines[:].set_visible(False)
    drawn.figure.suptitle(axis_title(metric, short), x=0.01, ha="left", fontsize=drawn.preset.font_pt)
    return drawn.figure


def _strengths(marks: list[Mark]) -> dict[int, float]:
    """How strongly each cell is coloured, from 0 to 1."""
    least: dict[object, float] = {}
    for mark in marks:
        key = (mark.panel, mark.x)
        least[key] = min(mark.value, least.get(key, math.inf))
    # Values that are 0 or less have no ratios.
    by_ratio = all(value > 0 for value in least.values())
    of = {id(mark): math.log(mark.value / least[mark.panel, mark.x]) if by_ratio else mark.value for mark in marks}
    low, high = min(of.values()), max(of.values())
    return {key: (value - low) / (high - low) if high > low else 0.5 for key, value in of.items()}
