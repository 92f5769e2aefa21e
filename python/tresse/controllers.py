"""Controllers on their own: their windows after a script of ACKs, marks and losses, or ACK by ACK."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Literal

from tresse import _native

State = Literal["open", "disorder", "cwr", "recovery", "loss"]


@dataclass(frozen=True)
class Parameter:
    """A parameter of a controller."""

    name: str
    value: int
    default: int
    min: int
    max: int
    unit: str
    meaning: str


@dataclass(frozen=True)
class Step:
    """A subflow after an event. Windows are in packets; `ssthresh` is None before the first cut."""

    event: str
    """The kind of event; an ACK whose mark cut the window is a "mark"."""
    subflow: int
    cwnd: int
    ssthresh: int | None
    state: State


class Steps(list[Step]):
    """Steps. A notebook shows them as a table; `polars.DataFrame(steps)` and `pandas.DataFrame(steps)` make one too."""

    def _repr_html_(self) -> str:
        from tresse import html

        return html.steps_html(self)


@dataclass(frozen=True)
class Subflow:
    """A subflow as its controller sees it. Windows are in packets, times in seconds (None: unknown)."""

    cwnd: int
    ssthresh: int | None
    srtt_s: float | None
    min_rtt_s: float | None
    word: int
    """The value that it publishes to its siblings; each controller gives it its own meaning."""
    state: State


class Controller:
    """A built-in controller, or one that a C file declares, with values for its parameters.

    A C file is compiled with the system's `cc` to native code that runs with your rights: use only what you trust.
    """

    def __init__(self, controller: str | os.PathLike[str], **parameters: int) -> None:
        self._native = _native.Controller(os.fspath(controller), parameters)

    @property
    def name(self) -> str:
        """Its name in `tresse list controllers`."""
        return self._native.name

    @property
    def title(self) -> str:
        """A one-line description."""
        return self._native.title

    @property
    def source(self) -> str:
        """The paper and the equations."""
        return self._native.source

    @property
    def coupled(self) -> bool:
        """Whether it takes its siblings into account."""
        return self._native.coupled

    @property
    def parameters(self) -> list[Parameter]:
        """Its parameters and the values that they have here."""
        return [Parameter(**own) for own in self._native.parameters]

    def trace(self, script: str, *, initial_window: int = 10) -> Steps:
        """Plays a script as `tresse controller trace` does (see its help for the events); returns a step for each event.

        `initial_window`: of every subflow, packets. A C file first runs in a separate process, so that a hook that
        divides by 0 or never returns is an error and does not end this process.
        """
        return Steps(Step(**own) for own in self._native.trace(script, initial_window))

    def group(self, subflows: int = 2, *, initial_window: int = 10) -> Group:
        """The controllers of one connection with this many subflows."""
        return Group(self, subflows, initial_window=initial_window)

    def __repr__(self) -> str:
        values = ", ".join(f"{own.name}={own.value}" for own in self.parameters)
        return f"Controller({self.name!r}{', ' if values else ''}{values})"


class Group:
    """One connection's subflows, driven from outside event by event.

    The host is the one of `Controller.trace`: it has no packets, a round is a window of ACKed packets, and a reduction
    lasts until one window is ACKed. A C file's hooks run in this process: a hook that divides by 0 ends it.
    """

    def __init__(
        self, controller: Controller | str | os.PathLike[str], subflows: int = 2, *, initial_window: int = 10
    ) -> None:
        own = controller if isinstance(controller, Controller) else Controller(controller)
        self.controller = own
        self._native = _native.Group(own._native, subflows, initial_window)

    def __len__(self) -> int:
        return self._native.subflows

    @property
    def subflows(self) -> list[Subflow]:
        """The subflows as they are now."""
        return [self._subflow(place) for place in range(len(self))]

    def _subflow(self, place: int) -> Subflow:
        own = self._native.subflow(place)
        return Subflow(
            cwnd=own["cwnd"],
            ssthresh=own["ssthresh"],
            srtt_s=own["srtt"] / 8e6 if own["srtt"] else None,
            min_rtt_s=own["min_rtt"] / 8e6 if own["min_rtt"] else None,
            word=own["word"],
            state=own["state"],
        )

    def play(self, script: str) -> Steps:
        """Plays the lines of a script; returns a step for each event."""
        return Steps(Step(**own) for own in self._native.play(script))

    def ack(
        self, subflow: int = 0, packets: int = 1, *, marked: int = 0, rtt: str | None = None, limited: bool = True
    ) -> Step:
        """An ACK of `packets` packets, of which `marked` were CE-marked.

        `rtt`: the sample, such as "100us" (default: the last one, at first 100 us). `limited`: whether the window was the
        limit; if the application was, the window does not rise.
        """
        words = f"ack {packets} marked={marked} subflow={subflow}"
        words += f" rtt={rtt}" if rtt is not None else ""
        return self._one(words + ("" if limited else " limited=no"))

    def loss(self, subflow: int = 0) -> Step:
        """A loss signalled by duplicate ACKs."""
        return self._one(f"loss subflow={subflow}")

    def timeout(self, subflow: int = 0) -> Step:
        """A retransmission timeout."""
        return self._one(f"timeout subflow={subflow}")

    def _one(self, line: str) -> Step:
        return self.play(line)[0]


def names() -> list[str]:
    """The names of the built-in controllers."""
    return _native.controllers()
