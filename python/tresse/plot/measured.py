"""The metrics of cases, or of their parts: groups, sizes, windows of time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tresse.errors import TresseError
from tresse.plot.cases import IN_TIME, Chosen, Part, text
from tresse.plot.stats import half_width_95

if TYPE_CHECKING:
    from tresse.runs import Case, Run


@dataclass(frozen=True)
class Measured:
    """What was measured of a case, or of a part of it."""

    part: Part
    metrics: Mapping[str, float]
    ci95: Mapping[str, float]
    published: Mapping[str, float]
    optimum: Mapping[str, float]


def measured(run: Run, chosen: Chosen) -> Iterator[tuple[Case, Measured]]:
    """Each case, and its wanted parts; the whole case if the figure divides it by nothing."""
    asked = chosen.divisions
    if chosen.slice is not None and asked:
        raise TresseError(f"the results have no metrics of a slice by {' and '.join(asked)}")
    if "subflow" in asked and "window" not in asked:
        raise TresseError("the results have metrics by subflow only in windows of time")
    in_time = "window" in asked and all(name in (*IN_TIME, "group") for name in asked)
    if len(asked) > 1 and not in_time:
        raise TresseError(f"the results have no metrics by {' and '.join(asked)} together")
    reports = {id(case): own for case, own in zip(run.cases, run.report_json["cases"], strict=True)}
    for case in chosen.cases:
        if not asked:
            yield case, Measured({}, case.metrics, case.ci95, case.published, case.optimum)
            continue
        report = reports[id(case)]
        parts = _windows(run, case, report, asked) if in_time else _parts(report, asked[0])
        for own in parts:
            if all(own.part[name] in chosen.parts.get(name, [own.part[name]]) for name in own.part):
                yield case, own


def _parts(report: dict[str, Any], by: str) -> Iterator[Measured]:
    for name, metrics in report["by"].get(by, {}).items():
        ci95, published = (report.get(key, {}).get(by, {}).get(name, {}) for key in ("ci95_by", "published_by"))
        yield Measured({by: name}, metrics, ci95, published, {})


def _windows(run: Run, case: Case, report: dict[str, Any], asked: tuple[str, ...]) -> Iterator[Measured]:
    for part in _windows_of(report, asked):
        metrics = _in_window(report, part)
        if metrics:
            yield Measured(part, metrics, _intervals(report, part), _published(run, case, part), {})


def _published(run: Run, case: Case, part: Part) -> dict[str, float]:
    """The published values of a window, which the results do not have."""
    found: dict[str, float] = {}
    for own in run.declared["published"]:
        is_of = all(text(case.axes.get(axis)) == text(value) for axis, value in own["case"].items())
        if is_of and {name: text(value) for name, value in own["part"].items()} == dict(part):
            found |= own["metrics"]
    return found


def _windows_of(report: dict[str, Any], asked: tuple[str, ...]) -> Iterator[dict[str, str]]:
    for window, own in report.get("windows", {}).items():
        if not {"group", "subflow"} & set(asked):
            yield {"window": window}
            continue
        for group, flows in own.get("groups", {}).items():
            if "subflow" not in asked:
                yield {"window": window, "group": group}
                continue
            for place in range(len(flows.get("subflows") or [])):
                yield {"window": window, "group": group, "subflow": str(place)}


def _in_window(report: dict[str, Any], part: Part) -> dict[str, float]:
    own = report.get("windows", {}).get(part["window"], {})
    if "group" in part:
        own = own.get("groups", {}).get(part["group"], {})
    if "subflow" in part:
        subflows = own.get("subflows") or []
        place = int(part["subflow"])
        return dict(subflows[place]) if place < len(subflows) else {}
    return dict(own.get("metrics", {}))


def _intervals(report: dict[str, Any], part: Part) -> dict[str, float]:
    """The 95 % intervals of means over seeds, which the results do not have for windows."""
    seeds = [_in_window(seed, part) for seed in report.get("seeds", [])]
    if not seeds:
        return {}
    values = {name: [own[name] for own in seeds if own.get(name) is not None] for name in seeds[0]}
    return {name: float(half_width_95(np.array(own))) for name, own in values.items() if len(own) > 1}
