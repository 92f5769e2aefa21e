"""The figures that an experiment declares in `[[figures]]`, as its page shows them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tresse.errors import TresseError
from tresse.plot import boxes, cdf, draw, marks, matrix, over_time, scatter
from tresse.plot.cases import choose, text
from tresse.plot.errors import unknown

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from tresse.runs import Run


def declared(run: Run) -> dict[str, dict[str, Any]]:
    """By id, the figures that the experiment of a run declares."""
    return {str(own["id"]): own for own in run.declared["figures"]}


def figure(run: Run, name: str, smooth: float = 0.0) -> Figure:
    """See `Plots.figure`."""
    known = declared(run)
    if not known:
        raise TresseError(f"{run.folder}: its experiment declares no figures", hint="see `tresse explain figures`")
    if name not in known:
        raise unknown(name, known, "figure", of=f"in {run.folder}")
    own = known[name]
    wish = _wish(own)
    chart, x, y = own["chart"], own.get("x"), own.get("y")
    if chart == "time":
        return over_time.over_time(run, own, wish, smooth)
    if smooth:
        raise TresseError(f"{name} has no lines over time to smooth", hint="leave out `smooth`")
    series, where = own.get("series", "scheme"), own.get("where")
    panels = [own["panels"]] if "panels" in own else []
    along = [] if chart in ("cdf", "scatter") else [x or "scheme"]
    if chart != "cdf":
        # Distributions may cover several parts together; a metric covers one.
        panels += _mixed_parts(where or {}, [*panels, *along, series])
    chosen = choose(run, series, where, beside=along, panels=panels, apart=chart != "scatter")
    if chart == "cdf":
        return cdf.curves(run, str(x), chosen, wish)
    if chart == "boxes":
        return boxes.boxes(run, str(y), chosen, wish)
    if chart == "scatter":
        return scatter.scatter(run, str(x), str(y), chosen, wish)
    if chart == "matrix":
        return matrix.matrix(run, chosen, str(y))
    return (marks.lines if chart == "lines" else marks.columns)(run, chosen, str(y), wish)


def _wish(own: dict[str, Any]) -> draw.Wish:
    log = own.get("log", [])
    points = (
        draw.Printed(text(point["series"]), point.get("panel"), text(point["x"]), float(point["y"]))
        for point in own.get("published", [])
    )
    return draw.Wish(
        log_x="x" in log,
        log_y="y" in log,
        x_range=_ends(own.get("x_range")),
        y_range=_ends(own.get("y_range")),
        printed=tuple(points),
    )


def _ends(own: list[float] | None) -> tuple[float, float] | None:
    return None if own is None else (float(own[0]), float(own[1]))


def _mixed_parts(where: dict[str, Any], dimensions: list[str]) -> list[str]:
    """Divisions for which `where` selects several values: without a panel for each they would be mixed."""
    divisions = ("group", "distance", "size", "layer", "window", "subflow")
    several = [name for name, wanted in where.items() if isinstance(wanted, list) and len(wanted) > 1]
    return [name for name in several if name in divisions and name not in dimensions]
