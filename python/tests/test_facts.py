"""What is known without a run, and what objects print."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import SMALL
from test_run import command

import tresse
from tresse import progress


def test_a_check_is_that_of_the_command(tmp_path: Path) -> None:
    from tresse.experiments import toml

    (tmp_path / "small.toml").write_text(toml(SMALL))
    theirs = json.loads(command("check", str(tmp_path / "small.toml"), "--set", "fabric.mark=30pkt", "--json").stdout)
    own = tresse.check(SMALL, set={"fabric.mark": "30pkt"})
    assert own["networks"] == theirs["networks"]
    assert own["work"] == theirs["work"] == {"cases": 2, "seeds": 1, "most_seeds": 1, "flows": 32, "simulated_s": None}
    assert own["forecast"]["packet_hops"] > 0
    assert tresse.check(SMALL, only={"scheme": "xmp"})["cases"] == 1
    with pytest.raises(tresse.TresseError, match="unknown key `queu`; did you mean `queue`"):
        tresse.check({**SMALL, "fabric": {**SMALL["fabric"], "queu": "1pkt"}})


def test_a_network_is_that_of_the_command() -> None:
    theirs = json.loads(command("topology", "show", "xmp/table1", "host 0", "127", "--json").stdout)
    assert tresse.topology("xmp/table1", ("host 0", 127)) == theirs
    assert tresse.topology("xmp/table1", set={"fabric.k": 4})["hosts"] == 16
    with pytest.raises(tresse.TresseError, match="host 128"):
        tresse.topology("xmp/table1", ("host 0", "host 128"))


def test_lists_and_names_are_those_of_the_command() -> None:
    kinds = [own["name"] for own in tresse.list()]
    assert "controllers" in kinds
    assert {"xmp", "lia"} <= {own["name"] for own in tresse.list("controllers")}
    for kind in kinds:
        assert all(own["name"] in tresse.explain().split("\n") for own in tresse.list(kind)), kind
    with pytest.raises(tresse.TresseError, match="did you mean `controllers`"):
        tresse.list("controler")
    # Besides controllers that other tests have loaded into this process.
    own = set(tresse.explain().split("\n"))
    assert own >= set(json.loads(command("explain", "--json").stdout)["names"])


def test_a_run_prints_its_table(shift: tresse.Run) -> None:
    head, *rest = str(shift).split("\n")
    assert head.startswith(f"{shift.name} · quick profile")
    columns = next(line for line in rest if line.startswith("scheme "))
    assert "Mbit/s" in columns
    mean = shift.cases[0].metrics["goodput_mean_bps"]
    first = next(line for line in rest if line.startswith(f"{shift.cases[0].scheme} "))
    assert f"{mean / 1e6:.1f}" in first.split()
    assert all(note in rest for note in shift.notes)
    assert any("host_queue" in note for note in shift.notes)
    assert tresse.open(shift.folder).notes, "a run that is read back has the notes of its end"


def test_progress_is_lines_where_there_is_no_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    with progress.Bar("run", shown=True) as bar:
        for seconds, share in ((1, 0.1), (10, 0.1), (20, 0.2), (45, None)):
            now[0] = 100.0 + seconds
            bar.show(share, 5_000_000, [])
    assert capsys.readouterr().err.splitlines() == [
        "run: 10 %, about 90 s left, 5 million packet-hops so far",
        "run, 5 million packet-hops so far",
    ]
    with progress.Bar("run", shown=False) as bar:
        now[0] += 100
        bar.show(0.5, 1, [])
    assert capsys.readouterr().err == ""
    assert [progress.about(s) for s in (600, 7200, 1e6)] == ["about 10 min", "about 2 h", "about 12 days"]
