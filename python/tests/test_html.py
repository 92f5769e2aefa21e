"""What a notebook shows of runs, cases and tables."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from conftest import SMALL

import tresse
from tresse import html
from tresse.plot.units import formatted


@pytest.fixture(scope="module")
def threshold(folder: Path) -> tresse.Run:
    """XMP's equation (1), with claims and an optimum: seconds."""
    return tresse.run("xmp/threshold", out=folder / "threshold", progress=False)


def parsed(text: str) -> ET.Element:
    """It is well formed, so that it breaks no notebook; and it runs and loads nothing."""
    root = ET.fromstring(text)
    assert not {own.tag for own in root.iter()} & {"script", "iframe", "link", "img", "object"}
    assert not [own for own in root.iter() if any(name.startswith("on") for name in own.attrib)]
    return root


def words(element: ET.Element) -> list[str]:
    return ["".join(own.itertext()) for own in element]


def test_a_run_shows_its_results_its_claims_and_charts(threshold: tresse.Run) -> None:
    root = parsed(threshold._repr_html_())
    head = words(next(root.iter("thead"))[0])
    assert head[:3] == ["Scheme", "Variant", "Goodput meanMbit/s"]
    assert "Optimum" in head
    rows = [words(row) for row in next(root.iter("tbody"))]
    assert len(rows) == len(threshold.cases)
    first = threshold.cases[0]
    assert rows[0][:3] == [first.scheme, first.axes["variant"], f"{first.metrics['goodput_mean_bps'] / 1e6:.1f}"]
    assert rows[0][head.index("Optimum")] == f"{first.optimum['goodput_mean_bps'] / 1e6:.1f}"
    text = "".join(root.itertext())
    hold = sum(claim.holds is True for claim in threshold.claims)
    assert f"{hold} of {len(threshold.claims)} claims hold" in text
    for claim in threshold.claims:
        assert claim.text in text
    assert formatted("goodput_bps", threshold.claims[0].value) in text
    assert threshold.digest[:12] in text


def test_published_numbers_and_intervals_stand_beside_ours(folder: Path) -> None:
    run = tresse.run(SMALL, replications=2, out=folder / "beside", progress=False)
    own = run.cases[0]
    own.published["goodput_mean_bps"] = 2 * own.metrics["goodput_mean_bps"]
    root = parsed(run._repr_html_())
    head = words(next(root.iter("thead"))[0])
    row = words(next(root.iter("tbody"))[0])
    assert head[2:5] == ["±95 %", "Published", "Ratio"]
    assert row[4] == "0.50"
    bars = next(root.iter("svg"))
    assert len(list(bars.iter("rect"))) == len(run.cases)
    widths = [float(one.attrib["width"]) for one in bars.iter("rect")]
    metrics = [case.metrics["goodput_mean_bps"] for case in run.cases]
    assert widths[0] / widths[1] == pytest.approx(metrics[0] / metrics[1], rel=0.01)
    assert "published" in "".join(bars.itertext())


def test_cases_and_tables_show_themselves(threshold: tresse.Run) -> None:
    cases = parsed(threshold.cases._repr_html_())
    assert len(list(next(cases.iter("tbody")))) == len(threshold.cases)
    root = parsed(threshold.flows._repr_html_())
    heads = list(root.iter("th"))
    assert [own.text for own in heads] == threshold.flows.column_names
    goodput = next(own for own in heads if own.text == "goodput_bps")
    assert goodput.attrib["title"] == threshold.flows.meanings["goodput_bps"]
    assert len(list(next(root.iter("tbody")))) == 10


def test_words_of_an_experiment_are_no_html(folder: Path) -> None:
    wild = SMALL | {"title": "<script>alert(1)</script> & more", "schemes": {"a": {"controller": "dctcp"}}}
    run = tresse.run(wild, out=folder / "wild", progress=False)
    text = run._repr_html_()
    parsed(text)
    assert "&lt;script&gt;alert(1)&lt;/script&gt; &amp; more" in text


def test_many_cases_are_not_all_shown(threshold: tresse.Run) -> None:
    many = [*threshold.cases] * 4
    assert len(many) > 60
    root = parsed(html.cases_html(many))
    assert len(list(next(root.iter("tbody")))) == 60
    assert f"and {len(many) - 60} more cases" in "".join(root.itertext())
