"""A sampled quantity over time, as an experiment declares it: lines of subflows, flows, groups, schemes or ports."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from tresse.errors import TresseError
from tresse.plot import draw, palette
from tresse.plot.cases import Chosen, choose, text
from tresse.plot.network import networks
from tresse.plot.rows import SECOND, Columns
from tresse.plot.stats import Numbers
from tresse.plot.timeline import draw_line, smoothed

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from tresse.plot.palette import Look
    from tresse.runs import Case, Run

Rows: TypeAlias = NDArray[np.int64]

_OF_PORTS = ("waiting_pkts", "utilisation_ratio", "share_ratio")
_RATES = ("goodput_bps", "utilisation_ratio")
"""These are of a whole interval; the others are values at its end."""
_MEANS = ("srtt_s", "share_ratio")
"""Several lines' values are averaged over those that have one."""
_MILLION = 1e6
_OWN = ("group", "flow", "subflow", "layer", "port", "seed", "round")
"""What `where` may say about the samples themselves."""


@dataclass(frozen=True)
class _Line:
    """A line before it has values."""

    case: Case
    name: str
    """Without its case; empty if the case is all that there is to say."""
    words: dict[str, str]
    """What it is in the divisions of the samples."""
    members: list[Rows]
    """The rows of each subflow or port, in the order of time."""


@dataclass(frozen=True)
class _Drawn:
    panel: str
    name: str
    scheme: str
    """The scheme that it is named by; empty if by something else."""
    line: _Line


_RAW = 0.3
"""How opaque samples are behind their smoothed line, as on the page."""


def over_time(run: Run, figure: dict[str, Any], wish: draw.Wish, smooth: float = 0.0) -> Figure:
    """The figure of `chart = "time"`; without a choice, of the first seed and its first round.

    `smooth`: the share of the time over which lines are averaged.
    """
    if not 0 <= smooth < 1:
        raise TresseError(f"smooth={smooth:g} is no share of the time", hint="0.03 averages over 3 % of it")
    y = str(figure["y"])
    where: dict[str, Any] = figure.get("where", {})
    columns = Columns(run.table("queues" if y in _OF_PORTS else "samples"))
    chosen = choose(run, "scheme", {name: own for name, own in where.items() if name not in _OWN})
    wanted = {name: _listed(own) for name, own in where.items() if name in _OWN}
    lines = list(_lines(run, columns, chosen, wanted, figure.get("series", "port" if y in _OF_PORTS else "subflow")))
    if not lines:
        raise TresseError(f"{run.folder}: no sample is of this figure")
    drawn = _placed(lines, figure.get("panels"))
    return _figure(run, columns, y, drawn, wish, smooth)


def _listed(wanted: Any) -> list[str]:
    return [text(own) for own in (wanted if isinstance(wanted, list) else [wanted])]


def _lines(run: Run, columns: Columns, chosen: Chosen, wanted: dict[str, list[str]], series: str) -> Iterator[_Line]:
    """The lines of every case."""
    case_of, seeds = columns.case_of(chosen.cases), columns.number("seed")
    rounds = columns.number("round") if "round" in columns.names else np.zeros(columns.rows)
    start = columns.number("start_ps")
    for place, case in enumerate(chosen.cases):
        rows = np.flatnonzero(case_of == place)
        for numbers, part in ((seeds, "seed"), (rounds, "round")):
            there = numbers[rows]
            kept = [float(own) for own in wanted.get(part, [])] or ([float(there.min())] if len(rows) else [])
            rows = rows[np.isin(there, kept)]
        rows = rows[np.argsort(start[rows], kind="stable")]
        if "port" in columns.names:
            yield from _of_ports(run, columns, case, rows, wanted, series)
        else:
            yield from _of_flows(columns, case, rows, wanted, series)


def _of_ports(
    run: Run, columns: Columns, case: Case, rows: Rows, wanted: dict[str, list[str]], series: str
) -> Iterator[_Line]:
    codes, layers = columns.text("layer")
    ports = columns.number("port").astype(int)
    network = networks(run)[run.cases.index(case)]
    found: dict[str, tuple[str, list[Rows]]] = {}
    for port in np.unique(ports[rows]):
        own = rows[ports[rows] == port]
        layer = layers[int(codes[own[0]])]
        ends = (network["nodes"]["name"][network["ports"][end][port]] for end in ("from", "to"))
        name = " → ".join(ends)
        if layer not in wanted.get("layer", [layer]) or not {str(port), name} & set(wanted.get("port", [name])):
            continue
        found.setdefault(layer if series == "layer" else name, (layer, []))[1].append(own)
    for name, (layer, members) in found.items():
        yield _Line(case, name, {"layer": layer, "port": name}, members)


