"""Presets for a paper's columns and for a screen."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from tresse.plot import palette
from tresse.plot.errors import matplotlib, unknown

_HIGH = 3
"""More rows of panels than this are made shorter by panels of half the width."""


@dataclass(frozen=True)
class Preset:
    """The sizes of a figure."""

    name: str
    width_in: float
    """Of the whole figure, inches."""
    font_pt: float
    line_pt: float
    marker_pt: float
    across: int
    """The most panels in a row."""
    dpi: int

    def columns(self, panels: int) -> int:
        """How many of these panels are in a row. In a narrow figure, more than a few would be higher than a page."""
        return min(panels, self.across if panels <= _HIGH * self.across else 2 * self.across)

    def rc(self) -> dict[str, Any]:
        """The sizes as matplotlib settings."""
        small = self.font_pt - 1
        return {
            "figure.figsize": (self.width_in, 0.62 * self.width_in),
            "figure.dpi": self.dpi,
            "figure.constrained_layout.use": True,
            "savefig.dpi": max(300, self.dpi),
            # TrueType: the checks of IEEE and ACM refuse Type 3 fonts.
            "pdf.fonttype": 42,
            "ps.fonttype": 42,
            "font.size": self.font_pt,
            "axes.titlesize": self.font_pt,
            "axes.labelsize": self.font_pt,
            "legend.fontsize": small,
            "xtick.labelsize": small,
            "ytick.labelsize": small,
            "lines.linewidth": self.line_pt,
            "lines.markersize": self.marker_pt,
            "axes.linewidth": 0.7,
            "axes.edgecolor": palette.LINE,
            "axes.labelcolor": palette.TEXT,
            "text.color": palette.TEXT,
            "xtick.color": palette.LINE,
            "ytick.color": palette.LINE,
            "xtick.labelcolor": palette.TEXT,
            "ytick.labelcolor": palette.TEXT,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.grid": True,
            "axes.axisbelow": True,
            "grid.color": palette.GRID,
            "grid.linewidth": 0.7,
            "legend.frameon": False,
        }


PRESETS = {
    own.name: own
    for own in (
        Preset("one-column", 3.5, 8, 1.1, 3.2, across=1, dpi=150),
        Preset("two-columns", 7.16, 8, 1.2, 3.5, across=3, dpi=150),
        Preset("screen", 8.5, 10, 1.6, 5, across=3, dpi=100),
    )
}

_current: ContextVar[Preset | None] = ContextVar("tresse preset", default=None)


@contextmanager
def style(name: str) -> Iterator[Preset]:
    """Figures that are made inside this context have the sizes of a preset.

    "one-column" is 3.5 inches wide and "two-columns" 7.16 inches, as a column and the text of IEEE's papers are, with
    letters of 8 points; "screen" is the default. Save figures inside the context too, because a PDF's fonts are chosen
    on saving.

    >>> with tresse.plot.style("one-column"):
    ...     run.plot.cdf("goodput_bps").savefig("goodput.pdf")
    """
    if name not in PRESETS:
        raise unknown(name, PRESETS, "preset")
    preset = PRESETS[name]
    token = _current.set(preset)
    try:
        with matplotlib().rc_context(preset.rc()):
            yield preset
    finally:
        _current.reset(token)


def preset() -> Preset:
    """The current preset; "screen" if none is set."""
    return _current.get() or PRESETS["screen"]


@contextmanager
def drawing() -> Iterator[Preset]:
    """The settings of a new figure: those of the current preset with the user's changes, or "screen"."""
    if _current.get() is not None:
        yield preset()
        return
    with style("screen") as own:
        yield own
