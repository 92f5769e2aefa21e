"""A bar, in a terminal or a notebook."""

from __future__ import annotations

from types import TracebackType
from typing import Any


class Bar:
    """Progress, shown by tqdm; nothing is shown for work of less than a second."""

    def __init__(self, name: str, *, shown: bool) -> None:
        self._bar: Any = None
        if shown:
            from tqdm.auto import tqdm

            # `disable=None`: shows nothing if standard error is not a terminal; a notebook has its own bar.
            form = "{desc} {percentage:3.0f} % |{bar}| {remaining} left{postfix}"
            self._bar = tqdm(total=100, desc=name, delay=1, leave=False, disable=None, bar_format=form)

    def show(self, share: float | None, hops: int, running: list[str]) -> None:
        """Shows the share done, 0 to 1 (None: unknown), the packet-hops, and what is running now."""
        if self._bar is None or self._bar.disable:
            return
        if share is not None:
            self._bar.n = round(100 * share, 1)
        elapsed = self._bar.format_dict["elapsed"]
        speed = f"{hops / elapsed / 1e6:.1f} M packet-hops/s" if elapsed else ""
        self._bar.set_postfix_str(f"{speed}  {', '.join(running)}", refresh=False)
        self._bar.refresh()

    def __enter__(self) -> Bar:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.close()