def _of_flows(columns: Columns, case: Case, rows: Rows, wanted: dict[str, list[str]], series: str) -> Iterator[_Line]:
    codes, groups = columns.text("group")
    keys = np.stack([codes[rows].astype(float), columns.number("flow")[rows], columns.number("subflow")[rows]], axis=1)
    distinct, back = np.unique(keys, axis=0, return_inverse=True)
    back = back.reshape(-1)
    found: dict[tuple[str, ...], tuple[str, list[Rows]]] = {}
    for place, (code, flow, subflow) in enumerate(distinct):
        group, number, own = groups[int(code)], str(int(flow)), str(int(subflow))
        group = "" if group == "–" else group
        said = {"group": group, "flow": number, "subflow": own}
        if any(value not in wanted.get(name, [value]) for name, value in said.items()):
            continue
        of_group = distinct[:, 0] == code
        flows = len(np.unique(distinct[of_group, 1]))
        subflows = np.count_nonzero(of_group & (distinct[:, 1] == flow))
        key: tuple[str, ...] = ()
        name = ""
        if series in ("group", "flow", "subflow"):
            key, name = (group,), group or "all flows"
        if series in ("flow", "subflow"):
            key = (group, number)
            name = f"flow {number}" if not group else f"{group}, flow {number}" if flows > 1 else group
        if series == "subflow" and subflows > 1:
            key, name = (*key, own), f"{name}, subflow {own}"
        found.setdefault(key, (name, []))[1].append(rows[back == place])
    for key, (name, members) in sorted(found.items(), key=lambda own: _natural(own[1][0])):
        yield _Line(case, name, {"group": key[0] if key else ""}, members)


def _natural(name: str) -> list[tuple[int, str]]:
    """Natural order: "flow 2" before "flow 10"."""
    words = "".join(letter if letter.isdigit() else f" {letter}" for letter in name).split()
    return [(int(word), "") if word.isdigit() else (-1, word) for word in words]


def _placed(lines: list[_Line], panels: str | None) -> list[_Drawn]:
    """The panel and the name of each line.

    Without `panels`, schemes share a panel, and each value of other axes has its own; but if colours cannot tell so many
    lines apart, each case has its own.
    """
    cases = list({id(line.case): line.case for line in lines}.values())
    varying = [
        axis for axis in dict.fromkeys(axis for case in cases for axis in case.axes)
        if len({text(case.axes.get(axis)) for case in cases}) > 1
    ]  # fmt: skip
    schemes = ("scheme", "subflows")

    def title(case: Case, axes: list[str]) -> str:
        words = [case.scheme] if set(axes) & set(schemes) else []
        words += [
            text(case.axes.get(axis)) if axis in ("pattern", "variant") else f"{axis} {text(case.axes.get(axis))}"
            for axis in axes
            if axis not in schemes
        ]
        return ", ".join(words)

    if panels is None:
        beside = [axis for axis in varying if axis not in schemes]
        most = max(sum(title(other.case, beside) == title(line.case, beside) for other in lines) for line in lines)
        apart = beside if most <= len(palette.SERIES) else varying
        of = {id(line): title(line.case, apart) for line in lines}
    else:
        of = {id(line): line.words.get(panels) or _axis(line.case, panels) for line in lines}
    drawn = []
    for line in lines:
        alike = [other for other in lines if of[id(other)] == of[id(line)]]
        # Lines of several cases in one panel are named with what tells these apart.
        apart = [axis for axis in varying if len({text(other.case.axes.get(axis)) for other in alike}) > 1]
        own = title(line.case, apart)
        name = ", ".join(word for word in (own, line.name) if word) or line.case.scheme
        scheme = line.case.scheme if line.case.scheme in (own, name) else ""
        drawn.append(_Drawn(of[id(line)], name, scheme, line))
    return drawn


def _axis(case: Case, axis: str) -> str:
    return case.scheme if axis == "scheme" else text(case.axes.get(axis))


