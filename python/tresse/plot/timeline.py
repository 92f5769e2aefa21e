"""Samples over time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.lines import Line2D

from tresse.errors import TresseError
from tresse.plot import draw, palette
from tresse.plot.cases import Where, choose
from tresse.plot.errors import unknown
from tresse.plot.rows import SECOND, Columns
from tresse.plot.stats import Numbers
from tresse.plot.style import preset

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from tresse.runs import Run

_COLUMNS = {
    "goodput_bps": ("goodput_bps", 1.0),
    "cwnd_pkts": ("cwnd_pkts", 1.0),
    "srtt_s": ("srtt_ps", 1 / SECOND),
    "marks": ("marks", 1.0),
    "retransmissions": ("retransmissions", 1.0),
    "timeouts": ("timeouts", 1.0),
    "arrived_bytes": ("arrived_bytes", 1.0),
}
_MOST_LINES = 8
_MOST_CASES = 6
_BINS = 300
"""The most points of a line: more samples are drawn as their mean, least and greatest."""
_STEPS = 8
"""The points of a smoothed line in a window: fewer would show its edges."""


@dataclass(frozen=True)
class _Line:
    """A subflow's samples, in the order of time."""

    name: str
    flow: int
    rows: NDArray[np.int64]


def timeline(
    run: Run,
    flow: int | str | Sequence[int | str] | None,
    names: tuple[str, ...],
    where: Where | None,
    seed: int | None,
) -> Figure:
    """See `Plots.timeline`."""
    for name in names:
        if name not in _COLUMNS:
            raise unknown(name, _COLUMNS, "column")
    columns = Columns(run.table("samples"))
    missing = [name for name in names if _COLUMNS[name][0] not in columns.names]
    if missing:
        raise unknown(missing[0], [own for own, (column, _) in _COLUMNS.items() if column in columns.names], "column")
    chosen = choose(run, "scheme", where)
    case_of, seeds = columns.case_of(chosen.cases), columns.number("seed")
    wanted_seed = float(seeds.min() if seed is None else seed)
    if wanted_seed not in seeds:
        raise TresseError(f"no sample is of seed {seed}", hint=f"there are {_listed(np.unique(seeds))}")
    lines = {}
    for place, case in enumerate(chosen.cases):
        rows = np.flatnonzero((case_of == place) & (seeds == wanted_seed))
        if len(rows):
            lines[case.label] = _lines(
                columns, rows, flow, set(chosen.parts["group"]) if "group" in chosen.parts else None
            )
    if len(lines) > _MOST_CASES:
        raise TresseError(
            f"a timeline of {len(lines)} cases cannot be read", hint=f"choose with where={{…}}: {'; '.join(lines)}"
        )
    return _figure(columns, names, lines)


def _lines(
    columns: Columns, rows: NDArray[np.int64], flow: int | str | Sequence[int | str] | None, groups: set[str] | None
) -> list[_Line]:
    """The subflows of the wanted flows of a case."""
    group_of, words = columns.text("group")
    flows, subflows = columns.number("flow")[rows], columns.number("subflow")[rows]
    keys = np.stack([group_of[rows].astype(float), flows, subflows], axis=1)
    distinct, back = np.unique(keys, axis=0, return_inverse=True)
    start = columns.number("start_ps")[rows]
    wanted = None if flow is None else {str(own) for own in ([flow] if isinstance(flow, str | int) else flow)}
    found = []
    for place, (group, number, subflow) in enumerate(distinct):
        word = words[int(group)]
        names = {str(int(number)), word, f"{word} {int(number)}"}
        if (wanted is not None and not wanted & names) or (groups is not None and word not in groups):
            continue
        own = rows[back == place]
        several = np.count_nonzero((distinct[:, 0] == group) & (distinct[:, 1] == number)) > 1
        # The only flow of a group has the group's name.
        alone = len(np.unique(distinct[distinct[:, 0] == group, 1])) == 1
        name = word if word and alone else f"{word} flow {int(number)}".strip()
        name += f", subflow {int(subflow)}" if several else ""
        found.append(
            _Line(name, place if not several else int(group * 1e6 + number), own[np.argsort(start[back == place])])
        )
    if not found:
        known = dict.fromkeys(words[int(g)] or str(int(n)) for g, n, _ in distinct)
        raise unknown(", ".join(sorted(wanted or groups or set())), known, "flow", of="in this case")
    if len(found) > _MOST_LINES:
        known = dict.fromkeys(words[int(g)] or str(int(n)) for g, n, _ in distinct)
        raise TresseError(
            f"{len(found)} subflows are too many for one panel", hint=f"choose with flow=…: {_listed(known)}"
        )
    return found


