"""Cases and how they differ: which of them a figure shows, and what gets its own colour or panel."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from tresse.errors import TresseError
from tresse.plot.errors import unknown

if TYPE_CHECKING:
    from tresse.runs import Case, Run

By: TypeAlias = str | Sequence[str]
Where: TypeAlias = Mapping[str, Any]

PARTS = ("group", "distance", "size", "layer")
"""The divisions of a case, besides the axes."""

_UNITS = {
    "ps": 1e-12, "ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0,
    "bps": 1.0, "kbps": 1e3, "Mbps": 1e6, "Gbps": 1e9, "Tbps": 1e12,
    "B": 1.0, "kB": 1e3, "MB": 1e6, "GB": 1e9, "KiB": 1024.0, "MiB": 1024.0**2, "GiB": 1024.0**3,
    "pkt": 1.0, "%": 0.01,
}  # fmt: skip


@dataclass(frozen=True)
class Chosen:
    """The cases of a figure."""

    cases: list[Case]
    by: tuple[str, ...]
    """The properties whose values get a colour each."""
    beside: tuple[str, ...]
    """The axis that the figure is drawn against."""
    panels: tuple[str, ...]
    """The other axes in which cases differ: each combination of their values is a panel."""
    parts: dict[str, set[str]]
    """By division of a case, the wanted parts."""

    @property
    def part(self) -> str | None:
        """The division of the cases; None if they are not divided."""
        return next((name for name in (*self.by, *self.beside, *self.parts) if name in PARTS), None)

    def value(self, case: Case, axis: str) -> str:
        """The value of an axis. A scheme includes its number of subflows, unless the figure shows that number separately."""
        if axis != "scheme":
            return text(case.axes.get(axis))
        return str(case.axes["scheme"]) if "subflows" in (*self.by, *self.beside) else case.scheme

    def series(self, case: Case, part: str | None = None) -> str:
        """The name of the series of a case, or of a part of it."""
        return ", ".join((part or "") if name in PARTS else self.value(case, name) for name in self.by)

    def panel(self, case: Case) -> str:
        """The name of the panel of a case."""
        own = [(axis, self.value(case, axis)) for axis in self.panels]
        named = [value if _speaks(axis) else f"{axis} {value}" for axis, value in own if value != "–"]
        return ", ".join(named)

    def in_order(self, panels: Iterable[str]) -> list[str]:
        """These panels without duplicates, ordered by the values of their axes as they occur."""
        values = [list(dict.fromkeys(self.value(case, axis) for case in self.cases)) for axis in self.panels]
        places = {
            self.panel(case): [own.index(self.value(case, axis)) for axis, own in zip(self.panels, values, strict=True)]
            for case in self.cases
        }
        return sorted(dict.fromkeys(panels), key=places.__getitem__)


def choose(run: Run, by: By, where: Where | None, *, beside: Sequence[str] = ()) -> Chosen:
    """The cases that `where` selects; each value of `by` has a colour, and each value of `beside` a place."""
    if not run.cases:
        raise TresseError(f"no case of {run.folder} is complete yet")
    names = [by] if isinstance(by, str) else list(by)
    known = axes_of(run.cases)
    named = tuple(resolved(name, known) for name in names)
    other = tuple(resolved(name, known) for name in beside)
    cases: list[Case] = run.cases
    parts: dict[str, set[str]] = {}
    for name, wanted in (where or {}).items():
        own = resolved(name, known)
        values = {text(value) for value in ([wanted] if _single(wanted) else wanted)}
        if own in PARTS:
            parts[own] = values
            continue
        kept = [case for case in cases if values & names_of(case, own)]
        if not kept:
            there = dict.fromkeys(case.scheme if own == "scheme" else text(case.axes.get(own)) for case in cases)
            raise unknown(", ".join(sorted(values)), there, own)
        cases = kept
    apart = [axis for axis in known if len({text(case.axes.get(axis)) for case in cases}) > 1]
    unnamed = [axis for axis in apart if axis not in (*named, *other)]
    if "subflows" in unnamed:
        # A scheme is named with its subflows.
        unnamed.remove("subflows")
        if "scheme" not in (*named, *other, *unnamed):
            unnamed.insert(0, "scheme")
    return Chosen(cases, named, other, tuple(unnamed), parts)


def axes_of(cases: Iterable[Case]) -> list[str]:
    """All axes of the cases, in their order."""
    return list(dict.fromkeys(axis for case in cases for axis in case.axes))


def resolved(name: str, axes: Sequence[str]) -> str:
    """The axis that is meant: both its key and its whole path name it."""
    last = name.rsplit(".", 1)[-1]
    if name in (*axes, *PARTS):
        return name
    if last in axes:
        return last
    longer = [axis for axis in axes if axis.endswith(f".{name}")]
    if len(longer) == 1:
        return longer[0]
    raise unknown(name, [*axes, *PARTS], "axis", of="in this run")


def text(value: object) -> str:
    """A value of an axis in words."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)


def names_of(case: Case, axis: str) -> set[str]:
    """The possible names of an axis value: a scheme with or without its subflows."""
    own = {text(case.axes.get(axis))}
    return own | {case.scheme} if axis == "scheme" else own


def _single(value: object) -> bool:
    return isinstance(value, str | bool | int | float) or value is None


def _speaks(axis: str) -> bool:
    return axis in ("scheme", "pattern", "variant")


def magnitude(value: str) -> float | None:
    """The number that a value is, has with a unit (`10pkt`, `200ms`), or ends in (`xmp-4`); None if there is none."""
    with_unit = re.fullmatch(r"(-?\d+(?:\.\d+)?(?:e-?\d+)?)\s*([A-Za-zµ%]*)", value)
    if with_unit and (with_unit[2] == "" or with_unit[2] in _UNITS):
        return float(with_unit[1]) * _UNITS.get(with_unit[2], 1.0)
    end = re.search(r"(\d+(?:\.\d+)?)$", value)
    return float(end[1]) if end else None


def magnitudes(values: Sequence[str]) -> dict[str, float] | None:
    """The numbers of the values of an axis, including those before a word (`10-flows`).

    None if some have no number, or if two are equal.
    """
    leading = [re.fullmatch(r"(-?\d+(?:\.\d+)?)[- ]?(\D*)", value) for value in values]
    words = {found[2].removesuffix("s") if found else "" for found in leading}
    numbers: list[float | None]
    if all(leading) and len(words) == 1 and not words & set(_UNITS):
        numbers = [float(found[1]) if found else None for found in leading]
    else:
        numbers = [magnitude(value) for value in values]
    known = {value: number for value, number in zip(values, numbers, strict=True) if number is not None}
    return known if len(set(known.values())) == len(set(values)) else None
