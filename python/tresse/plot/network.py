"""The network of a run, with its links coloured by a metric of their ports."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib import ticker
from matplotlib.cm import ScalarMappable
from matplotlib.collections import LineCollection
from matplotlib.colors import LinearSegmentedColormap, Normalize

from tresse import _native
from tresse.errors import TresseError
from tresse.plot import draw, palette
from tresse.plot.cases import Where, choose
from tresse.plot.errors import unknown
from tresse.plot.layout import Layout, layout_of
from tresse.plot.rows import Columns, utilisation
from tresse.plot.stats import Numbers
from tresse.plot.style import preset
from tresse.plot.units import axis_title, formatted, scale_for

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from tresse.runs import Run

_METRICS: dict[str, Callable[[Columns], Numbers]] = {
    "utilisation_ratio": utilisation,
    "drops_pkts": lambda columns: columns.number("drops"),
    "lost_pkts": lambda columns: columns.number("lost"),
    "marks_pkts": lambda columns: columns.number("marks"),
}
_MOST_CASES = 6
_FEW_NODES = 24
"""Figures with at most this many nodes show their names."""


def fabric(run: Run, metric: str, where: Where | None, ax: Axes | None) -> Figure:
    """See `Plots.fabric`."""
    if metric not in _METRICS:
        raise unknown(metric, _METRICS, "metric", of="of links")
    chosen = choose(run, "scheme", where)
    if len(chosen.cases) > _MOST_CASES:
        names = ", ".join(dict.fromkeys(case.label for case in chosen.cases))
        raise TresseError(f"{len(chosen.cases)} networks cannot be read", hint=f"choose with where={{…}}: {names}")
    columns = Columns(run.table("links"))
    case_of, ports = columns.case_of(chosen.cases), columns.number("port").astype(int)
    values = _METRICS[metric](columns)
    known = networks(run)
    panels = {}
    for place, case in enumerate(chosen.cases):
        network = known[run.cases.index(case)]
        rows = case_of == place
        count = len(network["ports"]["from"])
        seen = np.bincount(ports[rows], minlength=count)
        with np.errstate(invalid="ignore"):
            mean = np.bincount(ports[rows], weights=values[rows], minlength=count) / seen
        panels[case.label] = (network, mean)
    layouts = {label: layout_of(network) for label, (network, _) in panels.items()}
    first = next(iter(layouts.values()))
    ratio = min(1.0, max(0.25, (float(np.ptp(first.y)) + 160) / (float(np.ptp(first.x)) + 200)))
    titles = {label: label if len(panels) > 1 else "" for label in panels}
    drawn = draw.canvas(titles, ax, share=False, ratio=ratio, widest=9)
    if not drawn.own:
        # Room for the scale below.
        drawn.figure.set_figheight(drawn.figure.get_figheight() + 0.07 * drawn.preset.font_pt)
    most = _end(metric, np.concatenate([mean for _, mean in panels.values()]))
    colours = LinearSegmentedColormap.from_list("tresse", palette.HEAT)
    norm = Normalize(0, most)
    for axes, (label, (network, mean)) in zip(drawn.all, panels.items(), strict=True):
        _draw(axes, network, layouts[label], mean, ScalarMappable(norm, colours))
    bar = drawn.figure.colorbar(
        ScalarMappable(norm, colours), ax=drawn.all, orientation="horizontal", shrink=0.5, aspect=30, pad=0.03
    )
    scale = scale_for(metric, most)
    bar.set_label(axis_title(metric, scale))
    bar.locator = ticker.MaxNLocator(4 if drawn.preset.width_in > 5 else 2)
    bar.formatter = ticker.FuncFormatter(lambda value, _: formatted("", value / scale.factor, 3))
    bar.update_ticks()
    bar.outline.set_visible(False)
    return drawn.figure


def networks(run: Run) -> dict[int, dict[str, Any]]:
    """The network of each case, by its place."""
    networks: dict[int, dict[str, Any]] = {}
    every = [(json.loads(head)["cases"], json.loads(text)) for head, text in _native.networks(run.folder)]
    for cases, network in every:
        networks |= dict.fromkeys(cases if len(every) > 1 else range(len(run.cases)), network)
    if len(every) > 1 and len(networks) != len(run.cases):
        raise TresseError(f"{run.folder}: the run has several networks, and not all of its cases are complete")
    return networks


def _end(metric: str, values: Numbers) -> float:
    """The end of the scale: 1 for shares, else 1, 2 or 5 times a power of ten."""
    if metric == "utilisation_ratio":
        return 1.0
    most = float(np.nanmax(values))
    if not most > 0:
        return 1.0
    power = 10.0 ** np.floor(np.log10(most))
    return float(next(times * power for times in (1, 2, 5, 10) if times * power >= most))


def _draw(axes: Axes, network: dict[str, Any], layout: Layout, values: Numbers, colours: ScalarMappable) -> None:
    sizes = preset()
    start, end = np.array(network["ports"]["from"]), np.array(network["ports"]["to"])
    level = np.array(network["nodes"]["level"])
    x, y = layout.x, layout.y
    # Each direction keeps to its right.
    across = np.stack([y[end] - y[start], x[start] - x[end]], axis=1).astype(float)
    across /= np.maximum(np.linalg.norm(across, axis=1, keepdims=True), 1e-9)
    many = len(start) > 400
    aside = across * (1.6 if many else 4.0)
    points = np.stack([np.stack([x[start], y[start]], 1) + aside, np.stack([x[end], y[end]], 1) + aside], axis=1)
    # Busy links are on top.
    order = np.argsort(np.nan_to_num(values), kind="stable")
    width = sizes.line_pt * (0.5 if many else 1.1)
    lines = LineCollection(list(points[order]), linewidths=width, colors=colours.to_rgba(np.nan_to_num(values[order])))
    lines.set_rasterized(len(start) > 5000)
    axes.add_collection(lines)
    named = len(level) <= _FEW_NODES
    if named:
        for node, name in enumerate(network["nodes"]["name"]):
            box = {"boxstyle": "round,pad=0.25", "facecolor": "white", "edgecolor": palette.MUTED, "linewidth": 0.7}
            axes.text(x[node], y[node], name, ha="center", va="center", fontsize=sizes.font_pt - 2, bbox=box, zorder=4)
    else:
        size = sizes.marker_pt * (0.5 if len(level) > 200 else 1)
        for is_host, marker in ((True, "o"), (False, "s")):
            own = (level == 0) == is_host
            axes.plot(
                x[own], y[own], marker, color=palette.MUTED, markersize=size * (0.8 if is_host else 1.2), zorder=4
            )
    if not named:
        _words(axes, layout, sizes.font_pt - 1)
    axes.set_aspect("equal", adjustable="datalim")
    axes.set_axis_off()
    axes.margins(0.06, 0.12)
    axes.autoscale_view()


def _words(axes: Axes, layout: Layout, size: float) -> None:
    left = float(layout.x.min())
    style: dict[str, Any] = {"fontsize": size, "color": palette.MUTED, "textcoords": "offset points"}
    for name, at in layout.rows:
        axes.annotate(name, (left, at), (-8, 0), ha="right", va="center", **style)
    figure = axes.get_figure(root=True)
    room = 0.0 if figure is None else 0.75 * 72 * figure.get_figwidth() / max(1, len(layout.pods))
    if room < 7 * 0.56 * size:
        return
    for name, start, end in layout.pods:
        axes.annotate(name, ((start + end) / 2, 0), (0, -8), ha="center", va="top", **style)
