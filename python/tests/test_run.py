"""Runs: the same as the command's, read back, interrupted, side by side."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import polars
import pyarrow
import pytest
from conftest import SMALL

import tresse


def command(*arguments: str, text: str | None = None) -> subprocess.CompletedProcess[str]:
    own = [sys.executable, "-m", "tresse", *arguments]
    return subprocess.run(own, input=text, capture_output=True, text=True, check=False)


def test_the_results_are_those_of_the_command(folder: Path) -> None:
    arguments = ["--only", "scheme=beta-4", "--set", "fabric.mark=20pkt", "--seed", "3", "--replications", "2"]
    printed = command("run", "xmp/fig4", *arguments, "--out", str(folder / "command"), "--json")
    assert printed.returncode == 0, printed.stderr
    own = tresse.run(
        "xmp/fig4",
        only={"scheme": "beta-4"},
        set={"fabric.mark": "20pkt"},
        seed=3,
        replications=2,
        out=folder / "python",
        progress=False,
    )
    theirs = json.loads(printed.stdout)
    assert own.digest == theirs["digest"]
    assert [case.metrics for case in own.cases] == [case["metrics"] for case in theirs["cases"]]
    assert own.seed == 3
    assert [claim.holds for claim in own.claims] == [claim["holds"] for claim in theirs["claims"]]


def test_a_dict_is_the_file_with_the_same_tables(folder: Path) -> None:
    from tresse.experiments import toml

    file = folder / "small.toml"
    file.write_text(toml(SMALL))
    of_file = tresse.run(file, out=folder / "of-file", progress=False)
    of_dict = tresse.run(SMALL, out=folder / "of-dict", progress=False)
    assert of_dict.digest == of_file.digest
    assert {case.label for case in of_dict.cases} == {"dctcp-1 permutation", "xmp-2 permutation"}
    assert of_dict.experiment["fabric"]["k"] == 4


def test_a_list_makes_a_case_of_each_value(folder: Path) -> None:
    run = tresse.run(
        SMALL, only={"scheme": "dctcp"}, set={"fabric.mark": ["5pkt", "20pkt"]}, out=folder / "list", progress=False
    )
    assert [case.axes["mark"] for case in run.cases] == ["5pkt", "20pkt"]
    assert run.case(mark="5pkt").metrics["goodput_mean_bps"] > 0
    with pytest.raises(tresse.TresseError, match="2 cases have scheme=dctcp"):
        run.case(scheme="dctcp")


def test_tables_are_arrow(shift: tresse.Run) -> None:
    table = shift.flows
    frame = polars.DataFrame(table)
    arrow = pyarrow.table(table)
    assert frame.columns == arrow.column_names == table.column_names
    assert len(table) == frame.height == arrow.num_rows > 0
    parquet = polars.read_parquet(shift.folder / "flows.parquet")
    assert frame.equals(parquet)
    assert table.to_pandas()["goodput_bps"].tolist() == frame["goodput_bps"].to_list()
    assert all(table.meanings[column] for column in table.column_names)


def test_a_damaged_table_is_named(shift: tresse.Run, folder: Path) -> None:
    broken = folder / "damaged-run"
    shutil.copytree(shift.folder, broken)
    opened = tresse.open(broken)
    content = bytearray((broken / "flows.parquet").read_bytes())
    content[100] ^= 4
    (broken / "flows.parquet").write_bytes(content)
    with pytest.raises(tresse.TresseError, match=r"flows\.parquet: not the table that the run wrote"):
        _ = opened.flows
    with pytest.raises(tresse.TresseError, match=r"flows\.parquet: not the table that the run wrote"):
        _ = tresse.open(broken).status


def test_duckdb_reads_a_table(shift: tresse.Run) -> None:
    duckdb = pytest.importorskip("duckdb")
    flows = shift.flows  # noqa: F841 - DuckDB finds it by its name
    [counted] = duckdb.sql("SELECT count(*), sum(delivered_bytes) FROM flows").fetchall()
    frame = polars.DataFrame(shift.flows)
    assert counted == (frame.height, frame["delivered_bytes"].sum())


def test_a_run_is_read_back(shift: tresse.Run) -> None:
    again = tresse.open(shift.folder)
    assert again.report_json == shift.report_json
    assert (again.state, again.status, again.name) == ("complete", "complete", "xmp/fig4")
    assert again.tables == shift.tables
    assert again.samples.num_rows == shift.samples.num_rows
    optimum = again.optimum
    assert set(optimum) <= {case.label for case in again.cases}


def test_two_runs_side_by_side(shift: tresse.Run) -> None:
    compared = tresse.compare(shift, shift.folder)
    assert compared["schema"] == "tresse/compare/1"
    assert not compared["experiments"][0]["differences"]


def test_a_run_prints_what_the_command_shows(shift: tresse.Run) -> None:
    words = [sys.executable, "-m", "tresse", "show", str(shift.folder)]
    shown = subprocess.run(words, capture_output=True, text=True, check=True)
    text = str(shift)
    assert text.startswith(shown.stdout.rstrip("\n"))
    assert text.removeprefix(shown.stdout).split("\n") == shift.notes


def test_the_optimum_tells_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    from tresse import runs

    told: list[tuple[float | None, str, str]] = []
    monkeypatch.setattr(runs.Bar, "tell", lambda _, *own: told.append(own))
    monkeypatch.setattr(runs, "_LOOK_S", 0.0)
    tresse.optimum("xmp/fig4")
    assert told, "it takes milliseconds"
    assert all(0 <= (share or 0) <= 1 and line.endswith(" cases") for share, _, line in told)


def test_the_optimum_needs_no_run() -> None:
    report = tresse.optimum("xmp/fig4", only={"scheme": "beta-4"})
    assert report["experiment"] == "xmp/fig4"
    assert len(report["cases"]) >= 1


def test_a_missing_table_says_how_to_get_it(shift: tresse.Run) -> None:
    with pytest.raises(tresse.TresseError) as caught:
        _ = shift.rtts
    assert caught.value.hint == 'run it with set={"measure.rtt": True}'
    with pytest.raises(AttributeError):
        _ = shift.nothing  # type: ignore[attr-defined]


def test_the_hint_of_a_missing_table_is_true(folder: Path) -> None:
    from tresse.tables import HOW

    changes = {key: value for text in HOW.values() for key, value in eval(text.removeprefix("set=")).items()}
    run = tresse.run(
        SMALL, only={"scheme": "dctcp"}, set={**changes, "measure.samples": "1ms"}, out=folder / "all", progress=False
    )
    assert set(HOW) <= set(run.tables)
    for name in HOW:
        assert run.table(name).num_rows > 0, name


def test_runs_in_several_threads_at_once(folder: Path) -> None:
    alone = tresse.run(SMALL, out=folder / "alone", progress=False).digest
    digests: list[str] = []

    def one(place: int) -> None:
        digests.append(tresse.run(SMALL, out=folder / f"thread-{place}", progress=False).digest)

    threads = [threading.Thread(target=one, args=(place,)) for place in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert digests == [alone] * 4


def test_the_interpreter_is_free_while_it_runs(folder: Path) -> None:
    counted = 0
    over = threading.Event()

    def run() -> None:
        tresse.run("xmp/fig4", only={"scheme": "beta-4"}, replications=1, out=folder / "free", progress=False)
        over.set()

    thread = threading.Thread(target=run)
    thread.start()
    while not over.is_set():
        counted += 1
        time.sleep(0.001)
    thread.join()
    assert counted > 20


LONG = """
import tresse
try:
    tresse.run("xmp/fig4", profile="full", replications=50, out={out!r}, progress=False)
