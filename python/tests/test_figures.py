"""The figures that experiments declare, as files for papers."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from conftest import SMALL, long

import tresse
from tresse.plot import draw, over_time, palette, schemes, timeline
from tresse.plot.__main__ import save

mpl.use("agg")

FIGURES: list[dict[str, Any]] = [
    {"id": "cdf", "chart": "cdf", "x": "goodput_bps", "panels": "distance", "where": {"mark": "10pkt"}},
    {"id": "bars", "chart": "bars", "x": "mark", "y": "goodput_mean_bps"},
    {"id": "windows", "chart": "bars", "x": "window", "y": "goodput_mean_bps", "where": {"mark": "40pkt"}},
    {"id": "matrix", "chart": "matrix", "x": "mark", "y": "fct_p99_s"},
    {"id": "lines", "chart": "lines", "x": "mark", "y": "goodput_p10_bps", "log": ["y"]},
    {"id": "boxes", "chart": "boxes", "x": "layer", "y": "utilisation_ratio", "where": {"mark": "10pkt"}},
    {"id": "sizes", "chart": "boxes", "x": "mark", "y": "size_bytes"},
    {"id": "scatter", "chart": "scatter", "x": "queue_mean_pkts", "y": "goodput_mean_bps"},
    {"id": "time", "chart": "time", "y": "goodput_bps", "series": "scheme", "where": {"mark": "10pkt"}},
    {"id": "subflows", "chart": "time", "y": "cwnd_pkts", "where": {"flow": 0, "scheme": "xmp", "mark": "10pkt"}},
    {
        "id": "panels",
        "chart": "time",
        "y": "goodput_bps",
        "series": "scheme",
        "panels": "scheme",
        "where": {"mark": "10pkt"},
    },
    {
        "id": "queues",
        "chart": "time",
        "y": "waiting_pkts",
        "series": "layer",
        "where": {"mark": "10pkt", "scheme": "dctcp"},
    },
]
"""One or more of each chart."""


@pytest.fixture(scope="module")
def run(folder: Path) -> tresse.Run:
    experiment = SMALL | {
        "fabric": SMALL["fabric"] | {"mark": ["10pkt", "40pkt"]},
        "measure": {
            "links": True,
            "samples": "200us",
            "queues": "100us",
            "windows": {"early": ["0ms", "2ms"], "late": ["2ms", "4ms"]},
        },
        "figures": [{"title": f"The figure {own['id']}", **own} for own in FIGURES],
    }
    return tresse.run(experiment, replications=2, out=folder / "declared", progress=False)


def command(*args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tresse.plot", *args], capture_output=True, text=True, check=False, timeout=120
    )


def labels(figure: Any) -> list[str]:
    return [own.get_text() for legend in figure.legends for own in legend.get_texts()]


@pytest.mark.parametrize("name", [own["id"] for own in FIGURES])
@pytest.mark.parametrize(("width", "inches"), [("one-column", 3.5), ("two-columns", 7.16)])
def test_every_chart_is_a_pdf_of_the_width_with_its_fonts(
    run: tresse.Run, tmp_path: Path, name: str, width: str, inches: float
) -> None:
    with tresse.plot.style(width):
        figure = run.plot.figure(name)
        figure.savefig(tmp_path / "figure.pdf")
    written = (tmp_path / "figure.pdf").read_bytes()
    (box,) = re.findall(rb"/MediaBox \[ 0 0 ([\d.]+) ([\d.]+) \]", written)
    assert abs(float(box[0]) - 72 * inches) < 1
    assert float(box[1]) < 72 * 9.5, "a figure fits on a page"
    assert b"/Type3" not in written
    fonts = written.count(b"/FontDescriptor /Ascent") or written.count(b"/Type /FontDescriptor")
    assert fonts > 0
    assert written.count(b"/FontFile2") == fonts, "every font is embedded as TrueType"
    for axes in figure.axes:
        assert axes.has_data() or axes.patches, name


def test_a_scheme_has_one_colour_in_every_chart(run: tresse.Run) -> None:
    wanted = {name: palette.look_at(schemes.PLACES[name]).colour for name in ("dctcp-1", "xmp-2")}
    for name in ("cdf", "bars", "lines", "scatter", "time", "panels"):
        figure: Any = run.plot.figure(name)
        (legend,) = figure.legends
        keys = dict(zip(labels(figure), legend.legend_handles, strict=True))
        for scheme, colour in wanted.items():
            handle: Any = keys[scheme]
            own = handle.get_color() if hasattr(handle, "get_color") else handle.get_facecolor()
            assert mpl.colors.to_hex(own) == colour, (name, scheme)
    only = run.plot.figure("subflows")
    assert {line.get_color() for line in only.axes[0].lines} == set(palette.SERIES[:2])


def test_schemes_share_a_panel_over_time_unless_panels_are_asked_for(run: tresse.Run) -> None:
    together: Any = run.plot.figure("time")
    assert len(together.axes) == 1
    assert labels(together) == ["dctcp-1", "xmp-2"]
    apart: Any = run.plot.figure("panels")
    assert [axes.get_title("left") for axes in apart.axes] == ["dctcp-1", "xmp-2"]


def test_lines_over_time_are_smoothed_with_the_samples_behind_them(run: tresse.Run) -> None:
    plain: Any = run.plot.figure("time")
    figure: Any = run.plot.figure("time", smooth=0.1)
    raw, smooth = figure.axes[0].lines[:2]
    (before, *_) = plain.axes[0].lines
    assert np.array_equal(raw.get_ydata(), before.get_ydata(), equal_nan=True)
    assert (raw.get_color(), raw.get_alpha()) == (smooth.get_color(), 0.3)
    assert raw.get_linewidth() < smooth.get_linewidth()
    assert np.nanstd(smooth.get_ydata()) < np.nanstd(raw.get_ydata())
    assert labels(figure) == labels(plain)
    with pytest.raises(tresse.TresseError, match="no lines over time"):
        run.plot.figure("bars", smooth=0.1)
    with pytest.raises(tresse.TresseError, match="no share of the time"):
        run.plot.figure("time", smooth=3)


def test_a_smoothed_line_is_the_mean_around_each_instant() -> None:
    edges = np.arange(201.0)
    at, mean = timeline.smoothed(edges, np.repeat([0.0, 1.0], 100), 20, steps=True)
    assert np.allclose(np.interp([50, 95, 100, 105, 150], at, mean), [0, 0.25, 0.5, 0.75, 1], atol=0.01)
    gap = np.where(np.arange(200) // 50 == 1, np.nan, 1.0)
    at, mean = timeline.smoothed(edges, gap, 20, steps=True)
    assert np.array_equal(np.isnan(mean), (at > 50) & (at < 100))
    # A value at the end of an interval stays there.
    at, mean = timeline.smoothed(edges, np.where(np.arange(200) == 99, 1.0, 0.0), 4, steps=False)
    assert np.average(at, weights=mean) == pytest.approx(100)


def test_rates_over_time_are_the_sums_of_the_samples(run: tresse.Run) -> None:
    samples = run.samples.to_polars()
    own = samples.filter(
        (samples["scheme"] == "dctcp") & (samples["mark"] == "10pkt") & (samples["seed"] == samples["seed"].min())
    )
    figure: Any = run.plot.figure("time")
    line = figure.axes[0].lines[0]
    assert figure.axes[0].get_ylabel() == "Goodput (Gbit/s)"
    assert figure.axes[0].get_xlabel() == "Time (ms)"
    x, y = np.asarray(line.get_xdata()) * 1e-3, np.asarray(line.get_ydata()) * 1e9
    first = own.filter(own["start_ps"] == 0)
    assert len(first) > 1
    assert y[0] == pytest.approx(first["goodput_bps"].sum(), rel=1e-9)
    # Steps: the area below them is what arrived.
    area = float(np.nansum((np.diff(x) * y[:-1])[::2])) / 8
    assert area == pytest.approx(own["arrived_bytes"].sum(), rel=1e-6)


def test_the_metric_of_a_window_is_that_of_the_report(run: tresse.Run) -> None:
    figure: Any = run.plot.figure("windows")
    heights = sorted(patch.get_height() for patch in figure.axes[0].patches)
    cases = [own for case, own in zip(run.cases, run.report_json["cases"], strict=True) if case.axes["mark"] == "40pkt"]
    wanted = sorted(
        own["windows"][name]["metrics"]["goodput_mean_bps"] / 1e6 for own in cases for name in ("early", "late")
    )
    assert np.allclose(heights, wanted)


def test_an_interval_that_reaches_zero_on_a_logarithmic_axis_ends_in_an_arrow() -> None:
    figure, axes = mpl.pyplot.subplots()
    axes.set_yscale("log")
    axes.set_ylim(1, 1000)
    draw.intervals(axes, [1, 2], [100, 100], [20, 150], "black")
    (arrow,) = axes.texts
    assert (arrow.xy[0], arrow.xyann[0]) == (2, 2)
    assert arrow.xy[1] == 1
    ends = [segment for bars in axes.collections for segment in bars.get_segments()]
    assert {tuple(np.asarray(own)[:, 1]) for own in ends} == {(80, 120), (100, 250)}
    mpl.pyplot.close(figure)
    figure, axes = mpl.pyplot.subplots()
    draw.intervals(axes, [2], [100], [150], "black")
    assert not axes.texts
    mpl.pyplot.close(figure)


def test_a_box_of_one_value_is_a_point(run: tresse.Run) -> None:
    figure: Any = run.plot.figure("sizes")
    (axes,) = figure.axes
    assert len(axes.lines) == 4
    assert all(len(np.asarray(line.get_xdata())) == 1 and line.get_marker() != "None" for line in axes.lines)
    assert not axes.patches


def test_a_scatter_has_a_point_for_each_case(run: tresse.Run) -> None:
    figure: Any = run.plot.figure("scatter")
    (axes,) = figure.axes
    points = [line for line in axes.lines if line.get_marker() in palette.MARKERS]
    assert len(points) == len(run.cases)


def test_lines_over_time_have_natural_names() -> None:
    names = ["flow 10", "flow 2", "flow 2, subflow 1", "flow 2, subflow 0"]
    assert sorted(names, key=over_time._natural) == ["flow 2", "flow 2, subflow 0", "flow 2, subflow 1", "flow 10"]


def test_the_command_writes_what_the_package_draws(run: tresse.Run, tmp_path: Path) -> None:
    with tresse.plot.style("one-column"):
        run.plot.figure("bars").savefig(tmp_path / "own.pdf", metadata={"CreationDate": None})
    for form in ("pdf", "svg", "png"):
        file = tmp_path / f"figure.{form}"
        done = command("--format", form, "--output", str(file), str(run.folder), "bars")
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (tmp_path / "figure.pdf").read_bytes() == (tmp_path / "own.pdf").read_bytes()
    assert "goodput" in (tmp_path / "figure.svg").read_text(encoding="utf-8").lower()
    assert not list(tmp_path.glob("*.part"))


def test_the_command_says_what_is_wrong(run: tresse.Run, shift: tresse.Run, tmp_path: Path) -> None:
    out = str(tmp_path / "figure.pdf")
    unknown = command("--format", "pdf", "--output", out, str(run.folder), "bar")
    assert unknown.returncode == 2
    assert "did you mean `bars`?" in unknown.stderr
    assert "scatter" in unknown.stderr
    nowhere = command("--format", "pdf", "--output", str(tmp_path / "no/f.pdf"), str(run.folder), "bars")
    assert (nowhere.returncode, nowhere.stdout) == (2, "")
    assert "No such file" in nowhere.stderr
    assert shift.plot.figures == {"fig4": shift.declared["figures"][0]["title"]}


PAPERS = {
    "xmp": "xmp/fig4",
    "opn": "opn/fig3",
    "dcm": "dcm/k-beta",
    "holnet": "holnet/fig4.4",
    "vmcc": "vmcc/fig10",
}
"""An experiment of each paper that takes seconds."""

DOCUMENT = r"""
\documentclass[10pt,twocolumn]{article}
\usepackage[letterpaper,textwidth=7.16in,columnsep=0.16in]{geometry}
\usepackage{graphicx}
\begin{document}
%s
\end{document}
"""


@long
@pytest.mark.skipif(
    shutil.which("pdflatex") is None,
    reason="the papers' figures in LaTeX: no pdflatex (apt-get install texlive-latex-base)",
)
def test_the_papers_figures_compile_into_a_document_of_two_columns(tmp_path: Path) -> None:
    included: list[str] = []
    for experiment in PAPERS.values():
        run = tresse.run(experiment, replications=1, out=tmp_path / experiment.replace("/", "-"), progress=False)
        for name in run.plot.figures:
            for width, kind in (("column", "figure"), ("text", "figure*")):
                file = f"{experiment}-{name}-{width}".replace("/", "-").replace(".", "-")
                save(run, name, str(tmp_path / f"{file}.pdf"), "pdf", width)
                included.append(rf"\begin{{{kind}}}\includegraphics{{{file}.pdf}}\end{{{kind}}}\clearpage")
    (tmp_path / "paper.tex").write_text(DOCUMENT % "\n".join(included), encoding="utf-8")
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"],
        cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:]
    assert "Overfull" not in done.stdout, "a figure is wider than its column"
    assert (tmp_path / "paper.pdf").stat().st_size > 0


def test_the_shares_of_uplinks_begin_with_their_rates_and_add_up(folder: Path) -> None:
    names = ["leaf 0 → spine 0", "leaf 0 → spine 1"]
    experiment = {
        "title": "Shares",
        "fabric": {
            "topology": "leaf-spine",
            "leaves": 2,
            "spines": 2,
            "hosts_per_leaf": 2,
            "rate": "1Gbps",
            "delay": "10us",
            "queue": "50pkt",
            "mark": "30pkt",
            "host_queue": "unlimited",
            "routing": {"name": "holnet-percentage", "period": "40us"},
            "links": [{"ends": ["leaf 0", "spine 0"], "rate": "250Mbps"}],
        },
        "transport": {"profile": "ns3"},
        "schemes": {"uta": {"controller": "holnet_uta"}},
        "workloads": {"pairs": {"pattern": "permutation", "size": "200kB"}},
        "measure": {"samples": "200us"},
        "figures": [{"id": "shares", "title": "Shares", "chart": "time", "y": "share_ratio", "where": {"port": names}}],
    }
    run = tresse.run(experiment, out=folder / "shares", progress=False)
    figure: Any = run.plot.figure("shares")
    assert labels(figure) == names
    slow, fast = (line.get_ydata() for line in figure.axes[0].lines[:2])
    assert slow[0] == pytest.approx(0.2, abs=1e-6)
    assert fast[0] == pytest.approx(0.8, abs=1e-6)
    both = slow + fast
    assert both[~np.isnan(both)] == pytest.approx(1, abs=2e-6)
