"""What is compared: the same few numbers of both simulators, over the same window of time."""

from __future__ import annotations

from dataclasses import dataclass

# The layers whose ports are compared.
LAYERS = ("bottleneck", "aggregation", "core")
# Ports that carry less than this share of their rate carry only ACKs, or nothing, and are left out.
DATA = 0.05


@dataclass(frozen=True)
class Port:
    """A port of a switch, in the window."""

    layer: str
    rate_bps: float
    carried_bytes: int
    drops: int
    looks: list[int]  # how often this many packets waited, by their number


@dataclass(frozen=True)
class Measured:
    """One run, in the window."""

    goodput_total_bps: int
    jain_ratio: float
    queue_mean_pkts: float
    queue_p99_pkts: int
    marks: int
    drops: int
    timeouts: int
    goodput_bps: list[int]  # of each flow


def measured(received_bytes: list[int], ports: list[Port], marks: int, timeouts: int, seconds: float) -> Measured:
    """Sums up a run from what its flows received, its ports, marked packets and timeouts in the window."""
    rates = [round(8 * count / seconds) for count in received_bytes]
    busy = [p for p in ports if p.layer in LAYERS and 8 * p.carried_bytes > DATA * p.rate_bps * seconds]
    longest = max(len(p.looks) for p in busy)
    looks = [sum(p.looks[length] for p in busy if length < len(p.looks)) for length in range(longest)]
    return Measured(
        goodput_total_bps=sum(rates),
        jain_ratio=round(sum(rates) ** 2 / (len(rates) * sum(r * r for r in rates)), 4),
        queue_mean_pkts=round(sum(length * count for length, count in enumerate(looks)) / sum(looks), 3),
        queue_p99_pkts=percentile(looks, 0.99),
        marks=marks,
        drops=sum(p.drops for p in busy),
        timeouts=timeouts,
        goodput_bps=rates,
    )


def percentile(looks: list[int], share: float) -> int:
    """The shortest length that at least this share of the looks do not exceed."""
    seen = 0
    for length, count in enumerate(looks):
        seen += count
        if seen >= share * sum(looks):
            return length
    raise ValueError("nobody looked")
