"""Rows of a run's tables as numbers: the quantities of figures, and the case of each row."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tresse.errors import TresseError
from tresse.plot.cases import Chosen, Panel, Slice, axes_of, magnitude, text
from tresse.plot.errors import pyarrow, unknown
from tresse.plot.stats import Numbers

if TYPE_CHECKING:
    from tresse.runs import Case, Run
    from tresse.tables import Table

Places: TypeAlias = NDArray[np.int64]
SECOND = 1e12
SIZES = (("up to 10kB", 1e4), ("10kB to 100kB", 1e5), ("100kB to 1MB", 1e6), ("above 1MB", np.inf))
"""Size classes, up to this many bytes."""
CLASSES = (
    ("up to 10kB", -1.0, 1e4),
    ("10kB to 100kB", 1e4, 1e5),
    ("100kB to 1MB", 1e5, 1e6),
    ("above 1MB", 1e6, np.inf),
    ("up to 100kB", -1.0, 1e5),
    ("above 10MB", 1e7, np.inf),
)
"""All size classes, above the first and up to the second number of bytes; the last two repeat flows of others."""
_COLUMNS = {"group": ("group", "part"), "distance": ("locality",), "layer": ("layer",)}
"""By division, the columns that have it: that of flows, and that of jobs."""


class Columns:
    """The columns of a table as numpy arrays."""

    def __init__(self, table: Table) -> None:
        self.name = table.name
        self._table = pyarrow().table(table)
        self.names: list[str] = self._table.column_names
        self.rows: int = self._table.num_rows

    def number(self, name: str) -> Numbers:
        """A column of numbers; NaN where there is none."""
        values: Numbers = np.asarray(self._table.column(name).to_numpy(), dtype=np.float64)
        return values

    def text(self, name: str) -> tuple[Places, list[str]]:
        """A column as indexes into the list of its values, which are words."""
        column = self._table.column(name).combine_chunks()
        if hasattr(column, "combine_chunks"):
            column = column.combine_chunks()
        encoded = column.dictionary_encode(null_encoding="encode")
        places = np.asarray(encoded.indices.to_numpy(zero_copy_only=False), dtype=np.int64)
        return places, [text(value) for value in encoded.dictionary.to_pylist()]

    def is_number(self, name: str) -> bool:
        """Whether it is a column of numbers."""
        kind = self._table.schema.field(name).type
        types = pyarrow().types
        return bool(types.is_integer(kind) or types.is_floating(kind))

    def case_of(self, cases: Sequence[Case]) -> Places:
        """The index in `cases` of each row's case; -1 if it has none."""
        axes = [axis for axis in axes_of(cases) if axis in self.names]
        combined: Places = np.zeros(self.rows, dtype=np.int64)
        codes = []
        for axis in axes:
            places, words = self.text(axis)
            combined = combined * len(words) + places
            codes.append((axis, words))
        distinct, back = np.unique(combined, return_inverse=True)
        found = [self._case(int(own), codes, cases) for own in distinct]
        return np.asarray(found, dtype=np.int64)[back]

    @staticmethod
    def _case(combined: int, codes: list[tuple[str, list[str]]], cases: Sequence[Case]) -> int:
        values: dict[str, str] = {}
        for axis, words in reversed(codes):
            combined, place = divmod(combined, len(words))
            values[axis] = words[place]
        for place, case in enumerate(cases):
            if all(_same(text(case.axes.get(axis)), value) for axis, value in values.items()):
                return place
        return -1

    def parts(self, part: str) -> tuple[Places, list[str]]:
        """By division of cases, the part that each row belongs to."""
        if part == "size" and "size_bytes" in self.names:
            bounds = [most for _, most in SIZES[:-1]]
            sizes = self.number("size_bytes")
            places = np.searchsorted(np.asarray(bounds), sizes, side="left").astype(np.int64)
            return np.where(np.isnan(sizes), len(SIZES), places), [*(name for name, _ in SIZES), "–"]
        there = {own: column for own, columns in _COLUMNS.items() for column in columns if column in self.names}
        if part in there:
            return self.text(there[part])
        raise unknown(part, there, "part", of=f"in {self.name}")


