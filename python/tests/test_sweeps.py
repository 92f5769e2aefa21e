"""`tresse.sweep`, and the command `tresse sweep`."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import polars
import pytest
from conftest import SMALL
from hypothesis import given, settings
from hypothesis import strategies as st

import tresse
from tresse.designs import draw
from tresse.experiments import toml
from tresse.sweeps import merge

PLAN: dict[str, Any] = {
    "title": "K and beta",
    "experiment": SMALL,
    "only": {"scheme": "xmp"},
    "designs": [{"keys": {"fabric.mark": ["5pkt", "20pkt"], "schemes.xmp.parameters.beta": [2, 4, 6]}}],
}


def test_a_dict_is_a_plan(tmp_path: Path) -> None:
    own = tresse.sweep(PLAN, out=tmp_path / "a", progress=False)
    assert (own.points, own.failed) == (6, 0)
    rows = own.results.to_polars()
    assert rows["schemes.xmp.parameters.beta"].to_list() == [2, 4, 6, 2, 4, 6]
    assert own.results.meanings["goodput_mean_bps"].startswith("a flow's delivered payload")
    assert own.costs.to_polars()["seconds"].min() > 0
    # A point is the run with its settings, to the digest.
    run = tresse.run(
        SMALL,
        only={"scheme": "xmp"},
        set={"fabric.mark": "20pkt", "schemes.xmp.parameters.beta": 6},
        out=tmp_path / "run",
        progress=False,
    )
    last = rows.row(5, named=True)
    assert last["digest"] == run.report_json["cases"][0]["digest"]
    assert last["goodput_mean_bps"] == run.cases[0].metrics["goodput_mean_bps"]
    again = tresse.open(tmp_path / "a")
    assert isinstance(again, tresse.Sweep)
    assert again.results.to_polars().equals(rows)
    assert "6 points" in repr(again)
    assert len(str(again).split("\n")) > 6
    assert "20pkt" in str(again)
    assert "<table" in again._repr_html_()
    shown = subprocess.run(
        [sys.executable, "-m", "tresse", "show", str(tmp_path / "a")], capture_output=True, text=True, check=True
    )
    assert shown.stdout.rstrip("\n") == str(again), "what the command prints"


def test_a_sweep_has_figures_of_its_metrics(tmp_path: Path) -> None:
    pyplot = pytest.importorskip("matplotlib.pyplot")
    folder = tmp_path / "a"
    own = tresse.sweep(PLAN, out=folder, progress=False)
    for figure in (own.plot.axis("schemes.xmp.parameters.beta", "fct_p99_s"), own.plot.figure("fct_p99_s")):
        # The key with the most values, and a panel for each value of the other one.
        assert [axes.get_title("left") for axes in figure.axes] == ["mark 5pkt", "mark 20pkt"]
        x, y = figure.axes[1].lines[0].get_data()
        wanted = own.results.to_polars().filter(polars.col("fabric.mark") == "20pkt")
        assert list(x) == wanted["schemes.xmp.parameters.beta"].to_list() == [2, 4, 6]
        assert [own / 1e3 for own in y] == pytest.approx(wanted["fct_p99_s"].to_list())
    with pytest.raises(tresse.TresseError, match="a sweep keeps metrics, and no flows") as caught:
        own.plot.cdf("fct_s")
    assert "a list of values makes a case of each" in str(caught.value)
    pyplot.close("all")

    def plot(metric: str) -> subprocess.CompletedProcess[str]:
        words = [sys.executable, "-m", "tresse", "plot", str(folder), metric, "-o", str(tmp_path / "tail.pdf")]
        return subprocess.run(words, capture_output=True, text=True, check=False)

    assert plot("fct_p99_s").returncode == 0
    assert (tmp_path / "tail.pdf").read_bytes().startswith(b"%PDF")
    assert "no metric `fct_p95_s`; did you mean `fct_p99_s`?" in plot("fct_p95_s").stderr


def test_the_command_killed_and_started_again_ends_with_the_same_bytes(tmp_path: Path) -> None:
    keys = {"fabric.mark": {"from": "5pkt", "to": "44pkt", "steps": 40}}
    # Points of a tenth of a second, so that it does not end before it is killed.
    plan = {**PLAN, "set": {"workloads.permutation.size": "2MB"}, "designs": [{"keys": keys}]}
    (tmp_path / "plan.toml").write_text(toml(plan))
    command = [sys.executable, "-m", "tresse", "sweep", "plan.toml", "--progress", "never", "--out"]
    tresse.sweep(tmp_path / "plan.toml", out=tmp_path / "whole", progress=False)
    process = subprocess.Popen([*command, "killed"], cwd=tmp_path, stdout=subprocess.DEVNULL)
    journal = tmp_path / "killed/journal.jsonl"
    while not journal.exists() or journal.read_bytes().count(b"\n") < 6:
        time.sleep(0.01)
        assert process.poll() is None, "it ended before it could be killed"
    process.send_signal(signal.SIGKILL)
    process.wait()
    kept = journal.read_bytes().count(b"\n") - 1
    assert kept < 40
    done = subprocess.run([*command, "killed", "--json"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["points"] == 40
    lines = journal.read_text().splitlines()[1:]
    assert len({json.loads(line)["record"]["address"] for line in lines}) == len(lines) == 40
    whole, killed = (tmp_path / name / "results.parquet" for name in ("whole", "killed"))
    assert whole.read_bytes() == killed.read_bytes()


def test_replications_go_on_until_the_interval_is_narrow(tmp_path: Path) -> None:
    keys = {"fabric.mark": ["5pkt", "40pkt"]}
    plan = {**PLAN, "replications": "10%", "designs": [{"keys": keys}]}
    rows = tresse.sweep(plan, out=tmp_path / "a", progress=False).results.to_polars()
    assert rows["seeds"].min() >= 2  # type: ignore[operator]
    assert (rows["goodput_mean_bps_ci95"] <= 0.1 * rows["goodput_mean_bps"]).all()


def test_shards_are_merged(tmp_path: Path) -> None:
    whole = tresse.sweep(PLAN, out=tmp_path / "whole", progress=False)
    for shard in ("1/2", "2/2"):
        tresse.sweep(PLAN, out=tmp_path / "shards", shard=shard, progress=False)
    assert merge(tmp_path / "shards").results.to_polars().equals(whole.results.to_polars())


@pytest.mark.parametrize("kind", ["sobol", "latin-hypercube", "random"])
def test_designs_that_draw(kind: str, tmp_path: Path) -> None:
    keys = {
        "fabric.mark": {"from": "5pkt", "to": "60pkt"},
        "fabric.rate": {"from": "100Mbps", "to": "1Gbps", "scale": "log"},
    }
    plan = {**PLAN, "designs": [{"kind": kind, "points": 4, "keys": keys, "seed": 7}]}
    first = tresse.sweep(plan, out=tmp_path / "a", progress=False).results.to_polars()
    assert len(first) == 4
    (tmp_path / "plan.toml").write_text(toml(plan))
    command = [sys.executable, "-m", "tresse", "sweep", "plan.toml", "--out", "b", "--progress", "never"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    assert polars.read_parquet(tmp_path / "b/results.parquet").equals(first), "the same seed, the same points"


@settings(max_examples=30, deadline=None)
@given(
    kind=st.sampled_from(["sobol", "latin-hypercube", "random"]),
    points=st.integers(1, 40),
    dimensions=st.integers(1, 8),
    seed=st.integers(0, 2**31),
)
def test_a_sampler_fills_the_unit_cube(kind: str, points: int, dimensions: int, seed: int) -> None:
    drawn = draw(kind, points, dimensions, seed)
    assert [len(point) for point in drawn] == [dimensions] * points
    assert all(0 <= share < 1 for point in drawn for share in point)
    assert drawn == draw(kind, points, dimensions, seed)
    if kind == "latin-hypercube":
        for column in zip(*drawn, strict=True):
            assert sorted(int(share * points) for share in column) == list(range(points)), "one in each row"


def test_ctrl_c_keeps_what_is_computed(tmp_path: Path) -> None:
    plan = {**PLAN, "designs": [{"keys": {"fabric.mark": {"from": "5pkt", "to": "204pkt", "steps": 200}}}]}
    (tmp_path / "plan.toml").write_text(toml(plan))
    own = "import tresse; tresse.sweep('plan.toml', out='a', progress=False)"
    process = subprocess.Popen([sys.executable, "-c", own], cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    journal = tmp_path / "a/journal.jsonl"
    while not journal.exists() or journal.read_bytes().count(b"\n") < 6:
        time.sleep(0.01)
        assert process.poll() is None, "it ended before it could be interrupted"
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=20)
    assert "KeyboardInterrupt" in said
    kept = tresse.Sweep(tmp_path / "a")
    assert 5 <= kept.points < 200
    assert kept.results.num_rows == kept.points


def test_ctrl_c_while_the_bar_is_made_leaves_nothing_running(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        time.sleep(0.5)
        raise KeyboardInterrupt

    monkeypatch.setattr("tresse.sweeps.bar", interrupted)
    with pytest.raises(KeyboardInterrupt):
        tresse.sweep(PLAN, out=tmp_path / "a", progress=False)
    assert tresse.Sweep(tmp_path / "a").points == 0, "nothing had begun"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"designs": []}, "the plan has no points"),
        ({"experiment": "xmp/tabel1"}, "there is no experiment `xmp/tabel1`"),
        ({"designs": [{"keys": {"fabric.marks": ["5pkt"]}}]}, "marks"),
        ({"designs": [{"kind": "cube", "keys": {"fabric.mark": ["5pkt"]}}]}, "cube"),
        ({"colour": 1}, "unknown key `colour`"),
    ],
)
def test_wrong_plans_are_told_as_by_the_command(change: dict[str, Any], words: str, tmp_path: Path) -> None:
    file = tmp_path / "plan.toml"
    file.write_text(toml({**PLAN, **change}))
    with pytest.raises(tresse.TresseError) as caught:
        tresse.sweep(file, out=tmp_path / "a", progress=False)
    assert words in str(caught.value)
    command = [sys.executable, "-m", "tresse", "sweep", str(file), "--out", str(tmp_path / "a")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == caught.value.exit_code == 2
    assert done.stderr.strip() == f"error: {caught.value}"


def test_what_is_no_engine(tmp_path: Path) -> None:
    with pytest.raises(tresse.TresseError, match='"local" or "ray"'):
        tresse.sweep(PLAN, out=tmp_path, engine="slurm")  # type: ignore[arg-type]
    with pytest.raises(tresse.TresseError, match="not a sweep"):
        tresse.Sweep(tmp_path)