except KeyboardInterrupt as interrupt:
    print("interrupted:", interrupt)
"""


def test_ctrl_c_leaves_a_partial_run(folder: Path) -> None:
    out = folder / "interrupted"
    process = subprocess.Popen([sys.executable, "-c", LONG.format(out=str(out))], stdout=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while not (out / "run.json").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    said, _ = process.communicate(timeout=30)
    assert process.returncode == 0
    assert f"interrupted: partial: what was measured is in {out}" in said
    run = tresse.open(out)
    assert (run.state, run.status) == ("interrupted", "partial")


def test_a_controller_that_dies_keeps_what_was_measured(folder: Path) -> None:
    from test_controllers import DIES, with_own

    file = with_own(folder, "dies", DIES)
    schemes = {"own": {"controller": "dies"}}
    with pytest.raises(tresse.TresseError, match=r"partial, what was measured is in") as caught:
        tresse.run({**SMALL, "schemes": schemes}, controllers=[file], out=folder / "dies", progress=False)
    assert caught.value.run is not None
    assert caught.value.run.status == "partial"
    assert "dies.c" in str(caught.value)


def test_a_controller_that_no_case_uses_is_a_warning(folder: Path) -> None:
    from test_controllers import TEMPLATE, with_own

    file = with_own(folder, "unused", TEMPLATE)
    with pytest.warns(tresse.TresseWarning, match="no case uses the controller unused"):
        tresse.run(SMALL, only={"scheme": "dctcp"}, controllers=[file], out=folder / "unused", progress=False)


def test_the_page_is_one_file(shift: tresse.Run) -> None:
    page = shift.write_page()
    assert page == shift.folder / "report.html"
    assert "tresse-head" in page.read_text()


def test_the_page_stands_in_a_notebook(shift: tresse.Run) -> None:
    page = shift.report(height=300)
    assert page.path == shift.folder / "report.html"
    html = page._repr_html_()
    assert html.startswith('<iframe srcdoc="')
    assert 'height="300"' in html
    # The page's own quotes and references are escaped: what the browser makes of it is the file.
    text = html.split('srcdoc="')[1].split('"')[0]
    assert text.replace("&quot;", '"').replace("&amp;", "&") == page.path.read_text()
