"""Figures: what they show is what the run has; colours and words are the page's."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from conftest import SMALL

import tresse
from tresse.plot import draw, palette, schemes, timeline, units
from tresse.plot.cases import magnitudes
from tresse.plot.layout import layout_of
from tresse.plot.rows import Columns
from tresse.plot.stats import distribution

mpl.use("agg")
PAGE = Path(__file__).resolve().parents[2] / "page/src"


@pytest.fixture(scope="module")
def run(folder: Path) -> tresse.Run:
    """Two patterns, two values of K, two seeds, and what figures need."""
    small = SMALL | {
        "fabric": SMALL["fabric"] | {"mark": ["10pkt", "40pkt"]},
        "schemes": SMALL["schemes"] | {"xmp": {"controller": "xmp", "subflows": [1, 2]}},
        "workloads": SMALL["workloads"]
        | {
            "poisson": {"pattern": "poisson", "size": {"distribution": "websearch-hpcc"}, "load": 0.3, "flows": 60},
            "long": {"pattern": "permutation", "duration": "20ms"},
        },
        "measure": {
            "links": True,
            "samples": "1ms",
            "slices": {
                "small": {"size": "up to 100kB", "distance": "inter-pod"},
                "early": {"starts": ["0s", "5ms"]},
            },
        },
    }
    return tresse.run(small, replications=2, out=folder / "figures", progress=False)


def labels(figure: Any) -> list[str]:
    """The words of the legend."""
    return [own.get_text() for legend in figure.legends for own in legend.get_texts()]


def test_colours_dashes_and_order_are_those_of_the_page() -> None:
    light = (PAGE / "styles/base.css").read_text(encoding="utf-8").split('[data-theme="dark"]')[0]
    series = dict(re.findall(r"--series-(\d): (#\w+);", light))
    assert tuple(series[str(place)] for place in range(len(series))) == palette.SERIES
    for name, own in (("text", palette.TEXT), ("muted", palette.MUTED), ("grid", palette.GRID)):
        assert re.search(rf"--{name}: (#\w+);", light)[1] == own  # type: ignore[index]
    for name, own in (("optimum", palette.OPTIMUM), ("good", palette.GOOD), ("bad", palette.BAD)):
        assert re.search(rf"--{name}: (#\w+);", light)[1] == own  # type: ignore[index]
    colour = (PAGE / "data/colour.ts").read_text(encoding="utf-8")
    dashes = re.findall(r'"([\d. ]*)"', re.search(r"DASHES = \[(.*?)\]", colour)[1])  # type: ignore[index]
    assert tuple(tuple(float(part) for part in own.split()) for own in dashes) == palette.DASHES
    heat = (PAGE / "fabric/scale.ts").read_text(encoding="utf-8").split("const DARK")[0]
    assert tuple(re.findall(r'"(#\w+)"', heat)) == palette.HEAT
    looks = [palette.look_at(place) for place in range(16)]
    assert len({(look.colour, look.dash) for look in looks}) == 16


def test_schemes_have_the_places_of_the_page() -> None:
    # The page's own test reads the same lists.
    for own in json.loads((PAGE.parent / "tests/palette.json").read_text(encoding="utf-8")):
        assert palette.places_of(own["names"]) == dict(zip(own["names"], own["places"], strict=True))
    page = (PAGE / "data/schemes.ts").read_text(encoding="utf-8")
    assert {name: int(place) for name, place in re.findall(r'\["(.+)", (\d+)\]', page)} == schemes.PLACES


def test_words_and_units_are_those_of_the_page() -> None:
    source = (PAGE / "data/format.ts").read_text(encoding="utf-8")
    for stem, words in re.findall(r'^  (\w+): "(.+)",$', source, re.M):
        assert words in units.named(f"{stem}_mean_s"), stem
    assert units.named("goodput_p10_bps") == "goodput, 10th percentile"
    assert units.axis_title("fct_p99_s", units.scale_for("fct_p99_s", 0.02)) == "FCT, 99th percentile (ms)"
    assert units.named("small-web.fct_p99_s") == "FCT of small web flows, 99th percentile"
    assert units.short("small-web.fct_p99_s") == "small web FCT p99"
    assert units.named("optimum.goodput_mean_bps") == "optimal goodput, mean"
    assert units.formatted("goodput_bps", 513_600_000) == "513.6 Mbit/s"
    assert units.formatted("size_bytes", 10_000) == "10 kB"
    assert units.formatted("", 12345678, 12) == "12\u202f345\u202f678"


def test_a_cdf_is_that_of_the_flows(run: tresse.Run) -> None:
    figure: Any = run.plot.cdf("goodput_bps", where={"pattern": "permutation", "mark": "10pkt"})
    (axes,) = figure.axes
    assert axes.get_xlabel() == "Goodput (Mbit/s)"
    assert axes.get_xlim()[0] == 0
    assert axes.get_ylim() == (0, 1)
    assert labels(figure) == ["dctcp-1", "xmp-1", "xmp-2", "95 % interval over seeds"]
    flows = run.flows.to_polars()
    own = flows.filter((flows["scheme"] == "xmp") & (flows["subflows"] == 2) & (flows["pattern"] == "permutation"))
    wanted = np.sort(own.filter(own["mark"] == "10pkt")["goodput_bps"].to_numpy()) / 1e6
    x, y = axes.lines[2].get_data()
    assert np.array_equal(np.unique(x), np.unique(wanted))
    at = np.searchsorted(x, wanted[5], side="right") - 1
    assert y[at] == pytest.approx(np.mean(wanted <= wanted[5]))
    assert axes.lines[2].get_color() == palette.look_at(schemes.PLACES["xmp-2"]).colour


@pytest.mark.parametrize("name", ["small", "early"])
def test_where_may_name_a_slice(run: tresse.Run, name: str) -> None:
    where = {"slice": name, "pattern": "poisson", "mark": "10pkt", "scheme": "dctcp"}
    case = run.case(scheme="dctcp", pattern="poisson", mark="10pkt")
    figure: Any = run.plot.cdf("fct_s", where=where)
    x, _ = figure.axes[0].lines[0].get_data()
    # The same flows as the metrics of the slice, which the simulator has computed.
    assert 0 < case.metrics[f"{name}.flows"] < case.metrics["flows"]
    unit = 1e3 if "ms" in figure.axes[0].get_xlabel() else 1.0
    assert max(x) / unit == pytest.approx(case.metrics[f"{name}.fct_max_s"])
    bars: Any = run.plot.bars("fct_max_s", where=where)
    heights = {patch.get_height() for patch in bars.axes[0].patches}
    assert any(case.metrics[f"{name}.fct_max_s"] * unit == pytest.approx(own) for unit in (1, 1e3) for own in heights)
    assert name in bars.axes[0].get_ylabel().lower()
    with pytest.raises(tresse.TresseError, match="slice `smal` does not exist"):
        run.plot.cdf("fct_s", where={"slice": "smal"})
    with pytest.raises(tresse.TresseError, match="of all flows, not of a slice"):
        run.plot.fabric(where={"slice": name})


def test_what_by_does_not_name_has_a_panel_of_its_own(run: tresse.Run) -> None:
    figure: Any = run.plot.cdf("goodput_bps")
    names = [axes.get_title("left") for axes in figure.axes]
    assert names == [f"{p}, mark {k}pkt" for p in ("permutation", "poisson", "long") for k in (10, 40)]
    by = run.plot.cdf("goodput_bps", by=["scheme", "mark"], where={"pattern": "long", "scheme": "xmp"})
    assert labels(by)[:4] == ["xmp-1, 10pkt", "xmp-2, 10pkt", "xmp-1, 40pkt", "xmp-2, 40pkt"]
    distance = run.plot.cdf(
        "fct_s", by="distance", where={"pattern": "permutation", "scheme": "xmp-2", "mark": "10pkt"}
    )
    assert set(labels(distance)) >= {"inter-pod"}


def test_a_figure_goes_on_the_users_own_axes(run: tresse.Run) -> None:
    figure, axes = plt.subplots()
    own = run.plot.cdf("goodput_bps", where={"pattern": "long", "mark": "10pkt"}, ax=axes)
    assert own is figure
    assert axes.get_legend() is not None
    with pytest.raises(tresse.TresseError, match="one `ax` cannot hold 2 panels"):
        run.plot.cdf("goodput_bps", where={"pattern": "long"}, ax=axes)
    plt.close(figure)


def test_slowdowns_are_at_least_one_and_by_size(run: tresse.Run) -> None:
    figure: Any = run.plot.fct_slowdown(where={"mark": "10pkt", "pattern": "poisson"})
    (axes,) = figure.axes
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    values = np.concatenate([np.asarray(line.get_ydata(), dtype=float) for line in axes.lines])
    assert np.nanmin(values) >= 1
    assert {"median", "99th percentile", "of fewer than 100 flows"} <= set(labels(figure))


def test_a_timeline_has_a_line_for_each_subflow(shift: tresse.Run) -> None:
    figure: Any = shift.plot.timeline(flow="flow 2", where={"scheme": "beta-4"})
    goodput, window = figure.axes
    assert goodput.get_ylabel() == "Goodput (Mbit/s)"
    assert window.get_ylabel() == "Window (packets)"
    assert window.get_xlabel() == "Time (s)"
    assert labels(figure)[:3] == ["flow 2, subflow 0", "flow 2, subflow 1", "all subflows"]
    samples = shift.samples.to_polars()
    own = samples.filter((samples["scheme"] == "beta-4") & (samples["group"] == "flow 2") & (samples["subflow"] == 1))
    assert np.allclose(goodput.lines[1].get_ydata(), own.sort("start_ps")["goodput_bps"].to_numpy() / 1e6)
    assert len(shift.plot.timeline(columns=["srtt_s"]).axes) == 2


def test_many_samples_are_drawn_by_their_mean_and_range() -> None:
    x, y = np.arange(10_000.0), np.tile([0.0, 2.0], 5000)
    figure, axes = plt.subplots()
    timeline._draw(axes, x, y, "black")
    assert len(np.asarray(axes.lines[0].get_xdata())) <= 300
    assert np.allclose(axes.lines[0].get_ydata(), 1, atol=0.05)
    (band,) = axes.collections
    assert np.asarray(band.get_datalim(axes.transData).extents)[[1, 3]].tolist() == [0, 2]
    plt.close(figure)


def test_a_metric_against_an_axis(run: tresse.Run) -> None:
    figure: Any = run.plot.axis("fabric.mark", "goodput_mean_bps", where={"pattern": "long"})
    (axes,) = figure.axes
    assert axes.get_ylim()[0] == 0
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["10", "40"]
    assert axes.get_xlabel() == "mark (packets)"
    line = next(own for own in axes.lines if own.get_color() == palette.look_at(schemes.PLACES["xmp-2"]).colour)
    wanted = [run.case(scheme="xmp", subflows=2, pattern="long", mark=k) for k in ("10pkt", "40pkt")]
    assert np.allclose(line.get_data(), [[10, 40], [own.metrics["goodput_mean_bps"] / 1e6 for own in wanted]])
    assert {"optimum", "95 % interval"} <= set(labels(figure))
    by_subflows = run.plot.axis("subflows", "goodput_mean_bps", where={"pattern": "long", "mark": "10pkt"})
    assert labels(by_subflows)[:2] == ["dctcp", "xmp"]


def test_bars_begin_at_zero_and_are_the_metrics(run: tresse.Run) -> None:
    figure: Any = run.plot.bars("fct_p99_s", where={"pattern": "poisson", "mark": "10pkt"})
    (axes,) = figure.axes
    heights = [patch.get_height() for patch in axes.patches]
    cases = [case for case in run.cases if case.axes["pattern"] == "poisson" and case.axes["mark"] == "10pkt"]
    unit = units.scale_for("fct_p99_s", max(case.metrics["fct_p99_s"] for case in cases)).factor
    assert np.allclose(heights, [case.metrics["fct_p99_s"] / unit for case in cases])
    assert axes.get_ylim()[0] == 0
    grouped: Any = run.plot.bars("goodput_mean_bps", x="mark", where={"pattern": "long"})
    assert len(grouped.axes[0].patches) == 6


def test_the_fabric_has_a_line_for_each_direction_of_its_links(run: tresse.Run) -> None:
    where = {"pattern": "long", "scheme": "xmp-2", "mark": "10pkt"}
    figure: Any = run.plot.fabric(where=where)
    axes, scale = figure.axes
    (lines,) = axes.collections
    assert len(lines.get_segments()) == 96
    assert scale.get_xlabel() == "Utilisation (%)"
    assert len({tuple(colour) for colour in np.round(lines.get_colors(), 3)}) > 5
    assert {"edge", "aggregation", "core", "hosts"} <= {text.get_text() for text in axes.texts}


def test_a_network_without_layers_is_laid_out_by_its_distances() -> None:
    ring = [(i, (i + 1) % 6) for i in range(6)]
    both = ring + [(b, a) for a, b in ring]
    ports = {"from": [a for a, _ in both], "to": [b for _, b in both]}
    layout = layout_of({"layered": False, "nodes": {"level": [1] * 6}, "ports": ports})
    sides = [np.hypot(layout.x[a] - layout.x[b], layout.y[a] - layout.y[b]) for a, b in ring]
    assert max(sides) < 1.01 * min(sides)


def test_presets_have_the_sizes_of_columns(run: tresse.Run, tmp_path: Path) -> None:
    where = {"pattern": "long", "mark": "10pkt"}
    for name, width in (("one-column", 3.5), ("two-columns", 7.16)):
        with tresse.plot.style(name):
            figure = run.plot.cdf("goodput_bps", where=where)
            assert mpl.rcParams["pdf.fonttype"] == 42
            figure.savefig(tmp_path / "figure.pdf")
        assert figure.get_figwidth() == width
        assert figure.axes[0].xaxis.label.get_fontsize() == 8
        assert b"/Type3" not in (tmp_path / "figure.pdf").read_bytes()
    before = mpl.rcParams.copy()
    run.plot.bars("goodput_mean_bps", where=where)
    assert mpl.rcParams == before


def inside(figure: Any) -> list[str]:
    """The words that lie outside of the figure."""
    figure.draw_without_rendering()
    frame = figure.bbox.padded(1)
    words = [text for axes in figure.axes for text in (axes.xaxis.label, axes.yaxis.label, axes.title)]
    words += [text for legend in figure.legends for text in legend.get_texts()]
    boxes = [(own.get_text(), own.get_window_extent()) for own in words if own.get_text()]
    return [
        text
        for text, box in boxes
        if not (frame.x0 <= box.x0 and box.x1 <= frame.x1 and frame.y0 <= box.y0 and box.y1 <= frame.y1)
    ]


@pytest.mark.parametrize("style", ["one-column", "two-columns", "screen"])
def test_nothing_is_cut_off_and_no_panels_overlap(run: tresse.Run, style: str) -> None:
    figures: list[Callable[[], Any]] = [
        lambda: run.plot.cdf("goodput_bps", where={"mark": "10pkt"}),
        lambda: run.plot.fct_slowdown(where={"pattern": "poisson"}),
        lambda: run.plot.bars("goodput_mean_bps"),
        lambda: run.plot.bars("fct_p99_s"),
        lambda: run.plot.axis("mark", "goodput_mean_bps"),
        lambda: run.plot.axis("mark", "slowdown_p99_ratio"),
        lambda: run.plot.timeline(flow=0, where={"pattern": "long", "scheme": "xmp-2", "mark": "10pkt"}),
    ]
    for make in figures:
        with tresse.plot.style(style):
            figure = make()
            assert not inside(figure)
            boxes = [axes.get_tightbbox() for axes in figure.axes]
            for place, box in enumerate(boxes):
                for other in boxes[place + 1 :]:
                    assert not box.padded(-2).overlaps(other.padded(-2))


def test_a_long_title_of_an_axis_has_several_lines() -> None:
    with tresse.plot.style("one-column"):
        figure, axes = plt.subplots()
        draw.scale_axis(axes.yaxis, "small-web.fct_p99_s", [0.1])
        assert "\n" in axes.get_ylabel()
        assert not inside(figure)


@pytest.mark.parametrize(
    ("wrong", "message", "hint"),
    [
        (lambda plot: plot.cdf("goodput"), "quantity `goodput` does not exist", "did you mean `goodput_bps`?"),
        (lambda plot: plot.cdf("goodput_bps", by="schem"), "axis `schem` does not exist", "did you mean `scheme`?"),
        (lambda plot: plot.cdf("goodput_bps", where={"scheme": "xpm-2"}), "scheme `xpm-2`", "did you mean `xmp-2`?"),
        (lambda plot: plot.cdf("rtt_s"), "the run has no table `rtts`", "measure.rtt"),
        (lambda plot: plot.axis("fabric.k", "fct_p99_s"), "axis `fabric.k` does not exist", "there are scheme"),
        (lambda plot: plot.bars("fct_p9_s"), "metric `fct_p9_s` does not exist", "did you mean `fct_p99_s`?"),
        (lambda plot: plot.fabric("drops"), "metric `drops` does not exist", "did you mean `drops_pkts`?"),
        (lambda plot: plot.fabric(), "18 networks cannot be read", "choose with where"),
        (lambda plot: plot.timeline(columns=["cwnd"]), "column `cwnd` does not exist", "did you mean `cwnd_pkts`?"),
        (lambda plot: plot.timeline(where={"pattern": "long", "scheme": "xmp-1"}), "too many", "flow="),
        (lambda plot: plot.timeline(seed=9), "no sample is of seed 9", "there are 1, 2"),
    ],
)
def test_what_does_not_exist_is_said_with_what_does(run: tresse.Run, wrong: Any, message: str, hint: str) -> None:
    with pytest.raises(tresse.TresseError) as caught:
        wrong(run.plot)
    assert message in caught.value.message
    assert hint in str(caught.value.hint)
    assert caught.value.code == "input"


def test_a_style_that_does_not_exist() -> None:
    with pytest.raises(tresse.TresseError, match="did you mean `one-column`"), tresse.plot.style("onecolumn"):
        pass


def test_matplotlib_comes_when_it_is_used_and_is_named_when_it_is_missing(run: tresse.Run) -> None:
    script = f"""
