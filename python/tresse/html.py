"""A run in a notebook: its results next to the published numbers and the optimum, its claims, and small charts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from tresse import _native
from tresse.plot import palette, units
from tresse.plot.cases import axes_of, text

if TYPE_CHECKING:
    from tresse.controllers import Step
    from tresse.runs import Case, Claim, Run
    from tresse.tables import Table

Write = Callable[["Case"], str]

_MOST_ROWS = 60
_MOST_BARS = 24
_VERDICTS = {"holds": palette.GOOD, "does not hold": palette.BAD, "inconclusive": palette.UNSURE}

# Text and lines have the notebook's own colours, so that they are readable in its dark theme too.
_STYLE = """<style>
.tresse{font-size:13px;line-height:1.45;max-width:100%}
.tresse .scroll{overflow-x:auto}
.tresse table{border-collapse:collapse;margin:.5em 0;font-variant-numeric:tabular-nums}
.tresse th,.tresse td{padding:.15em .6em;text-align:right;border:0;border-bottom:1px solid rgba(128,128,128,.25);
white-space:nowrap;background:none}
.tresse th{font-weight:600;vertical-align:bottom}
.tresse th.w,.tresse td.w{text-align:left}
.tresse td.aside,.tresse th.aside,.tresse .note{opacity:.72}
.tresse th span{display:block;font-weight:400;opacity:.72}
.tresse .claims td{white-space:normal}
.tresse .charts{display:flex;flex-wrap:wrap;gap:1.5em}
.tresse summary{cursor:pointer}
.tresse h4{margin:.2em 0;font-size:1em}
.tresse text{fill:currentColor;font-size:11px}
</style>"""


def run_html(run: Run) -> str:
    """A run, as a notebook shows it."""
    report = run.report_json
    metrics = columns(run)
    facts = [run.status if run.status == run.state else f"{run.status}, {run.state}", f"profile {run.profile}"]
    seeds = int(report["replications"])
    facts.append(f"{seeds} seeds from {run.seed}" if seeds > 1 else f"seed {run.seed}")
    facts.append(f"digest <code>{escape(run.digest[:12])}</code>")
    facts.append(f"in <code>{escape(str(run.folder))}</code>")
    title = str(run.experiment.get("title", ""))
    parts = [
        f"<h4>{escape(run.name)}{': ' if title else ''}{escape(title)}</h4>",
        f'<div class="note">{", ".join(facts)}</div>',
        *(f'<div style="color:{palette.BAD}">{escape(error)}</div>' for error in report.get("errors", [])),
        cases_table(run.cases, metrics) if run.cases else "<p>No case is complete yet.</p>",
        _charts(run.cases, metrics),
        _claims(run.claims),
    ]
    return _whole(parts)


def cases_html(cases: Sequence[Case]) -> str:
    """Cases as a table of results."""
    return _whole([cases_table(cases, _shown(cases, ()))])


def steps_html(steps: Sequence[Step]) -> str:
    """The steps of a script, a row for each event."""
    names = ("event", "subflow", "cwnd", "ssthresh", "state")
    head = "".join(f"<th>{name}</th>" for name in names)
    rows = (f"<tr>{''.join(f'<td>{_cell(getattr(step, name))}</td>' for name in names)}</tr>" for step in steps)
    return _whole(
        [f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>']
    )


def table_html(table: Table, rows: int = 10) -> str:
    """The first rows of a table, and the meaning of its columns."""
    own = _first(table, rows)
    head = "".join(f'<th title="{escape(table.meanings.get(name, ""))}">{escape(name)}</th>' for name in own)
    body = "".join(
        f"<tr>{''.join(f'<td>{_cell(value)}</td>' for value in row)}</tr>" for row in zip(*own.values(), strict=True)
    )
    meanings = "".join(
        f'<tr><td class="w"><code>{escape(name)}</code></td><td class="w">{escape(meaning)}</td></tr>'
        for name, meaning in table.meanings.items()
    )
    shown = min(rows, table.num_rows)
    return _whole(
        [
            f"<h4>{escape(table.name)}</h4>",
            f'<div class="note">{shown} of {units.formatted("", table.num_rows, 12)} rows, '
            f"{len(table.column_names)} columns</div>",
            f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'
            if own
            else "",
            f"<details><summary>What the columns mean</summary><table>{meanings}</table></details>",
        ]
    )


def _first(table: Table, rows: int) -> dict[str, list[Any]]:
    """The first rows; none if no installed package can read them."""
    try:
        import pyarrow

        head: dict[str, list[Any]] = pyarrow.table(table).slice(0, rows).to_pydict()
        return head
    except ImportError:
        pass
    try:
        import polars

        return polars.DataFrame(table).head(rows).to_dict(as_series=False)
    except ImportError:
        return {}


def _cell(value: object) -> str:
    if value is None:
        return "–"
    return escape(f"{value:.6g}" if isinstance(value, float) else str(value))


def columns(run: Run) -> list[str]:
    """The metrics to show: those of the experiment's own table, or those of its kind, as on the page."""
    return _shown(run.cases, run.experiment.get("measure", {}).get("table") or ())