def _looks(run: Run, drawn: list[_Drawn]) -> dict[str, Look]:
    """The style of each line: a scheme has its own colour; if it has several lines, they have different dashes.

    Other lines have dashes only when colours repeat: noisy lines are illegible with them.
    """
    schemes = draw.looks(run, list(dict.fromkeys(own.scheme for own in drawn)))
    looks: dict[str, Look] = {}
    if not all(own.scheme in schemes and own.scheme for own in drawn):
        for place, name in enumerate(dict.fromkeys(own.name for own in drawn)):
            looks[name] = palette.with_dash(palette.look_at(place), place // len(palette.SERIES))
        return looks
    for own in drawn:
        place = len({other.name for other in drawn[: drawn.index(own)] if other.scheme == own.scheme} - {own.name})
        if own.name not in looks:
            looks[own.name] = palette.with_dash(schemes[own.scheme], place)
    return looks


def _figure(run: Run, columns: Columns, y: str, drawn: list[_Drawn], wish: draw.Wish, smooth: float) -> Figure:
    titles = {own.panel: own.panel for own in drawn}
    canvas = draw.canvas(titles if len(titles) > 1 else dict.fromkeys(titles, ""), None, ratio=0.5)
    looks = _looks(run, drawn)
    traces = {id(own): _trace(columns, own.line, y) for own in drawn}
    known = np.concatenate([values[~np.isnan(values)] for _, values in traces.values()])
    ends = np.concatenate([edges[-1:] for edges, _ in traces.values()])
    for axes in canvas.all:
        in_time = draw.scale_axis(axes.xaxis, "time_s", ends)
        axes.set_xlabel(f"Time ({in_time.unit})")
        scale = draw.scale_axis(axes.yaxis, y, known[known > 0] if wish.log_y else known, log=wish.log_y)
        axes.margins(x=0.01)
    first, last = wish.x_range or (min(float(edges[0]) for edges, _ in traces.values()), float(ends.max()))
    for own in drawn:
        edges, values = traces[id(own)]
        axes, look = canvas.panels[own.panel], looks[own.name]
        draw_line(
            axes, edges / in_time.factor, values / scale.factor, look,
            steps=y in _RATES, ends=tuple(end / in_time.factor for end in wish.x_range) if wish.x_range else None,
            alpha=_RAW if smooth else 1.0,
        )  # fmt: skip
        if smooth:
            at, mean = smoothed(edges, values, smooth * (last - first), steps=y in _RATES)
            axes.plot(at / in_time.factor, mean / scale.factor, color=look.colour, linestyle=look.dash)
    for axes in canvas.all:
        if not wish.log_y:
            axes.set_ylim(bottom=0)
        draw.set_range(axes.xaxis, wish.x_range, in_time)
        draw.set_range(axes.yaxis, wish.y_range, scale)
    draw.outer_labels(canvas)
    handles = [Line2D([], [], color=look.colour, linestyle=look.dash) for look in looks.values()]
    canvas.legend(handles, list(looks))
    return canvas.figure


def _trace(columns: Columns, line: _Line, y: str) -> tuple[Numbers, Numbers]:
    """The edges of intervals, in seconds, and the value in each.

    Rates and windows of subflows add up, their round-trip times are averaged. Ports are averaged, and an interval for which
    a port has no row was empty; its share is unknown there.
    """
    start, duration = columns.number("start_ps"), columns.number("duration_ps")
    rows = np.concatenate(line.members)
    if y == "utilisation_ratio":
        values = columns.number("busy_ps") / duration
    elif y == "share_ratio":
        values = columns.number("share_ppm") / _MILLION
    else:
        name, factor = ("srtt_ps", 1 / SECOND) if y == "srtt_s" else (y, 1.0)
        values = columns.number(name) * factor
    edges = np.unique(np.concatenate([start[rows], start[rows] + duration[rows]]))
    if y in _OF_PORTS and y != "share_ratio":
        step = float(np.median(duration[rows]))
        edges = np.union1d(edges, np.arange(edges[0], edges[-1], step))
    closed = None
    if "state" in columns.names:
        codes, words = columns.text("state")
        closed = codes == words.index("closed") if "closed" in words else None
    kept = rows[~np.isnan(values[rows])] if closed is None else rows[~np.isnan(values[rows]) & ~closed[rows]]
    first = np.searchsorted(edges, start[kept])
    count = np.searchsorted(edges, start[kept] + duration[kept]) - first
    offsets = np.arange(int(count.sum())) - np.repeat(np.cumsum(count) - count, count)
    cells = np.repeat(first, count) + offsets
    size = len(edges) - 1
    sums = np.bincount(cells, weights=np.repeat(values[kept], count), minlength=size)
    seen = np.bincount(cells, minlength=size)
    if y in _OF_PORTS and y != "share_ratio":
        return edges / SECOND, sums / len(line.members)
    with np.errstate(divide="ignore", invalid="ignore"):
        return edges / SECOND, np.where(seen > 0, sums / seen if y in _MEANS else sums, np.nan)
