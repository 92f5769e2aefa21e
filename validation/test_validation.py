"""What needs neither simulator: the reading of the experiments, the sums, and the page."""

from __future__ import annotations

import json
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

import page
from experiment import Experiment, nanoseconds
from measure import Port, measured, percentile

HERE = Path(__file__).parent


def test_units() -> None:
    assert [nanoseconds(text) for text in ("62.5us", "1ms", "0.3s", "7ns")] == [62_500, 1_000_000, 300_000_000, 7]
    with pytest.raises(ValueError, match="not a time"):
        nanoseconds("12")


def test_settings_replace_what_the_file_says() -> None:
    settings = ("fabric.mark=60pkt", "workloads.starts-1.duration=5s", "transport.handshake=false")
    experiment = Experiment(HERE / "dumbbell.toml", "dctcp", settings)
    assert experiment.mark() == 60
    assert experiment.workloads["starts-1"]["duration"] == "5s"
    assert experiment.transport["handshake"] is False
    assert experiment.transport["reduction"] == "immediate"


def test_the_fat_tree_is_that_of_tresse_topology_show() -> None:
    experiment = Experiment(HERE / "fat-tree.toml", "newreno")
    assert len(experiment.nodes) == 16 + 20
    assert Counter(link.layer for link in experiment.links) == {"rack": 16, "aggregation": 16, "core": 16}
    ports = Counter(end for link in experiment.links for end in link.ends if not experiment.is_host(end))
    assert set(ports.values()) == {4}


@pytest.mark.parametrize("file", ["dumbbell.toml", "fat-tree.toml"])
def test_paths_follow_links(file: str) -> None:
    experiment = Experiment(HERE / file, "dctcp")
    joined = {frozenset(link.ends) for link in experiment.links}
    for workload in experiment.workloads:
        flows = experiment.flows(workload)
        assert len({flow.path[0] for flow in flows}) == len({flow.path[-1] for flow in flows}) == len(flows)
        for flow in flows:
            assert all(frozenset(step) in joined for step in pairwise(flow.path))


def test_sums_leave_out_ports_without_data() -> None:
    busy = Port("core", 1e9, 125_000_000, drops=2, looks=[1, 0, 3])
    acks = Port("core", 1e9, 1_250_000, drops=9, looks=[4])
    hosts = Port("rack", 1e9, 125_000_000, drops=9, looks=[4])
    m = measured([100_000_000, 20_000_000], [busy, acks, hosts], marks=3, timeouts=1, seconds=1.0)
    assert (m.goodput_total_bps, m.marks, m.drops, m.timeouts) == (960_000_000, 3, 2, 1)
    assert (m.queue_mean_pkts, m.queue_p99_pkts) == (1.5, 2)
    assert m.jain_ratio == round(120**2 / (2 * (100**2 + 20**2)), 4)


def test_a_percentile_is_a_length_that_occurred() -> None:
    assert [percentile([98, 1, 1], share) for share in (0.5, 0.98, 0.99, 1.0)] == [0, 0, 1, 2]


def test_the_page_is_what_the_results_say() -> None:
    assert page.PAGE.read_text() == page.render(json.loads(page.RESULTS.read_text()))


def test_a_difference_without_a_reason_is_an_error() -> None:
    results = json.loads(page.RESULTS.read_text())
    for run in results["comparisons"]["fat-tree-dctcp"]["tresse"].values():
        run["queue_p99_pkts"] *= 2
    with pytest.raises(ValueError, match="nothing says why fat-tree-dctcp differs in queue_p99_pkts"):
        page.render(results)