def _shown(cases: Sequence[Case], own: Iterable[str]) -> list[str]:
    own = list(own)
    # If flows arrive one by one, their completion times matter most.
    arrive = {"offered_bisection_ratio" in case.metrics for case in cases}
    published = [metric for case in cases for metric in case.published]
    main = own or [*(_usual("rates") if False in arrive else ()), *(_usual("completion") if True in arrive else ())]
    every = dict.fromkeys([*main, *published, *(() if own else _usual("jobs")), *_usual("all")])
    # An empty column says nothing.
    return [metric for metric in every if any(case.metrics.get(metric) for case in cases)]


def _usual(kind: str) -> list[str]:
    """The metrics that tables show of cases of this kind."""
    return [metric for metric, of in _native.shown_metrics() if of == kind]


@dataclass(frozen=True)
class _Column:
    """A column of the table of results."""

    title: str
    unit: str
    metric: str
    """The metric; nothing for an axis."""
    aside: bool
    """Whether it is there to compare the one before it with."""
    write: Write


def _table_of(cases: Sequence[Case], metrics: Sequence[str]) -> list[_Column]:
    """The columns of the table of results: a row for each case."""
    axes = [
        axis
        for axis in axes_of(cases)
        if axis not in ("scheme", "subflows") and len({text(case.axes.get(axis)) for case in cases}) > 1
    ]

    def on(axis: str) -> Write:
        return lambda case: text(case.axes.get(axis))

    table = [_Column("Scheme", "", "", False, lambda case: case.scheme)]
    table += [_Column(units.capitalised(axis), "", "", False, on(axis)) for axis in axes]
    for metric in metrics:
        unit = units.scale_of(metric, [case.metrics.get(metric) for case in cases]).unit
        for title, write in _columns_of(cases, metric):
            aside = title != units.capitalised(units.short(metric))
            table.append(_Column(title, "" if aside else unit, metric, aside, write))
    return table


def cases_table(cases: Sequence[Case], metrics: Sequence[str]) -> str:
    """The table of results: a row for each case."""
    table = _table_of(cases, metrics)

    def kind(column: _Column) -> str:
        return ' class="w"' if not column.metric else ' class="aside"' if column.aside else ""

    def title(column: _Column) -> str:
        named = f' title="{escape(column.metric)}"' if column.metric else ""
        unit = f"<span>{escape(column.unit)}</span>" if column.unit else ""
        return f"<th{kind(column)}{named}>{escape(column.title)}{unit}</th>"

    head = [title(column) for column in table]
    rows = [[f"<td{kind(c)}>{escape(c.write(case))}</td>" for c in table] for case in cases]
    body = "".join(f"<tr>{''.join(row)}</tr>" for row in rows[:_MOST_ROWS])
    more = len(rows) - _MOST_ROWS
    rest = f'<div class="note">and {more} more cases</div>' if more > 0 else ""
    said = _footnote(cases)
    foot = f'<div class="note">{escape(said)}</div>' if said else ""
    return (
        f'<div class="scroll"><table><thead><tr>{"".join(head)}</tr></thead><tbody>{body}</tbody></table></div>'
        f"{rest}{foot}"
    )