def _same(left: str, right: str) -> bool:
    if left == right:
        return True
    try:
        return float(left) == float(right)
    except ValueError:
        return False


@dataclass(frozen=True)
class Quantity:
    """A quantity of which a table has a value in each row."""

    table: str
    of: str
    """The things that have one value each, in words."""
    values: Callable[[Columns], Numbers]
    log: bool = False
    """Whether its values spread over decades."""
    weights: str | None = None
    """The column that says how often each value occurs."""


def _column(name: str, factor: float = 1.0) -> Callable[[Columns], Numbers]:
    return lambda columns: columns.number(name) * factor


def _completion(columns: Columns) -> Numbers:
    """The time from the start of a finished flow to the arrival of its last byte."""
    return np.where(np.isnan(columns.number("end_ps")), np.nan, columns.number("lasted_ps")) / SECOND


def _slowdown(columns: Columns) -> Numbers:
    ideal = columns.number("ideal_ps") / SECOND
    ratio = _completion(columns) / np.where(ideal > 0, ideal, np.nan)
    slowdowns: Numbers = np.maximum(ratio, 1.0)
    return slowdowns


def _window(columns: Columns) -> Numbers:
    rounds = columns.number("rounds")
    return columns.number("windows_pkts") / np.where(rounds > 0, rounds, np.nan)


def _job(columns: Columns) -> Numbers:
    return (columns.number("end_ps") - columns.number("start_ps")) / SECOND


def _rtt(columns: Columns) -> Numbers:
    least, most = columns.number("least_ps"), columns.number("most_ps")
    return (least + np.ceil((most - least) / 2)) / SECOND


def utilisation(columns: Columns) -> Numbers:
    """The data that a port admitted over the data that its link can carry in the run."""
    capacity = columns.number("rate_bps") * columns.number("duration_ps") / (8 * SECOND)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = columns.number("carried_bytes") / capacity
    return np.where(capacity > 0, np.minimum(share, 1.0), 0.0)


QUANTITIES = {
    "goodput_bps": Quantity("flows", "flows", _column("goodput_bps")),
    "fct_s": Quantity("flows", "flows", _completion, log=True),
    "slowdown_ratio": Quantity("flows", "flows", _slowdown, log=True),
    "size_bytes": Quantity("flows", "flows", _column("size_bytes"), log=True),
    "retransmissions_pkts": Quantity("flows", "flows", _column("retransmissions")),
    "timeouts": Quantity("flows", "flows", _column("timeouts")),
    "cwnd_pkts": Quantity("flows", "flows", _window),
    "jct_s": Quantity("jobs", "jobs", _job),
    "rtt_s": Quantity("rtts", "ACKs", _rtt, weights="count"),
    "queue_pkts": Quantity("lengths", "observations of queues", _column("waiting_pkts"), weights="count"),
    "utilisation_ratio": Quantity("links", "ports", utilisation),
    "drops_pkts": Quantity("links", "ports", _column("drops")),
    "marks_pkts": Quantity("links", "ports", _column("marks")),
    "convergence_s": Quantity("convergence", "subflows", _column("converged_ps", 1 / SECOND)),
}


def quantity(run: Run, name: str) -> tuple[Quantity, Columns]:
    """The quantity of this name, or the column of the flows, with its table."""
    known = QUANTITIES.get(name)
    if known is not None:
        return known, Columns(run.table(known.table))
    flows = Columns(run.table("flows"))
    numbers = [own for own in flows.names if flows.is_number(own)]
    if name not in numbers:
        raise unknown(name, [*QUANTITIES, *(own for own in numbers if own not in QUANTITIES)], "quantity")
    return Quantity("flows", "flows", _column(name)), flows


