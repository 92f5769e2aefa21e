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
Part: TypeAlias = Mapping[str, str]
"""A part of a case: its name in each division. The whole case has none."""
Panel: TypeAlias = tuple[str, ...]
"""A panel: its value in each dimension of the panels."""
NO_PART: Part = {}

PARTS = ("group", "distance", "size", "layer")
"""The divisions of a case, besides the axes."""
IN_TIME = ("window", "subflow")
"""The divisions of metrics in windows of time: a window, and a subflow of a group in it."""
DIVISIONS = (*PARTS, *IN_TIME)
_DISTANCES = ("inner-rack", "inter-rack", "inter-pod")

_UNITS = {
    "ps": 1e-12, "ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0,
    "bps": 1.0, "kbps": 1e3, "Mbps": 1e6, "Gbps": 1e9, "Tbps": 1e12,
    "B": 1.0, "kB": 1e3, "MB": 1e6, "GB": 1e9, "KiB": 1024.0, "MiB": 1024.0**2, "GiB": 1024.0**3,
    "pkt": 1.0, "%": 0.01,
}  # fmt: skip


@dataclass(frozen=True)
class Slice:
    """A slice of `[measure.slices]`."""

    name: str
    of: Mapping[str, Any]
    """What it keeps: `group`, `size`, `distance`, `starts`."""


@dataclass(frozen=True)
class Chosen:
    """The cases of a figure."""

    cases: list[Case]
    by: tuple[str, ...]
    """The properties whose values get a colour each."""
    beside: tuple[str, ...]
    """The axis that the figure is drawn against."""
    panels: tuple[str, ...]
    """The other dimensions in which what is shown differs: each combination of their values is a panel."""
    parts: dict[str, list[str]]
    """By division of a case, the wanted parts."""
    listed: dict[str, list[str]]
    """By axis, the values that `where` lists, in its order."""
    slice: Slice | None = None
    """The slice of the flows that the figure is of; `None` if it is of all."""

    @property
    def divisions(self) -> tuple[str, ...]:
        """The divisions of the cases that the figure is about; empty if they are not divided."""
        named = (*self.by, *self.beside, *self.panels, *self.parts)
        return tuple(dict.fromkeys(name for name in named if name in DIVISIONS))

    def value(self, case: Case, axis: str, part: Part = NO_PART) -> str:
        """The value of a dimension. A scheme includes its number of subflows, unless the figure shows that separately."""
        if axis in DIVISIONS:
            return part.get(axis, "–")
        if axis != "scheme":
            return text(case.axes.get(axis))
        shown = (*self.by, *self.beside, *self.panels)
        return str(case.axes["scheme"]) if "subflows" in shown else case.scheme

    def series(self, case: Case, part: Part = NO_PART) -> str:
        """The name of the series of a case, or of a part of it."""
        return ", ".join(self.value(case, name, part) for name in self.by)

    def panel(self, case: Case, part: Part = NO_PART) -> Panel:
        """The panel of a case, or of a part of it."""
        return tuple(self.value(case, name, part) for name in self.panels)

    def order(self, dimension: str, values: Iterable[str]) -> list[str]:
        """Values of a dimension without duplicates: as `where` lists them, else numbers by size, else as they occur."""
        found = list(dict.fromkeys(values))
        listed = self.listed.get(dimension, self.parts.get(dimension, []))
        if len(listed) > 1:
            return sorted(found, key=lambda value: listed.index(value) if value in listed else len(listed))
        if dimension == "distance":
            return sorted(found, key=lambda value: _DISTANCES.index(value) if value in _DISTANCES else len(_DISTANCES))
        numbers = None if dimension in ("scheme", *DIVISIONS) else magnitudes(found)
        return found if numbers is None else sorted(found, key=numbers.__getitem__)

    def titled(self, panels: Iterable[Panel]) -> dict[Panel, str]:
        """The titles of panels, ordered by the values of their dimensions."""
        found = list(dict.fromkeys(panels))
        orders = [self.order(name, [own[i] for own in found]) for i, name in enumerate(self.panels)]
        found.sort(key=lambda own: [order.index(value) for order, value in zip(orders, own, strict=True)])
        said = [[(name, value) for name, value in zip(self.panels, own, strict=True) if value != "–"] for own in found]
        words = [[value if _speaks(name) else f"{name} {value}" for name, value in own] for own in said]
        return {own: ", ".join(title) for own, title in zip(found, words, strict=True)}


