"""What an agent sees of its subflow, and the reward of a round."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Row: TypeAlias = Sequence[float]
"""A row of `_native.Environment`, one subflow in one step."""


@dataclass(frozen=True)
class Round:
    """One subflow in one step."""

    begun: bool
    """Its flow has started."""
    ended: bool
    """Its flow has ended."""
    length: float
    """The length of the step, seconds."""
    delivered: float
    """Full packets of payload that arrived."""
    sent: int
    """Packets sent for the first time."""
    marks: int
    """CE marks that came back."""
    retransmissions: int
    """Packets sent again."""
    timeouts: int
    """Retransmission timeouts."""
    srtt: float
    """The smoothed RTT, seconds; 0: not known yet."""
    min_rtt: float
    """The smallest RTT so far, seconds; 0: not known yet."""
    cwnd: int
    """The window, packets; 0: the subflow is not open."""
    in_flight: int
    """Packets in flight."""
    goodput_bps: float
    """Payload that arrived over the step's length, bits per second."""

    @classmethod
    def of(cls, row: Row, length: float, mss: int) -> Round:
        """From a native row; `mss` is a full packet's payload, bytes."""
        begun, ended, arrived, sent, marks, again, timeouts, srtt, least, cwnd, in_flight = row
        rate = arrived * 8 / length if length > 0 else 0.0
        return cls(
            bool(begun),
            bool(ended),
            length,
            arrived / mss,
            int(sent),
            int(marks),
            int(again),
            int(timeouts),
            srtt,
            least,
            int(cwnd),
            int(in_flight),
            rate,
        )


Reward: TypeAlias = Callable[[Round], float]
"""The reward of a step for an agent."""


def utility(own: Round) -> float:
    """The natural logarithm of the goodput (1 + Mbit/s), minus half of the queueing delay in units of the smallest RTT.

    Half of the marked share of the delivered packets is subtracted too.
    """
    delay = own.srtt / own.min_rtt - 1 if own.min_rtt > 0 else 0.0
    marked = min(own.marks / own.delivered, 1.0) if own.delivered > 0 else 0.0
    return math.log1p(own.goodput_bps / 1e6) - 0.5 * max(delay, 0.0) - 0.5 * marked


FEATURES: dict[str, str] = {
    "delivered": "full packets of payload that arrived in the step, log2(1 + n) / 20",
    "marked": "marks that came back over packets delivered, 0 to 1",
    "retransmitted": "packets sent again over packets sent, 0 to 1",
    "timeouts": "1 if a retransmission timeout fell into the step",
    "srtt": "smoothed RTT, log2(1 + microseconds) / 24",
    "min_rtt": "smallest RTT so far, log2(1 + microseconds) / 24",
    "queueing": "1 - smallest RTT / smoothed RTT: the share of the RTT that is queueing, 0 to 1",
    "cwnd": "window, log2(1 + packets) / 20",
    "in_flight": "packets in flight, log2(1 + packets) / 20",
    "goodput": "payload that arrived over the step's length, log2(1 + kbit/s) / 30",
}
"""The numbers that an agent sees of a subflow, in this order, each between 0 and 1; all are 0 before it is open."""


def features(own: Round) -> NDArray[np.float32]:
    """The normalised numbers of `FEATURES`."""
    queueing = 1 - own.min_rtt / own.srtt if own.srtt > 0 and own.min_rtt > 0 else 0.0
    values = [
        math.log2(1 + own.delivered) / 20,
        own.marks / max(own.delivered, own.marks, 1),
        own.retransmissions / max(own.sent + own.retransmissions, 1),
        float(own.timeouts > 0),
        math.log2(1 + own.srtt * 1e6) / 24,
        math.log2(1 + own.min_rtt * 1e6) / 24,
        queueing,
        math.log2(1 + own.cwnd) / 20,
        math.log2(1 + own.in_flight) / 20,
        math.log2(1 + own.goodput_bps / 1e3) / 30,
    ]
    return np.clip(np.array(values, dtype=np.float32), 0, 1)


HALVES = 1 << 32
"""With this, marks and losses halve the window; without it, they leave the window to the agent."""


def action(kind: str, value: float, cwnd: int) -> tuple[int, int]:
    """Turns a number from -1 to 1 into the input of `_native.step_all`: a window (-1: unchanged) and its own growth.

    "factor": the window times 2 ** value. "window": 1024 ** ((value + 1) / 2), so 1 to 1024 packets. "increase": a round
    adds 16 (value + 1) packets, 0 to 32, after a slow start, and a mark or a loss halves the window, once a round.
    """
    value = min(max(value, -1.0), 1.0)
    if kind == "increase":
        return -1, round(16 * (value + 1) * 256) | HALVES
    window = cwnd * 2.0**value if kind == "factor" else 1024 ** ((value + 1) / 2)
    return max(1, round(window)), 0