@dataclass(frozen=True)
class Series:
    """The rows of a table that are drawn in one colour in one panel, at one place."""

    panel: Panel
    name: str
    x: str
    """The value of the dimension along which the panel is divided; empty if there is none."""
    mask: NDArray[np.bool_]


def series(columns: Columns, chosen: Chosen) -> list[Series]:
    """The rows of each panel, series and place, in the order of the cases and parts."""
    case_of = columns.case_of(chosen.cases)
    if chosen.slice is not None:
        case_of = np.where(_in_slice(columns, chosen.slice), case_of, -1)
    divided = [(name, *_division(columns, name, chosen.parts.get(name))) for name in chosen.divisions]
    found: dict[tuple[Panel, str, str], Any] = {}
    for place, case in enumerate(chosen.cases):
        of_case = case_of == place
        for words in itertools.product(*(words for _, _, words in divided)):
            mask = of_case.copy()
            for word, (_, places, all_words) in zip(words, divided, strict=True):
                mask &= places == all_words.index(word)
            if not mask.any():
                continue
            part = {name: word for word, (name, _, _) in zip(words, divided, strict=True)}
            x = ", ".join(chosen.value(case, name, part) for name in chosen.beside)
            key = (chosen.panel(case, part), chosen.series(case, part), x)
            found[key] = found[key] | mask if key in found else mask
    return [Series(panel, name, x, mask) for (panel, name, x), mask in found.items()]


def _in_slice(columns: Columns, own: Slice) -> NDArray[np.bool_]:
    """The flows that a slice keeps."""
    if columns.name != "flows":
        raise TresseError(f"a slice is of flows, and {columns.name} has none", hint="leave `slice` out of `where`")
    mask = np.ones(columns.rows, dtype=bool)
    for division in ("group", "distance"):
        if division in own.of:
            places, words = columns.parts(division)
            mask &= places == (words.index(own.of[division]) if own.of[division] in words else -1)
    if "size" in own.of:
        low, high = _bytes_of(own.of["size"])
        sizes = columns.number("size_bytes")
        mask &= (sizes > low) & (sizes <= high)
    if "starts" in own.of:
        first, end = (SECOND * _quantity(text) for text in own.of["starts"])
        starts = columns.number("start_ps")
        mask &= (starts >= first) & (starts < end)
    return mask


def _bytes_of(sizes: str) -> tuple[float, float]:
    """The bounds of `up to 100kB`, `10kB to 1MB` or `above 1MB`, bytes."""
    if sizes.startswith("up to "):
        return 0.0, _quantity(sizes.removeprefix("up to "))
    if sizes.startswith("above "):
        return _quantity(sizes.removeprefix("above ")), math.inf
    low, high = sizes.split(" to ")
    return _quantity(low), _quantity(high)


def _quantity(text: str) -> float:
    """The number of a text such as `100kB` or `5ms`, in bytes or seconds."""
    number = magnitude(text.strip())
    if number is None:
        raise TresseError(f"{text!r} is not a size or a time")
    return number


def _division(columns: Columns, name: str, wanted: list[str] | None) -> tuple[Places, list[str]]:
    """The wanted parts of a division, and the part of each row, -1 if it has none of them."""
    if name == "size" and wanted is not None and "size_bytes" in columns.names:
        # Classes overlap: the wanted ones decide which of them a row is in.
        sizes = columns.number("size_bytes")
        classes = [(own, low, high) for own, low, high in CLASSES if own in wanted]
        if not classes:
            raise unknown(", ".join(wanted), [own for own, _, _ in CLASSES], "size")
        places = np.full(columns.rows, -1, dtype=np.int64)
        for place, (_, low, high) in reversed(list(enumerate(classes))):
            places[(sizes > low) & (sizes <= high)] = place
        return places, [own for own, _, _ in classes]
    places, words = columns.parts(name)
    if wanted is None:
        return places, words
    if not set(wanted) & set(words):
        raise unknown(", ".join(wanted), words, name)
    return np.array([word in wanted for word in words])[places] * (places + 1) - 1, words