def choose(
    run: Run,
    by: By,
    where: Where | None,
    *,
    beside: Sequence[str] = (),
    panels: Sequence[str] = (),
    apart: bool = True,
    sliced: bool = False,
) -> Chosen:
    """The cases that `where` selects.

    Each value of `by` has a colour, each value of `beside` a place, and each value of `panels` a panel. `apart`: so has each
    value of the other axes in which cases differ that would be mixed otherwise. `sliced`: whether the figure can be of a
    slice.
    """
    if not run.cases:
        raise TresseError(f"no case of {run.folder} is complete yet")
    names = [by] if isinstance(by, str) else list(by)
    known = axes_of(run.cases)
    named = tuple(resolved(name, known) for name in names)
    other = tuple(resolved(name, known) for name in beside)
    wished = tuple(resolved(name, known) for name in panels)
    cases: list[Case] = run.cases
    parts: dict[str, list[str]] = {}
    listed: dict[str, list[str]] = {}
    part_of = None
    for name, wanted in (where or {}).items():
        if name == "slice":
            part_of = _slice(run, wanted, sliced=sliced)
            continue
        own = resolved(name, known)
        values = [text(value) for value in ([wanted] if _single(wanted) else wanted)]
        if own in DIVISIONS:
            parts[own] = values
            continue
        listed[own] = values
        kept = [case for case in cases if set(values) & names_of(case, own)]
        if not kept:
            there = dict.fromkeys(case.scheme if own == "scheme" else text(case.axes.get(own)) for case in cases)
            raise unknown(", ".join(sorted(values)), there, own)
        cases = kept
    dimensions = (*named, *other, *wished)
    unnamed = _mixed(cases, dimensions) if apart else []
    if "subflows" in unnamed:
        # A scheme is named with its subflows.
        unnamed.remove("subflows")
        if "scheme" not in (*dimensions, *unnamed):
            unnamed.insert(0, "scheme")
    return Chosen(cases, named, other, (*wished, *unnamed), parts, listed, part_of)


def _slice(run: Run, name: object, *, sliced: bool) -> Slice:
    """The slice of this name."""
    if not sliced:
        raise TresseError("this figure is of all flows, not of a slice", hint="leave `slice` out of `where`")
    known = run.experiment.get("measure", {}).get("slices", {})
    if not known:
        hint = "`[measure.slices]` defines them: `tresse explain slices`"
        raise TresseError(f"{run.folder}: its experiment defines no slices", hint=hint)
    if not isinstance(name, str):
        raise TresseError(f"`slice` is the name of one slice, not {name!r}", hint=f"there are {', '.join(known)}")
    if name not in known:
        raise unknown(name, known, "slice")
    return Slice(name, known[name])


def _mixed(cases: Sequence[Case], dimensions: Sequence[str]) -> list[str]:
    """The axes in which cases differ that are the same in these dimensions: such cases must not be mixed."""
    own = [name for name in dimensions if name not in DIVISIONS]
    groups: dict[tuple[str, ...], list[Case]] = {}
    for case in cases:
        of = (case.scheme if name == "scheme" and "subflows" not in own else text(case.axes.get(name)) for name in own)
        groups.setdefault(tuple(of), []).append(case)
    mixed = {
        axis
        for alike in groups.values()
        for axis in axes_of(alike)
        if len({text(case.axes.get(axis)) for case in alike}) > 1
    }
    return [axis for axis in axes_of(cases) if axis in mixed]


def axes_of(cases: Iterable[Case]) -> list[str]:
    """All axes of the cases, in their order."""
    return list(dict.fromkeys(axis for case in cases for axis in case.axes))


def resolved(name: str, axes: Sequence[str]) -> str:
    """The axis that is meant: both its key and its whole path name it."""
    last = name.rsplit(".", 1)[-1]
    if name in (*axes, *DIVISIONS):
        return name
    if last in axes:
        return last
    longer = [axis for axis in axes if axis.endswith(f".{name}")]
    if len(longer) == 1:
        return longer[0]
    raise unknown(name, [*axes, *DIVISIONS], "axis", of="in this run")


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
    return axis in ("scheme", "pattern", "variant", *PARTS, "window")


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


_UNIT_WORDS = {
    "pkt": "packets",
    "us": "µs",
    "bps": "bit/s",
    "kbps": "kbit/s",
    "Mbps": "Mbit/s",
    "Gbps": "Gbit/s",
    "Tbps": "Tbit/s",
}


def axis_title(axis: str, values: Sequence[str]) -> tuple[str, dict[str, str]]:
    """The title of an axis of these values, with the unit that they share; and what a tick says of each value.

    `10pkt` and `40pkt` of `mark` are 10 and 40 on `mark (packets)`; `10-flows` is 10 on `flows`.
    """
    name = axis if "." in axis else axis.replace("_", " ")
    found = [re.fullmatch(r"(-?\d+(?:\.\d+)?) ?([A-Za-zµ%]+)", value) for value in values]
    (unit, *others) = {own[2] if own else "" for own in found} or {""}
    if not others and unit in _UNITS:
        numbers = {value: own[1] for value, own in zip(values, found, strict=True) if own}
        return f"{name} ({_UNIT_WORDS.get(unit, unit)})", numbers
    word, numbers = _counted(values)
    return word or name, numbers


def _counted(values: Sequence[str]) -> tuple[str, dict[str, str]]:
    """The word that all values share, such as `flows` in `10-flows`, and the number of each; empty if there is none."""
    found = [re.fullmatch(r"(\D*?)[- ]?(-?\d+(?:\.\d+)?)[- ]?(\D*)", value) for value in values]
    whole = {value: value for value in values}
    if not values or not all(own and not (own[1] and own[3]) for own in found):
        return "", whole
    words = [own[1] or own[3] for own in found if own]
    alike = {word.removesuffix("s") for word in words}
    if len(alike) != 1 or not words[0] or words[0] in _UNITS:
        return "", whole
    numbers = {value: own[2] for value, own in zip(values, found, strict=True) if own}
    return max(words, key=len).replace("-", " "), numbers
