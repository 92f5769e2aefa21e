"""Figures of a run, by matplotlib.

>>> run = tresse.open("runs/table1-1")
>>> with tresse.plot.style("one-column"):
...     figure = run.plot.cdf("goodput_bps", where={"pattern": "permutation"})
...     figure.savefig("goodput.pdf")

Every method of `Plots` returns matplotlib's Figure, to go on with; `figure.axes` are its panels. Colours, dashes and
markers are those of the run's page: a scheme has the same ones in every figure of a run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tresse.plot.errors import matplotlib, pyarrow
from tresse.plot.style import Preset, drawing, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from tresse.plot.cases import By, Where
    from tresse.runs import Run

__all__ = ["Plots", "Preset", "style"]


class Plots:
    """The figures of a run. What they have in common:

    `by`: what has a colour for each of its values: an axis of the cases ("scheme", with its number of subflows,
    "pattern", "mark" …), what divides a case ("group", "distance", "size", "layer"), or several of these. An axis that
    `by` does not name makes a panel for each of its values.
    `where`: which cases and parts are shown: `{"pattern": "random", "scheme": ["xmp", "dctcp"]}`.
    `ax`: axes of your own to draw on, if there is one panel only.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        matplotlib()

    def cdf(self, quantity: str, *, by: By = "scheme", where: Where | None = None, ax: Axes | None = None) -> Figure:
        """The cumulative distribution of a quantity: the share of flows that have no more.

        `quantity`: of flows goodput_bps, fct_s, slowdown_ratio, size_bytes, retransmissions_pkts, timeouts, cwnd_pkts, or
        any column of numbers; jct_s of jobs, rtt_s of ACKs, queue_pkts of looks at queues, utilisation_ratio, drops_pkts and
        marks_pkts of ports, convergence_s of subflows. Bits per second, seconds, packets; the axis has a unit that fits.

        All seeds are in one curve. With several, the band is the 95 % interval of the share, seed by seed. A hollow diamond
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
        """What flows of each size pay: their completion time over that on an empty network.

        Thin: the lower percentile, thick: the higher one, in bins of sizes, four a decade. A hollow marker is of fewer than
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
        """Samples against time: a row of panels for each column, a column of panels for each case, a line for each subflow.

        `flow`: a number, the name of a group, or several of them (default: all, if they are few).
        `columns`: of the samples: goodput_bps, cwnd_pkts, srtt_s, marks, retransmissions, timeouts, arrived_bytes.
        `seed`: which one (default: the first).

        Where there are more samples than a line can show, the line is their mean and the band from the least to the most.
        Of one flow with several subflows, the goodput of all of them together is there too, and its optimum, dashed.
        """
        from tresse.plot.timeline import timeline

        pyarrow()
        with drawing():
            return timeline(self._run, flow, tuple(columns), where, seed)

    def fabric(
        self, metric: str = "utilisation_ratio", *, where: Where | None = None, ax: Axes | None = None
    ) -> Figure:
        """The network, each direction of a link coloured by what its port did: the mean over seeds.

        `metric`: utilisation_ratio, drops_pkts, lost_pkts or marks_pkts. A panel for each case, of at most six.
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

        Bars: the 95 % interval. Dashed: the optimum. Hollow diamonds: what the paper printed. A case that the axis is not of
        is a level line.
        `log`: whether the axis of the cases is logarithmic (default: if its greatest value is 16 times the least).
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

        `x`: the axis whose values stand beside each other (default: the first that `by` does not name).
        Whiskers: the 95 % interval. Dashed: the optimum. Hollow diamonds: what the paper printed.
        """
        from tresse.plot.marks import bars

        with drawing():
            return bars(self._run, metric, x, by, where, ax)
