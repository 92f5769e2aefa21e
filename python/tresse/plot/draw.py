"""The parts that all figures have: panels, axes with units, legends."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib import ticker
from matplotlib.backends.registry import BackendFilter, backend_registry

from tresse.errors import TresseError
from tresse.plot.cases import axis_title as axis_name
from tresse.plot.palette import Look, looks_of
from tresse.plot.style import Preset, preset
from tresse.plot.units import Scale, axis_title, formatted, scale_of

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from tresse.runs import Run


@dataclass(frozen=True)
class Printed:
    """A point that the paper prints."""

    series: str
    panel: str | None
    """None: the first one."""
    x: str
    y: float


@dataclass(frozen=True)
class Wish:
    """What a figure says about its axes, and the paper's points that it adds."""

    log_x: bool | None = None
    """None: as the values suggest."""
    log_y: bool = False
    x_range: tuple[float, float] | None = None
    """In the unit of the quantity; None: the range of the data."""
    y_range: tuple[float, float] | None = None
    printed: tuple[Printed, ...] = ()


PLAIN = Wish()


@dataclass
class Canvas:
    """A figure with a panel for each key, or one panel that the user brought."""

    figure: Figure
    panels: dict[Any, Axes]
    preset: Preset
    own: bool
    """Whether the panel is the user's."""

    @property
    def all(self) -> list[Axes]:
        """The panels in their order."""
        return list(self.panels.values())

    @property
    def panel_pt(self) -> float:
        """The width of a panel in points."""
        across = self.preset.columns(len(self.all))
        return 72 * (float(self.figure.get_figwidth()) / across - 0.08 * self.preset.font_pt)

    def panel_titled(self, title: str | None) -> Axes:
        """The panel that shows this value of its dimensions; the first one if there is none."""
        return next((axes for key, axes in self.panels.items() if title in key), self.all[0])

    def close(self) -> None:
        """Removes a figure that has no window from pyplot, which would show it twice in a notebook and keep it forever."""
        windows: list[str] = backend_registry.list_builtin(BackendFilter.INTERACTIVE)  # type: ignore[no-untyped-call]
        if plt.get_backend().lower() not in windows:
            plt.close(self.figure)

    def legend(self, handles: Sequence[Artist], labels: Sequence[str]) -> None:
        """A legend above all panels, in columns that fit."""
        if not labels:
            return
        if self.own:
            self.all[0].legend(handles, labels)
            return
        # A letter is a little more than half as wide as high; a handle and the gaps take eight letters.
        room = self.figure.get_figwidth() * 72 / (0.56 * (self.preset.font_pt - 1))
        wide = [len(label) + 8 for label in labels]
        columns = next(n for n in range(len(labels), 0, -1) if n == 1 or sum(_columns(wide, n)) <= room)
        rows = math.ceil(len(labels) / columns)
        columns = math.ceil(len(labels) / rows)
        self.figure.set_figheight(self.figure.get_figheight() + rows * 1.5 * self.preset.font_pt / 72)
        self.figure.legend(
            handles, labels, loc="outside upper left", ncols=columns, columnspacing=1.2, handlelength=2.2, borderpad=0.1
        )


def canvas(
    titles: Mapping[Any, str], ax: Axes | None, *, share: bool = True, ratio: float = 0.62, widest: float = 6.5
) -> Canvas:
    """A grid of panels with these keys and titles, or the user's own panel if there is only one."""
    set_now = preset()
    names = list(titles)
    if ax is not None:
        if len(names) > 1:
            several = "; ".join(list(titles.values())[:6])
            raise TresseError(f"one `ax` cannot hold {len(names)} panels: {several}", hint="choose with where={…}")
        figure = ax.get_figure(root=True)
        assert figure is not None
        return Canvas(figure, {names[0]: ax}, set_now, own=True)
    across = set_now.columns(len(names))
    down = math.ceil(len(names) / across)
    # Panels are equally wide in figures with one row and with several.
    wide = set_now.width_in / across
    high = down * max(ratio * min(wide, widest), 0.2 * set_now.font_pt)
    figure, grid = plt.subplots(
        down, across, figsize=(set_now.width_in, high), sharex=share, sharey=share, squeeze=False
    )
    axes = list(grid.flat)
    for spare in axes[len(names) :]:
        spare.remove()
    panels = dict(zip(names, axes, strict=False))
    for name, one in panels.items():
        if titles[name]:
            one.set_title(titles[name], loc="left")
    drawn = Canvas(figure, panels, set_now, own=False)
    drawn.close()
    return drawn


def _columns(wide: Sequence[int], columns: int) -> list[int]:
    """The widths of the columns of a legend, which are filled one after another."""
    rows = math.ceil(len(wide) / columns)
    return [max(wide[first : first + rows]) for first in range(0, len(wide), rows)]


def looks(run: Run, names: Sequence[str]) -> dict[str, Look]:
    """A style for each series; a scheme has the same one in every figure of the run."""
    own = looks_of(case.scheme for case in run.cases)
    for case in run.cases:
        # A scheme without its number of subflows has the style of the first number.
        own.setdefault(str(case.axes.get("scheme")), own[case.scheme])
    if not all(name in own for name in names):
        own = looks_of(names)
    return {name: own[name] for name in names}


