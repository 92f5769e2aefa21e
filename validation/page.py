"""validation/README.md from results.json and page.md, and the tables for the terminal.

In page.md `{{table NAME}}` is the table of a comparison, `{{table NAME METRIC ...}}` some rows of it, `{{flows NAME}}`
how far the flows of it are apart one by one, and `{{version NAME}}` a version.

python page.py writes the page anew from what is stored.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from statistics import median
from typing import Any

HERE = Path(__file__).parent
PAGE = HERE / "README.md"
RESULTS = HERE / "results.json"

# By metric: its name, the divisor of its values, and how many digits are shown.
METRICS = {
    "goodput_total_bps": ("goodput, Mbit/s", 1e6, 1),
    "jain_ratio": ("Jain index", 1, 3),
    "queue_mean_pkts": ("mean queue, packets", 1, 2),
    "queue_p99_pkts": ("p99 queue, packets", 1, 0),
    "marks": ("marks", 1, 0),
    "drops": ("drops", 1, 0),
    "timeouts": ("timeouts", 1, 0),
}
TABLES = {
    "dumbbell-dctcp": "Dumbbell, DCTCP",
    "dumbbell-newreno": "Dumbbell, NewReno",
    "fat-tree-dctcp": "Fat tree, DCTCP",
    "fat-tree-newreno": "Fat tree, NewReno",
}
# Differences above this need a reason.
TOLERANCE = 0.05
# By table and metric: the section of page.md that has the reason.
REASONS = {
    ("dumbbell-dctcp", "marks"): 1,
    ("dumbbell-newreno", "drops"): 2,
    ("dumbbell-newreno", "timeouts"): 3,
    ("fat-tree-dctcp", "marks"): 1,
    ("fat-tree-newreno", "queue_mean_pkts"): 3,
    ("fat-tree-newreno", "drops"): 3,
    ("fat-tree-newreno", "timeouts"): 3,
}


def rows(results: dict[str, Any], name: str, metrics: list[str]) -> list[list[str]]:
    """A row for every metric: what it is, both simulators, the difference of the medians."""
    sides = results["comparisons"][name]
    found = []
    for metric in metrics:
        label, unit, digits = METRICS[metric]
        values = [[run[metric] / unit for run in sides[side].values()] for side in ("tresse", "ns3")]
        if any(map(any, values)):
            shown = [f"{median(v):.{digits}f} ({min(v):.{digits}f} to {max(v):.{digits}f})" for v in values]
            found.append([label, *shown, difference(*map(median, values))])
    return found


def difference(ours: float, theirs: float) -> str:
    """How far ours is above theirs."""
    return f"{100 * (ours / theirs - 1):+.1f} %" if theirs else "-"


def apart(results: dict[str, Any], name: str, metric: str) -> bool:
    """Whether the medians of a metric differ by more than is tolerated."""
    sides = results["comparisons"][name]
    ours, theirs = (median(run[metric] for run in sides[side].values()) for side in ("tresse", "ns3"))
    return abs(ours - theirs) > TOLERANCE * theirs


def table(results: dict[str, Any], name: str, metrics: list[str]) -> str:
    """A comparison in Markdown; without a choice of metrics it has all of them, with the reasons."""
    lines = ["| | Tresse | ns-3 | difference |", "|---|---|---|---|"]
    for metric in metrics or METRICS:
        for row in rows(results, name, [metric]):
            if not metrics and apart(results, name, metric):
                row[-1] += f" [reason {reason(name, metric)}](#reason-{reason(name, metric)})"
            lines.append(f"| {' | '.join(row)} |")
    return "\n".join(lines)


def reason(name: str, metric: str) -> int:
    """The number of the section that has the reason for a difference."""
    if (name, metric) not in REASONS:
        raise ValueError(f"nothing says why {name} differs in {metric} (validation/page.py, REASONS; page.md)")
    return REASONS[name, metric]


def flows(results: dict[str, Any], name: str) -> str:
    """How far the flows of a comparison are apart, each by the medians of its goodput."""
    sides = results["comparisons"][name]
    ours, theirs = (
        [median(rates) for rates in zip(*(run["goodput_bps"] for run in sides[side].values()), strict=True)]
        for side in ("tresse", "ns3")
    )
    gaps = [abs(a - b) / 1e6 for a, b in zip(ours, theirs, strict=True)]
    return f"{sum(gaps) / len(gaps):.0f} Mbit/s on average, {max(gaps):.0f} Mbit/s at most"


def render(results: dict[str, Any]) -> str:
    """The page."""

    def filled(match: re.Match[str]) -> str:
        kind, name, *metrics = match[1].split()
        match kind:
            case "table":
                return table(results, name, metrics)
            case "flows":
                return flows(results, name)
            case "version":
                return str(results["versions"][name])
        raise ValueError(f"page.md: {kind}")

    return re.sub(r"\{\{(.+?)\}\}", filled, (HERE / "page.md").read_text())


def tables(results: dict[str, Any]) -> str:
    """The four tables, for the terminal."""
    blocks = []
    for name, title in TABLES.items():
        lines = [[title, "Tresse", "ns-3", "difference"], *rows(results, name, list(METRICS))]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        blocks.append("\n".join("  ".join(map(str.ljust, line, widths)).rstrip() for line in lines))
    return "\n\n".join(blocks)


if __name__ == "__main__":
    stored = json.loads(RESULTS.read_text())
    PAGE.write_text(render(stored))
    print(tables(stored))
