"""The plan of a search: its file, checked."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tresse.errors import TresseError
from tresse.keys import plain

PlanLike = str | os.PathLike[str] | Mapping[str, Any]

_HEAD = {"title", "experiment", "profile", "controllers", "only", "set", "space", "objective", "budget"}
_QUANTITY = re.compile(r"^\s*(-?\d+(?:\.\d+)?)\s*([A-Za-z%/]*)\s*$")
_SCALES = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "m": 1e-3, "u": 1e-6, "n": 1e-9}
_SECONDS = {"s": 1.0, "min": 60.0, "h": 3600.0}


@dataclass(frozen=True)
class Range:
    """Values from `low` to `high`, both included, with a unit; whole numbers if both ends are."""

    low: float
    high: float
    unit: str
    whole: bool
    log: bool

    def value(self, number: float) -> Any:
        """A number of this range in the form that an experiment takes."""
        plain: float | int = int(number) if self.whole else number
        return f"{plain}{self.unit}" if self.unit else plain


@dataclass(frozen=True)
class Objective:
    """A metric, and whether lower is better."""

    metric: str
    minimise: bool


@dataclass(frozen=True)
class Bound:
    """A metric may not be below (`floor`) or above this value, in the metric's own unit."""

    metric: str
    value: float
    floor: bool

    def excess(self, measured: float) -> float:
        """How far the bound is broken, as a share of it; at most 0 if it holds."""
        away = self.value - measured if self.floor else measured - self.value
        return away / (abs(self.value) or 1.0)

    def __str__(self) -> str:
        return f"{self.metric} {'>=' if self.floor else '<='} {self.value:g}"


@dataclass(frozen=True)
class Plan:
    """A search."""

    title: str
    experiment: str | dict[str, Any]
    profile: str
    controllers: list[str]
    only: dict[str, Any]
    set: dict[str, Any]
    space: dict[str, Range | list[Any]]
    """The values of each key. A key with a dot is set; one without a dot is an axis, of which one value is kept."""
    objectives: list[Objective]
    bounds: list[Bound]
    trials: int
    seeds: int
    """The most seeds that a setting is run with: 1, 2, 4 ... of them, unless it is given up earlier."""
    fresh: int
    """The number of seeds for running the front again."""
    seconds: float | None
    seed: int
    """The seed of the search."""
    screen: bool
    """Whether the search runs by rounds, and its best settings by packets."""

    @property
    def name(self) -> str:
        """The name for a folder."""
        text = self.experiment if isinstance(self.experiment, str) else self.title
        return re.sub(r"[^a-z0-9]+", "-", Path(text).with_suffix("").as_posix().lower()).strip("-") or "tuning"

    def applies(self, key: str, scheme: object) -> bool:
        """Whether a key counts: the keys of a scheme count only if that scheme is chosen."""
        return scheme is None or not key.startswith("schemes.") or key.split(".")[1] == scheme


def read(plan: PlanLike) -> Plan:
    """Reads a plan: a TOML file, or a dict with the same tables."""
    if isinstance(plan, Mapping):
        return _plan(plain(plan), Path(), "the plan")
    path = Path(plan)
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise TresseError(f"{path}: {error.strerror}", code="io", file=str(path)) from None
    except tomllib.TOMLDecodeError as error:
        raise TresseError(f"{path}: {error}", file=str(path)) from None
    return _plan(tables, path.parent, str(path))