import sys
import tresse
run = tresse.open({str(run.folder)!r})
run._repr_html_()
assert "matplotlib" not in sys.modules and "numpy" not in sys.modules
sys.modules["matplotlib"] = None
try:
    run.plot
except tresse.TresseError as error:
    assert error.code == "machine" and error.hint == "pip install matplotlib pyarrow", error
else:
    raise SystemExit("no error")
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_rows_find_their_cases(run: tresse.Run) -> None:
    places = Columns(run.flows).case_of(run.cases)
    assert (places >= 0).all()
    counts = np.bincount(places, minlength=len(run.cases))
    assert counts.tolist() == [case.metrics["flows"] for case in run.cases]


def test_percentiles_are_the_programs(run: tresse.Run) -> None:
    columns = Columns(run.flows)
    places = columns.case_of(run.cases)
    goodput = columns.number("goodput_bps")
    for place, case in enumerate(run.cases):
        own = distribution(goodput[places == place])
        assert own.percentile(50) == case.metrics["goodput_p50_bps"]
        assert own.percentile(90) == case.metrics["goodput_p90_bps"]


def test_values_of_an_axis_are_numbers() -> None:
    assert magnitudes(["10pkt", "20pkt"]) == {"10pkt": 10, "20pkt": 20}
    assert magnitudes(["200ms", "1s"]) == {"200ms": pytest.approx(0.2), "1s": 1}
    assert magnitudes(["1-flow", "10-flows"]) == {"1-flow": 1, "10-flows": 10}
    assert magnitudes(["xmp-2", "xmp-4"]) == {"xmp-2": 2, "xmp-4": 4}
    assert magnitudes(["a", "b"]) is None
    assert magnitudes(["x-1", "y-1"]) is None