def scale_axis(axis: Any, name: str, values: Any, *, log: bool = False, zero: bool = False) -> Scale:
    """Sets up the axis of a quantity: its title, its ticks and its scale, which is the unit to draw values in.

    A logarithmic axis is in the quantity's own unit, because each of its ticks has a unit.
    """
    known = np.asarray(values, dtype=float)
    known = known[np.isfinite(known)]
    which = "x" if axis.axis_name == "x" else "y"
    if log:
        getattr(axis.axes, f"set_{which}scale")("log")
        log_ticks(axis, name, known[known > 0])
        scale = Scale(1.0, "", 0)
        _name(axis, axis_title(name))
        return scale
    most = float(np.max(np.abs(known))) if len(known) else 0.0
    scale = scale_of(name, [most])
    _name(axis, axis_title(name, scale))
    if zero:
        getattr(axis.axes, f"set_{which}lim")(**{"left" if which == "x" else "bottom": 0})
    return scale


def _name(axis: Any, title: str) -> None:
    """The title of an axis, in as many lines as it needs to be no longer than the axis."""
    box = axis.axes.get_window_extent()
    length_pt = (box.width if axis.axis_name == "x" else box.height) * 72 / axis.axes.figure.dpi
    letters = int(length_pt / (0.55 * axis.label.get_size()))
    axis.set_label_text("\n".join(textwrap.wrap(title, max(letters, 12), break_long_words=False)))


def named_places(drawn: Canvas, axes: Axes, axis: str, groups: Sequence[str]) -> None:
    """The places of the values of an axis, with its name; schemes, patterns and variants speak for themselves."""
    if axis in ("", "pattern", "variant", "scheme"):
        places(drawn, axes, groups)
        return
    title, shown = axis_name(axis, groups)
    places(drawn, axes, [shown[group] for group in groups])
    axes.set_xlabel(title)


def places(drawn: Canvas, axes: Axes, groups: Sequence[str]) -> None:
    """An axis of names, each with a place: tilted where they would touch."""
    letters = drawn.panel_pt / len(groups) / (0.56 * drawn.preset.font_pt)
    lean = max(len(group) for group in groups) > letters
    # Names that are close together are upright, so that their lines do not touch.
    angle = 90 if drawn.panel_pt / len(groups) < 2.2 * drawn.preset.font_pt else 30
    axes.set_xticks(range(len(groups)), groups, rotation=angle if lean else 0)
    if lean:
        for label in axes.get_xticklabels():
            label.set(ha="right" if angle < 90 else "center", rotation_mode="anchor" if angle < 90 else "default")
    axes.tick_params(axis="x", length=0)
    axes.grid(visible=False, axis="x")
    axes.set_xlim(-0.6, len(groups) - 0.4)


def set_range(axis: Any, ends: tuple[float, float] | None, scale: Scale) -> None:
    """Sets the ends of an axis, which are in the unit of its quantity."""
    if ends is not None:
        axis.axes.set(**{f"{axis.axis_name}lim": (ends[0] / scale.factor, ends[1] / scale.factor)})


def intervals(axes: Axes, x: Sequence[float], y: Sequence[float], half: Sequence[float], colour: str) -> None:
    """Error bars. On a logarithmic axis, one that reaches zero ends in an arrow: its end is nowhere on the axis."""
    is_log = axes.get_yscale() == "log"
    whole = [(at, value, own) for at, value, own in zip(x, y, half, strict=True) if own > 0 and not math.isnan(value)]
    inside = [own for own in whole if not is_log or own[1] > own[2]]
    style: dict[str, Any] = {"color": colour, "linestyle": "none", "elinewidth": 0.9}
    if inside:
        at, values, own = zip(*inside, strict=True)
        axes.errorbar(at, values, yerr=own, capsize=2, **style)
    below = [own for own in whole if is_log and 0 < own[1] <= own[2]]
    if below:
        at, values, own = zip(*below, strict=True)
        axes.errorbar(at, values, yerr=[[0.0] * len(own), own], capsize=2, **style)
        bottom = axes.get_ylim()[0]
        for place, value in zip(at, values, strict=True):
            arrow = {
                "arrowstyle": "-|>",
                "color": colour,
                "linewidth": 0.9,
                "shrinkA": 0,
                "shrinkB": 0,
                "mutation_scale": 6,
            }
            axes.annotate("", (place, bottom), (place, value), arrowprops=arrow, annotation_clip=False)


def log_ticks(axis: Any, name: str, known: Any) -> None:
    """Ticks of a logarithmic axis with units: decades, or 1, 2 and 5 of each if there are few."""
    decades = float(np.log10(known.max() / known.min())) if len(known) else 1.0
    spec = axis.axes.get_subplotspec()
    across = spec.get_gridspec().ncols if spec is not None and axis.axis_name == "x" else 1
    most = 7 if across == 1 else 4
    axis.set_major_locator(ticker.LogLocator(subs=(1.0,) if decades > 1.6 else (1.0, 2.0, 5.0), numticks=most))
    axis.set_minor_locator(ticker.LogLocator(subs="auto", numticks=20))
    axis.set_major_formatter(ticker.FuncFormatter(lambda value, _: formatted(name, value, 3)))
    axis.set_minor_formatter(ticker.NullFormatter())


def outer_labels(drawn: Canvas) -> None:
    """Leaves axis titles only at the outer edges of the panels."""
    if drawn.own:
        return
    across = drawn.preset.columns(len(drawn.all))
    for place, one in enumerate(drawn.all):
        if place % across:
            one.set_ylabel("")
        if place + across < len(drawn.all):
            one.set_xlabel("")
        else:
            # This includes panels above a gap in the last row.
            one.xaxis.set_tick_params(which="both", labelbottom=True)
