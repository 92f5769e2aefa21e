"""Figures of a run, drawn with matplotlib.

>>> run = tresse.open("runs/table1-1")
>>> with tresse.plot.style("one-column"):
...     figure = run.plot.cdf("goodput_bps", where={"pattern": "permutation"})
...     figure.savefig("goodput.pdf")

Every method of `Plots` returns a matplotlib Figure that you can edit further; `figure.axes` are its panels. Colours,
dashes and markers are those of the run's page: a scheme looks the same in every figure of a run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from tresse.plot.errors import matplotlib, pyarrow
from tresse.plot.style import Preset, drawing, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from tresse.plot.cases import By, Where
    from tresse.runs import Run
    from tresse.sweeps import Sweep

__all__ = ["Plots", "Preset", "style"]


class Plots:
    """The figures of a run or a sweep. They have these arguments in common:

    `by`: the property whose values get a colour each: an axis of the cases ("scheme", with its number of subflows,
    "pattern", "mark" …), a division of a case ("group", "distance", "size", "layer"), or several of these. An axis that
    `by` does not name gets a panel for each of its values.
    `where`: which cases and parts to show, such as `{"pattern": "random", "scheme": ["xmp", "dctcp"]}`. `{"slice":
    "small-web"}` are the flows of a slice that `[measure.slices]` defines.
    `ax`: your own axes to draw on, if there is only one panel.
    """

    def __init__(self, run: Run | Sweep) -> None:
        # What a sweep lacks is an error of its own.
        self._run = cast("Run", run)
        matplotlib()

    @property
    def figures(self) -> dict[str, str]:
        """By id, the titles of the figures that the experiment declares."""
        from tresse.plot.declared import declared

        return {name: str(own["title"]) for name, own in declared(self._run).items()}

    def figure(self, name: str, *, smooth: float = 0.0) -> Figure:
        """A figure that the experiment declares in `[[figures]]`, by its id, as on the page of the run; of a sweep, a
        metric against the key with the most values.

        `smooth`: for lines over time, the share of the time over which they are averaged, such as 0.03; the samples are
        thin behind them.

        >>> with tresse.plot.style("one-column"):
        ...     run.plot.figure("fig8").savefig("fig8.pdf")
        """
        from tresse.plot.declared import figure
        from tresse.plot.swept import swept
        from tresse.sweeps import Sweep

        if isinstance(self._run, Sweep):
            with drawing():
                return swept(self._run, name)
        pyarrow()
        with drawing():
            return figure(self._run, name, smooth)

    def cdf(self, quantity: str, *, by: By = "scheme", where: Where | None = None, ax: Axes | None = None) -> Figure:
        """The cumulative distribution of a quantity: the share of flows with at most this value.

        `quantity`: of flows goodput_bps, fct_s, slowdown_ratio, size_bytes, retransmissions_pkts, timeouts, cwnd_pkts, or
        any column of numbers; jct_s of jobs, rtt_s of ACKs, queue_pkts of observations of queues, utilisation_ratio,
        drops_pkts and marks_pkts of ports, convergence_s of subflows. Values are in bits per second, seconds or packets; the
        axis gets a fitting unit.

        One curve combines all seeds. With several, the band is the 95 % interval over the seeds. A hollow diamond
        is a percentile that the paper printed.
        """
        from tresse.plot.cdf import cdf

        pyarrow()
        with drawing():
            return cdf(self._run, quantity, by, where, ax)

    def fct_slowdown(
        self,
        *,
        percentiles: tuple[float, float] = (50, 99),
        by: By = "scheme",
        where: Where | None = None,
        ax: Axes | None = None,
    ) -> Figure:
        """The slowdown of flows by size: their completion time over their completion time on an empty network.

        Thin: the lower percentile; thick: the higher one. There are four size bins per decade. Hollow markers: fewer than
        100 flows.
        """
        from tresse.plot.by_size import fct_slowdown

        pyarrow()
        with drawing():
            return fct_slowdown(self._run, percentiles, by, where, ax)

    def timeline(
        self,
        *,
        flow: int | str | Sequence[int | str] | None = None,
        columns: Sequence[str] = ("goodput_bps", "cwnd_pkts"),
        where: Where | None = None,
        seed: int | None = None,
    ) -> Figure:
        """Samples over time: a row of panels for each column, a column of panels for each case, a line for each subflow.

        `flow`: a number, the name of a group, or several of them (default: all, if there are few).
        `columns`: of the samples: goodput_bps, cwnd_pkts, srtt_s, marks, retransmissions, timeouts, arrived_bytes.
        `seed`: which one (default: the first).

        If there are more samples than a line can show, the line is their mean and the band spans the least to the greatest.
        For a single flow with several subflows, the total goodput is shown too, and its optimum, dashed.
        """
        from tresse.plot.timeline import timeline

        pyarrow()
        with drawing():
            return timeline(self._run, flow, tuple(columns), where, seed)

    def fabric(
        self, metric: str = "utilisation_ratio", *, where: Where | None = None, ax: Axes | None = None
    ) -> Figure:
        """The network, with each direction of a link coloured by a metric of its port (the mean over seeds).

        `metric`: utilisation_ratio, drops_pkts, lost_pkts or marks_pkts. There is a panel for each case, at most six.
        """
        from tresse.plot.network import fabric

        pyarrow()
        with drawing():
            return fabric(self._run, metric, where, ax)

    def axis(
        self,
        axis: str,
        metric: str,
        *,
        by: By = "scheme",
        where: Where | None = None,
        log: bool | None = None,
        ax: Axes | None = None,
    ) -> Figure:
        """A metric against an axis of the cases, such as `axis("fabric.mark", "fct_p99_s")`.

        Bars: the 95 % interval. Dashed: the optimum. Hollow diamonds: the values that the paper printed. A case without
        this axis is a level line.
        `log`: whether the axis of the cases is logarithmic (default: if its greatest value is 16 times the least or more).
        """
        from tresse.plot.marks import against

        with drawing():
            return against(self._run, axis, metric, by, where, log, ax)

    def bars(
        self,
        metric: str,
        *,
        x: str | None = None,
        by: By = "scheme",
        where: Where | None = None,
        ax: Axes | None = None,
    ) -> Figure:
        """A metric of each case as a bar from zero.

        `x`: the axis whose values are next to each other (default: the first one that `by` does not name).
        Whiskers: the 95 % interval. Dashed: the optimum. Hollow diamonds: the values that the paper printed.
        """
        from tresse.plot.marks import bars

        with drawing():
            return bars(self._run, metric, x, by, where, ax)
