"""Numbers with their units, in which the names of metrics and columns end, and names in words, as on the page."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass

THIN = "\u202f"

_TIMES = [(1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")]
_RATES = [(1e12, "Tbit/s"), (1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s"), (1.0, "bit/s")]
_SIZES = [(1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B")]
_STEPS = {
    "s": _TIMES,
    "ps": [(factor * 1e12, unit) for factor, unit in _TIMES],
    "bps": _RATES,
    "bytes": _SIZES,
    "pkts": [(1.0, "packets")],
}

_STEMS = {
    "goodput": "goodput",
    "fct": "FCT",
    "jct": "job completion time",
    "rtt": "RTT",
    "srtt": "smoothed RTT",
    "cwnd": "window",
    "jain": "Jain’s index",
    "queue": "queue length",
    "waiting": "queue length",
    "utilisation": "utilisation",
    "slowdown": "slowdown",
    "convergence": "convergence time",
    "size": "flow size",
    "goodput_distance": "distance from the optimum",
    "utility_distance": "loss of utility",
    "goodput_total": "total goodput",
    "goodput_sd": "unsteadiness of goodput",
    "job_deadline_miss": "late jobs",
    "deadline_miss": "missed deadlines",
    "timeouts": "timeouts",
    "retransmissions": "retransmissions",
    "subflows_opened": "opened subflows",
    "sharing_f": "F of path sharing",
    "sharing_precision": "precision of path sharing",
    "sharing_recall": "recall of path sharing",
}
_PARTS = {"mean": "mean", "min": "least", "max": "most"}
_SHARE = re.compile("utilisation|miss|offered")


@dataclass(frozen=True)
class Scale:
    """How values of one name are written: `value / factor` with this many decimals, then the unit, which may be empty."""

    factor: float
    unit: str
    decimals: int


def unit_key(name: str) -> str:
    """The part of a name that is the unit: bps, s, ps, pkts, bytes, ratio, or nothing."""
    end = name.rsplit("_", 1)[-1]
    return end if end != name and end in (*_STEPS, "ratio") else ""


def is_share(name: str) -> bool:
    """Whether it is written as a percentage."""
    return unit_key(name) == "ratio" and _SHARE.search(name) is not None


def scale_for(name: str, size: float) -> Scale:
    """The scale in which a value of this size reads well: with four figures."""
    if is_share(name):
        return Scale(0.01, "%", 1)
    steps = _STEPS.get(unit_key(name), [(1.0, "")])
    factor, unit = next((step for step in steps if abs(size) >= step[0]), steps[-1])
    return Scale(factor, unit, _decimals(size / factor, 4))


def scale_of(name: str, values: Iterable[float | None]) -> Scale:
    """The scale of several values together: that of their median size."""
    known = [value for value in values if value is not None and math.isfinite(value)]
    sizes = sorted(abs(value) for value in known if value != 0)
    scale = scale_for(name, sizes[len(sizes) // 2] if sizes else 0.0)
    whole = scale.factor == 1 and all(float(value).is_integer() for value in known)
    return Scale(scale.factor, scale.unit, 0) if whole else scale


def _decimals(value: float, figures: int) -> int:
    if value == 0 or not math.isfinite(value):
        return 0
    return max(0, min(9, figures - 1 - math.floor(math.log10(abs(value)))))


def _plain(value: float, decimals: int) -> str:
    text = f"{abs(value):.{decimals}f}"
    whole, _, part = text.partition(".")
    if len(whole) > 4:
        whole = f"{int(whole):,}".replace(",", THIN)
    sign = "−" if value < 0 and float(text) != 0 else ""
    return sign + whole + (f".{part}" if part else "")


def scaled(value: float | None, scale: Scale) -> str:
    """A value in a scale, without the unit; an en dash if it is missing."""
    if value is None or math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    return _plain(value / scale.factor, scale.decimals)


def formatted(name: str, value: float | None, figures: int = 4) -> str:
    """A single value with its unit: `513.6 Mbit/s`."""
    if value is None or not math.isfinite(value):
        return scaled(value, Scale(1, "", 0))
    scale = scale_for(name, value)
    own = value / scale.factor
    text = _plain(own, _decimals(own, figures))
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return f"{text} {scale.unit}" if scale.unit else text


def ratio(value: float) -> str:
    """A ratio: two decimals, unless it is close to zero or large."""
    return _plain(value, 3 if abs(value) < 0.1 else 2 if abs(value) < 10 else 1)


def named(name: str) -> str:
    """A metric or a column in words: `goodput_p10_bps` → `goodput, 10th percentile`.

    Of a slice: `small-web.fct_p99_s` → `FCT of small web flows, 99th percentile`.
    """
    of, own = _sliced(name)
    stem, part = _cut(own)
    percent = re.fullmatch(r"p(\d+)", part)
    words = _PARTS.get(part, "")
    if percent:
        words = "median" if percent[1] == "50" else f"{percent[1]}th percentile"
    told = f"optimal {_words(stem)}" if of == "optimum" else f"{_words(stem)} of {of} flows" if of else _words(stem)
    return f"{told}, {words}" if words else told


def short(name: str) -> str:
    """The same for table heads: `goodput p10`, `small web FCT p99`."""
    of, own = _sliced(name)
    stem, part = _cut(own)
    return f"{of} {_words(stem)} {part}".strip()


def _sliced(name: str) -> tuple[str, str]:
    """The slice of a metric in words, and the metric's own name."""
    of, dot, own = name.partition(".")
    return (re.sub("[-_]", " ", of), own) if dot else ("", name)


def _cut(name: str) -> tuple[str, str]:
    key = unit_key(name)
    stem = name[: -len(key) - 1] if key else name
    end = re.fullmatch(r"(.+)_(mean|min|max|p\d+)", stem)
    return (end[1], end[2]) if end else (stem, "")


def _words(stem: str) -> str:
    return _STEMS.get(stem, stem.replace("_", " "))


def capitalised(text: str) -> str:
    """With a capital first letter."""
    return text[:1].upper() + text[1:]


def axis_title(name: str, scale: Scale | None = None) -> str:
    """A name in words with the unit of a scale: `Goodput (Mbit/s)`."""
    unit = f" ({scale.unit})" if scale and scale.unit else ""
    return capitalised(named(name)) + unit