def _figure(columns: Columns, names: tuple[str, ...], lines: dict[str, list[_Line]]) -> Figure:
    own_preset = preset()
    across, down = len(lines), len(names)
    wide = own_preset.width_in / across
    high = down * min(max((0.34 if down > 1 else 0.5) * wide, 0.16 * own_preset.font_pt), 2.8)
    figure, grid = plt.subplots(
        down, across, figsize=(own_preset.width_in, high), sharex="col", sharey="row", squeeze=False
    )
    drawn = draw.Canvas(figure, {f"{place}": axes for place, axes in enumerate(grid.flat)}, own_preset, own=False)
    drawn.close()
    looks = palette.looks_of(line.name for own in lines.values() for line in own)
    start, duration = columns.number("start_ps") / SECOND, columns.number("duration_ps") / SECOND
    used = np.concatenate([line.rows for own in lines.values() for line in own])
    ends = np.array([float((start + duration)[used].max())])
    notes: dict[str, Line2D] = {}
    for row, name in enumerate(names):
        column, factor = _COLUMNS[name]
        values = columns.number(column) * factor
        middle = np.array([np.nanpercentile(values[used], 75)])
        for place, (label, own) in enumerate(lines.items()):
            axes: Axes = grid[row][place]
            in_time = draw.scale_axis(axes.xaxis, "time_s", ends)
            scale = draw.scale_axis(axes.yaxis, name, middle)
            if place:
                axes.set_ylabel("")
            if row == 0 and across > 1:
                axes.set_title(label, loc="left")
            axes.set_xlabel(f"Time ({in_time.unit})" if row == down - 1 else "")
            for line in own:
                x, y = (start + duration)[line.rows] / in_time.factor, values[line.rows] / scale.factor
                _draw(axes, x, y, looks[line.name].colour)
            if name == "goodput_bps" and len({line.flow for line in own}) == 1 and len(own) > 1:
                _whole(
                    axes, columns, own, (start + duration) / in_time.factor, values / scale.factor, scale.factor, notes
                )
            axes.set_ylim(bottom=0)
            axes.margins(x=0.01)
    handles = [Line2D([], [], color=look.colour) for look in looks.values()]
    drawn.legend([*handles, *notes.values()], [*looks, *notes])
    figure.align_ylabels()
    return figure


def draw_line(
    axes: Axes,
    edges: Numbers,
    values: Numbers,
    look: palette.Look,
    *,
    steps: bool = False,
    ends: tuple[float, ...] | None = None,
    alpha: float = 1.0,
) -> None:
    """Values in intervals between edges: as steps, or at the ends of the intervals; thin unless they are opaque.

    If there are more in the range `ends` than a line can show, their mean, with a band from the least to the greatest.
    """
    if ends is not None:
        first = max(0, int(np.searchsorted(edges, ends[0])) - 1)
        last = int(np.searchsorted(edges, ends[1])) + 1
        edges, values = edges[first : last + 1], values[first:last]
    if len(values) <= _BINS and steps:
        x, y = np.repeat(edges, 2)[1:-1], np.repeat(values, 2)
        axes.plot(x, y, color=look.colour, linestyle=look.dash, **_strength(alpha))
        return
    _draw(axes, edges[1:], values, look.colour, look.dash, alpha)


def smoothed(edges: Numbers, values: Numbers, window: float, *, steps: bool) -> tuple[Numbers, Numbers]:
    """The mean over `window` around each instant, at as many instants as show it; NaN where there is no value."""
    count = max(1, int(np.ceil((edges[-1] - edges[0]) / window * _STEPS)))
    at = edges[0] + (np.arange(count) + 0.5) * (edges[-1] - edges[0]) / count
    cell = np.clip(np.searchsorted(edges, at, side="right") - 1, 0, len(values) - 1)
    width, known = np.diff(edges), ~np.isnan(values)
    # Values at the ends of intervals are drawn there: each stands for as much time after it as before.
    middle = at if steps else at - width[cell] / 2

    def over(of: Numbers) -> Numbers:
        sums = np.concatenate([[0.0], np.cumsum(of * width)])
        both = (np.interp(middle + side * window / 2, edges, sums) for side in (1, -1))
        return np.asarray(next(both) - next(both))

    with np.errstate(divide="ignore", invalid="ignore"):
        mean = over(np.where(known, values, 0.0)) / over(known.astype(float))
    return at, np.where(known[cell], mean, np.nan)


def _strength(alpha: float) -> dict[str, Any]:
    return {} if alpha == 1 else {"alpha": alpha, "linewidth": 0.6}


def _draw(axes: Axes, x: Numbers, y: Numbers, colour: str, dash: palette.Dash = "-", alpha: float = 1.0) -> None:
    if len(x) <= _BINS:
        axes.plot(x, y, color=colour, linestyle=dash, **_strength(alpha))
        return
    each = len(x) / _BINS
    edges = np.unique((np.arange(_BINS) * each).astype(int))
    count = np.diff([*edges, len(x)])
    known = np.where(np.isnan(y), 0.0, y)
    there = np.add.reduceat((~np.isnan(y)).astype(float), edges)
    with np.errstate(invalid="ignore"):
        mean = np.where(there > 0, np.add.reduceat(known, edges) / there, np.nan)
    middle = np.add.reduceat(x, edges) / count
    axes.fill_between(
        middle,
        np.fmin.reduceat(y, edges),
        np.fmax.reduceat(y, edges),
        color=colour,
        alpha=0.16 * alpha,
        linewidth=0,
    )
    axes.plot(middle, mean, color=colour, linestyle=dash, **_strength(alpha))


def _whole(
    axes: Axes, columns: Columns, lines: list[_Line], x: Numbers, y: Numbers, factor: float, notes: dict[str, Line2D]
) -> None:
    """The goodput of all subflows of one flow together, and the flow's optimum."""
    rows = np.concatenate([line.rows for line in lines])
    times, back = np.unique(x[rows], return_inverse=True)
    total = np.bincount(back, weights=y[rows]).astype(float)
    _draw(axes, times, total, palette.TEXT)
    notes["all subflows"] = Line2D([], [], color=palette.TEXT)
    if "flow_optimum_bps" not in columns.names:
        return
    optimum = columns.number("flow_optimum_bps")[rows] / factor
    if np.isnan(optimum).all():
        return
    order = np.argsort(x[rows], kind="stable")
    style: dict[str, Any] = {"color": palette.OPTIMUM, "linestyle": (0, (4, 2))}
    axes.plot(x[rows][order], optimum[order], **style)
    notes["optimum"] = Line2D([], [], **style)


def _listed(values: object) -> str:
    words = [f"{own:g}" if isinstance(own, float) else str(own) for own in values]  # type: ignore[attr-defined]
    return ", ".join(words[:12]) + (f" and {len(words) - 12} more" if len(words) > 12 else "")