def _columns_of(cases: Sequence[Case], metric: str) -> list[tuple[str, Write]]:
    """A metric, with the values to compare it with next to it."""
    scale = units.scale_of(metric, [case.metrics.get(metric) for case in cases])

    def written(values: Callable[[Case], dict[str, float]]) -> Write:
        return lambda case: units.scaled(own, scale) if (own := values(case).get(metric)) is not None else ""

    def over(case: Case) -> str:
        ours, theirs = case.metrics.get(metric), case.published.get(metric)
        return "" if ours is None or not theirs else units.ratio(ours / theirs)

    found = [(units.capitalised(units.short(metric)), written(lambda case: case.metrics))]
    if any(metric in case.ci95 for case in cases):
        found.append(("±95 %", written(lambda case: case.ci95)))
    if any(metric in case.published for case in cases):
        found.append(("Published", written(lambda case: case.published)))
        found.append(("Ratio", over))
    if "_mean_" in metric and any(metric in case.optimum for case in cases):
        found.append(("Optimum", written(lambda case: case.optimum)))
    return found


def _footnote(cases: Sequence[Case]) -> str:
    said = []
    if any(case.ci95 for case in cases):
        said.append("±95 %: half the width of the 95 % confidence interval.")
    if any(case.published for case in cases):
        said.append("Ratio: ours over the published value.")
    if any(case.optimum for case in cases):
        said.append("Optimum: what the controller claims to reach.")
    reasons: dict[str, dict[str, None]] = {}
    for case in cases:
        if case.no_optimum:
            reasons.setdefault(case.no_optimum, {})[case.scheme] = None
    for reason, schemes in reasons.items():
        of = f" of {', '.join(schemes)}" if len(schemes) < len({case.scheme for case in cases}) else ""
        said.append(f"No optimum{of}: {reason}.")
    return " ".join(said)


def _charts(cases: Sequence[Case], metrics: Sequence[str]) -> str:
    """A chart of bars for each of the first two metrics of different kinds."""
    kinds: dict[str, str] = {}
    for metric in metrics:
        if units.unit_key(metric) in ("bps", "s", "ratio"):
            kinds.setdefault(units.short(metric).split(" ")[0], metric)
    drawn = [_bars(cases, metric) for metric in list(kinds.values())[:2]] if 1 < len(cases) <= _MOST_BARS else []
    return f'<div class="charts">{"".join(drawn)}</div>' if drawn else ""


