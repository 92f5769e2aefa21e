"""A bar, in a terminal or a notebook; lines where there is neither."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Any

_FIRST_S, _EACH_S = 5.0, 30.0
"""When the first line is printed, and how long it is to the next."""
_LEAST = 0.0005
"""Of less than this share nothing is told about the rest."""


class Lines:
    """Progress on standard error, a line every half minute."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._start = time.monotonic()
        self._next = _FIRST_S

    def show(self, share: float | None, rest: str = "") -> None:
        """Prints the share done, 0 to 1 (None: unknown), and the time left, if it is time for a line."""
        elapsed = time.monotonic() - self._start
        if elapsed < self._next:
            return
        self._next = elapsed + _EACH_S
        told = [self._name if share is None else f"{self._name}: {100 * share:.0f} %"]
        if share is not None and share > _LEAST:
            told.append(f"{about(elapsed * (1 - share) / share)} left")
        print(", ".join([*told, *([rest] if rest else [])]), file=sys.stderr, flush=True)


def about(seconds: float) -> str:
    """A time in words, roughly."""
    for limit, size, unit in ((95, 1, "s"), (95 * 60, 60, "min"), (47.5 * 3600, 3600, "h")):
        if seconds < limit:
            return f"about {seconds / size:.0f} {unit}"
    return f"about {seconds / 86400:.0f} days"


class Bar:
    """Progress, shown by tqdm; nothing is shown for work of less than a second."""

    def __init__(self, name: str, *, shown: bool) -> None:
        self._bar: Any = None
        self._lines: Lines | None = None
        if shown:
            from tqdm.auto import tqdm

            # `disable=None`: no bar if standard error is not a terminal; a notebook has its own bar.
            form = "{desc} {percentage:3.0f} % |{bar}| {remaining} left{postfix}"
            self._bar = tqdm(total=100, desc=name, delay=1, leave=False, disable=None, bar_format=form)
            self._lines = Lines(name) if self._bar.disable else None

    def show(self, share: float | None, hops: int, running: list[str]) -> None:
        """Shows the share done, 0 to 1 (None: unknown), the packet-hops, and what is running now."""
        elapsed = self._bar.format_dict["elapsed"] if self._bar is not None else 0
        speed = f"{hops / elapsed / 1e6:.1f} M packet-hops/s" if elapsed else ""
        self.tell(share, f"{speed}  {', '.join(running)}", f"{hops / 1e6:.0f} million packet-hops so far")

    def tell(self, share: float | None, beside: str, line: str) -> None:
        """Shows the share done, with a text beside the bar, and another one in lines."""
        if self._lines is not None:
            self._lines.show(share, line)
        if self._bar is None or self._bar.disable:
            return
        if share is not None:
            self._bar.n = round(100 * share, 1)
        self._bar.set_postfix_str(beside, refresh=False)
        self._bar.refresh()

    def __enter__(self) -> Bar:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.close()