def _plan(tables: dict[str, Any], beside: Path, file: str) -> Plan:
    def wrong(text: str, hint: str | None = None) -> TresseError:
        return TresseError(f"{file}: {text}", file=file, hint=hint)

    def known(table: Mapping[str, Any], keys: set[str], where: str) -> None:
        for key in table:
            if key not in keys:
                raise wrong(f"{where}unknown key `{key}`", f"there are {', '.join(sorted(keys))}")

    known(tables, _HEAD, "")
    for key in ("experiment", "space", "objective"):
        if not tables.get(key):
            raise wrong(f"`{key}` is missing", "docs/sweeps.md has a complete plan")
    goal, budget = tables["objective"], tables.get("budget", {})
    known(goal, {"minimise", "maximise", "floors", "ceilings"}, "objective: ")
    known(budget, {"trials", "seeds", "fresh", "time", "seed", "screen"}, "budget: ")
    objectives = [
        Objective(metric, kind == "minimise")
        for kind in ("minimise", "maximise")
        for metric in _several(goal.get(kind, []))
    ]
    if not objectives:
        raise wrong("objective: nothing to `minimise` or `maximise`")
    try:
        bounds = [
            Bound(metric, _measure(value, metric), kind == "floors")
            for kind in ("floors", "ceilings")
            for metric, value in goal.get(kind, {}).items()
        ]
        space = {key: _values(value, key) for key, value in tables["space"].items()}
        seconds = _duration(budget["time"]) if "time" in budget else None
        counts = {key: _count(budget.get(key, default), key) for key, default in _COUNTS.items()}
        screen = screens(budget.get("screen", SCREENS[0]))
    except ValueError as error:
        raise wrong(str(error)) from None
    experiment = tables["experiment"]
    if isinstance(experiment, str) and (beside / experiment).is_file():
        experiment = str(beside / experiment)
    return Plan(
        title=str(tables.get("title", "")),
        experiment=experiment,
        profile=tables.get("profile", "quick"),
        controllers=[str(beside / own) for own in tables.get("controllers", [])],
        only=dict(tables.get("only", {})),
        set=dict(tables.get("set", {})),
        space=space,
        objectives=objectives,
        bounds=bounds,
        seconds=seconds,
        screen=screen,
        **counts,
    )


SCREENS = ("none", "rounds")
"""What a search may be screened by; the first is the default."""


def screens(value: object) -> bool:
    """Whether a search with this `screen` runs by rounds before it runs by packets."""
    if value not in SCREENS:
        raise ValueError(f"`screen` must be one of {', '.join(SCREENS)}, not {value!r}")
    return value == "rounds"


_COUNTS = {"trials": 40, "seeds": 4, "fresh": 5, "seed": 1}


def _several(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else list(value)


def _count(value: Any, key: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise ValueError(f"budget: `{key}` must be a whole number of at least 1, not {value!r}")
    if key == "fresh" and value < 2:
        raise ValueError("budget: `fresh` must be at least 2: one seed has no interval")
    return value


def _values(value: Any, key: str) -> Range | list[Any]:
    if isinstance(value, list):
        if not value:
            raise ValueError(f"space: `{key}` has no values")
        return value
    if not isinstance(value, Mapping) or not {"from", "to"} <= value.keys() <= {"from", "to", "scale"}:
        raise ValueError(f'space: `{key}` is a list, or {{ from = …, to = …, scale = "log" }}, not {value!r}')
    if "." not in key:
        raise ValueError(f"space: `{key}` is an axis: it takes a list of its values")
    low, unit = _quantity(value["from"], key)
    high, other = _quantity(value["to"], key)
    if unit != other:
        raise ValueError(f"space: `{key}`: from and to have the units `{unit}` and `{other}`")
    log = value.get("scale", "linear") == "log"
    if low >= high or (log and low <= 0):
        raise ValueError(f"space: `{key}`: from {value['from']!r} to {value['to']!r} is not a range")
    return Range(low, high, unit, low == int(low) and high == int(high), log)


def _quantity(value: Any, key: str) -> tuple[float, str]:
    match = _QUANTITY.match(str(value))
    if match is None or isinstance(value, bool):
        raise ValueError(f"`{key}`: {value!r} is not a number with a unit")
    return float(match[1]), match[2]


def _measure(value: Any, metric: str) -> float:
    """A bound in the unit that the metric's name ends in: "2Gbps" for goodput_mean_bps, "3ms" for fct_p99_s."""
    number, unit = _quantity(value, metric)
    if not unit:
        return number
    own = metric.rpartition("_")[2]
    scale = _SCALES.get(unit.removesuffix(own)) if unit.endswith(own) else None
    if scale is None:
        raise ValueError(f"objective: {metric} is in {own}, which {value!r} is not")
    return number * scale


def _duration(value: Any) -> float:
    number, unit = _quantity(value, "time")
    if unit not in _SECONDS or number <= 0:
        raise ValueError(f'budget: `time` is such as "10min", not {value!r}')
    return number * _SECONDS[unit]