def _bars(cases: Sequence[Case], metric: str) -> str:
    """Bars from 0 with the 95 % interval, the published value and the optimum, as SVG."""
    known = [case for case in cases if case.metrics.get(metric) is not None]
    marks = [case.metrics[metric] + min(case.ci95.get(metric, 0), 0.4 * case.metrics[metric]) for case in known]
    marks += [case.published[metric] for case in known if metric in case.published]
    marks += [own for case in known if (own := case.optimum.get(metric)) and own < 2.5 * max(marks)]
    most = max(marks, default=0.0) or 1.0
    left, wide, row = 12 + 6.4 * max((len(case.label) for case in known), default=0), 230.0, 17
    looks = palette.looks_of(case.scheme for case in cases)
    scale = units.scale_of(metric, [case.metrics[metric] for case in known])
    items = []
    for place, case in enumerate(known):
        y, value = place * row + 4, case.metrics[metric]
        end = left + wide * max(0.0, value) / most
        items.append(f'<text x="{left - 6:.0f}" y="{y + 10}" text-anchor="end">{escape(case.label)}</text>')
        items.append(
            f'<rect x="{left:.0f}" y="{y}" width="{end - left:.1f}" height="12" fill="{looks[case.scheme].colour}"/>'
        )
        items += _at(left, wide / most, y, case, metric)
        past = max([end, *(left + wide * own / most for own in _ends(case, metric) if own <= most)])
        items.append(f'<text x="{past + 5:.1f}" y="{y + 10}">{units.scaled(value, scale)}</text>')
    title = units.axis_title(metric, scale)
    size = f'width="{left + wide + 60:.0f}" height="{len(known) * row + 6}"'
    return (
        f'<div><h4>{escape(title)}</h4><svg role="img" aria-label="{escape(title)}" {size}>{"".join(items)}</svg></div>'
    )


def _ends(case: Case, metric: str) -> list[float]:
    value = case.metrics[metric]
    rest = [case.published.get(metric), case.optimum.get(metric), value + case.ci95.get(metric, 0)]
    return [own for own in rest if own is not None]


def _at(left: float, each: float, y: int, case: Case, metric: str) -> list[str]:
    """The interval, the published value and the optimum, drawn on a bar."""
    value, half = case.metrics[metric], case.ci95.get(metric)
    items = []
    if half:
        low, high = left + each * max(0.0, value - half), left + each * (value + half)
        items.append(f'<path d="M{low:.1f} {y + 6}H{high:.1f}" stroke="currentColor" stroke-width="1.2"/>')
    if metric in case.optimum:
        x = left + each * case.optimum[metric]
        items.append(
            f'<path d="M{x:.1f} {y - 2}V{y + 14}" stroke="currentColor" stroke-width="1.5" stroke-dasharray="3 2">'
            f"<title>optimum {units.formatted(metric, case.optimum[metric])}</title></path>"
        )
    if metric in case.published:
        x = left + each * case.published[metric]
        items.append(
            f'<path d="M{x:.1f} {y + 1}l5 5l-5 5l-5 -5z" fill="white" stroke="black" stroke-width="1.2">'
            f"<title>published {units.formatted(metric, case.published[metric])}</title></path>"
        )
    return items


def _claims(claims: Sequence[Claim]) -> str:
    if not claims:
        return ""
    rows = []
    for claim in claims:
        verdict = str(claim.report.get("verdict", ""))
        expected = str(claim.report.get("expected", verdict))
        also = "" if expected == verdict else f'<div class="note">expected: {escape(expected)}</div>'
        because = claim.report.get("because")
        why = f'<div class="note">{escape(str(because))}</div>' if because and verdict != "holds" else ""
        rows.append(
            f'<tr><td class="w" style="color:{_VERDICTS.get(verdict, "inherit")};white-space:nowrap">{escape(verdict)}</td>'
            f'<td>{_value(claim)}</td><td class="w">{escape(claim.text)}{also}{why}</td></tr>'
        )
    hold = sum(claim.holds is True for claim in claims)
    return (
        f"<details><summary>{hold} of {len(claims)} claims hold</summary>"
        f'<table class="claims"><tbody>{"".join(rows)}</tbody></table></details>'
    )


def _value(claim: Claim) -> str:
    """A ratio is a number, a step of an order is a share, and all others are in the metric's unit."""
    if claim.value is None:
        return ""
    form = claim.report.get("form")
    if form == "order":
        return f"{100 * claim.value:.2g} %"
    metric = str(claim.report.get("metric", "")) if form in ("band", "difference") else ""
    return units.formatted(metric.removeprefix("optimum."), claim.value, 4 if metric else 3)


def _whole(parts: Iterable[str]) -> str:
    return f'<div class="tresse">{_STYLE}{"".join(parts)}</div>'
