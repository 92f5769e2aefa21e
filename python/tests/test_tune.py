"""`tresse.tune` on an experiment that takes tenths of a second."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import SMALL

import tresse

pytest.importorskip("optuna", reason="Optuna is not installed: pip install optuna")
pytest.importorskip("pyarrow", reason="pyarrow is not installed: pip install pyarrow")

from tresse.tuning import Tuning, tune
from tresse.tuning.answer import Finalist
from tresse.tuning.plan import read
from tresse.tuning.points import Point, Setting
from tresse.tuning.search import Trial, falls_behind, front

PLAN: dict[str, Any] = {
    "experiment": SMALL,
    "space": {
        "scheme": ["xmp", "dctcp"],
        "fabric.mark": {"from": "5pkt", "to": "60pkt"},
        "schemes.xmp.subflows": [1, 2],
        "schemes.xmp.parameters.beta": {"from": 2, "to": 8},
    },
    "objective": {"minimise": "fct_p99_s", "floors": {"goodput_mean_bps": "0.3Gbps"}},
    "budget": {"trials": 8, "seeds": 2, "fresh": 2},
}


PLAN_READ = read(PLAN)


@pytest.fixture(scope="module")
def tuning(tmp_path_factory: pytest.TempPathFactory) -> Tuning:
    return tune(PLAN, out=tmp_path_factory.mktemp("tuning") / "a", progress=False)


def lines(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "journal.jsonl").read_text().splitlines()]


def test_the_answer_is_what_its_runs_measured(tuning: Tuning) -> None:
    assert len(tuning.trials) == 8
    assert {own.state for own in tuning.trials} >= {"complete", "given-up"}
    best = tuning.best
    assert best is not None
    run = tresse.open(best.folder)
    assert run.cases[0].metrics == best.metrics
    assert best.metrics["goodput_mean_bps"] >= 0.3e9
    assert best.ci95["fct_p99_s"] > 0
    assert run.seed > 1_000_000, "seeds that the search has not seen"
    assert {own.values["case"] for own in tuning.baseline} == {"dctcp-1 permutation", "xmp-2 permutation"}
    able = [own for own in tuning.trials if own.holds(PLAN_READ)]
    assert best.searched["fct_p99_s"] == min(own.mean("fct_p99_s") for own in able)
    assert tuning.page is not None
    assert "front-1" in tuning.page.read_text(encoding="utf-8")


def test_a_screened_search_answers_by_packets(tmp_path: Path) -> None:
    budget = {**PLAN["budget"], "screen": "rounds", "trials": 12}
    found = tune({**PLAN, "budget": budget}, out=tmp_path / "s", progress=False)
    confirmed = [own for own in found.trials if own.screened]
    out = [own for own in found.trials if own.state == "screened-out"]
    assert len(confirmed) >= 4
    assert {own.fidelity for own in confirmed} == {"packets"}
    assert {own.fidelity for own in out} == {"rounds"}
    assert len(confirmed) + len(out) == 12
    assert f"12 trials: 12 screened by rounds, of which the best {len(confirmed)} were run by packets" in str(found)
    # What is said of a setting is what packets measured of it.
    by_packets = {
        json.dumps([line["only"], line["set"]], sort_keys=True): []
        for line in lines(tmp_path / "s")
        if "fidelity" not in line["set"]
    }
    for line in lines(tmp_path / "s"):
        if "fidelity" not in line["set"]:
            by_packets[json.dumps([line["only"], line["set"]], sort_keys=True)].append(line["metrics"]["fct_p99_s"])
    for own in confirmed:
        measured = by_packets[own.setting.key()]
        assert own.mean("fct_p99_s") == pytest.approx(sum(measured) / len(measured))
    assert found.best is not None
    assert "fidelity" not in found.best.command
    assert tresse.open(found.best.folder).cases[0].metrics == found.best.metrics
    # Those that were left were worse by rounds.
    worst = max(sum(p.metrics["fct_p99_s"] for p in own.screened) / len(own.screened) for own in confirmed)
    complete = [own for own in out if own.seeds == 2]
    assert all(own.mean("fct_p99_s") >= worst for own in complete if own.broken(PLAN_READ) == 0)


def test_what_rounds_refuse_is_searched_by_packets(tmp_path: Path) -> None:
    plan = {
        **PLAN,
        "set": {"fabric.host_processing": "1us"},
        "budget": {"trials": 4, "seeds": 1, "fresh": 2, "screen": "rounds"},
    }
    found = tune(plan, out=tmp_path / "r", progress=False)
    assert all("fidelity" not in line["set"] for line in lines(tmp_path / "r"))
    assert {own.fidelity for own in found.trials} == {"packets"}
    said = str(found)
    assert "not screened: 4 trials, because rounds cannot simulate `host_processing`" in said, said
    assert "screened by rounds" not in said


def test_keys_of_a_scheme_that_is_not_chosen_do_not_count(tuning: Tuning) -> None:
    for own in tuning.trials:
        assert any(key.startswith("schemes.") for key in own.setting.set) == (own.values["scheme"] == "xmp")


def test_keys_that_make_no_difference_to_a_scheme_do_not_count(tmp_path: Path) -> None:
    schemes = {**SMALL["schemes"], "lia": {"controller": "lia", "subflows": 1}}
    plan = {
        "experiment": {**SMALL, "schemes": schemes},
        "space": {"scheme": ["lia", "dctcp"], "fabric.mark": {"from": "5pkt", "to": "60pkt"}},
        "objective": {"minimise": "fct_p99_s"},
        "budget": {"trials": 8, "seeds": 1, "fresh": 2},
    }
    found = tune(plan, out=tmp_path / "lia", progress=False)
    by_scheme = {name: [own for own in found.trials if own.values["scheme"] == name] for name in ("lia", "dctcp")}
    assert len(by_scheme["lia"]) == 1, "a setting is tried once"
    assert all("fabric.mark" not in own.values for own in by_scheme["lia"])
    assert all("fabric.mark" in own.values for own in by_scheme["dctcp"])
    settings = {json.dumps([line["only"], line["set"]]) for line in lines(tmp_path / "lia")}
    assert len(lines(tmp_path / "lia")) == len(settings), "each setting is computed once"
    assert sum("fabric.mark" not in text for text in settings) == 1
    counted = f"no difference: fabric.mark in {len(by_scheme['lia'])} of 8 trials"
    assert counted in str(found)


def test_a_setting_is_tried_once_and_a_small_space_ends(tmp_path: Path) -> None:
    plan = {
        "experiment": SMALL,
        "space": {"scheme": ["xmp", "dctcp"], "fabric.mark": ["5pkt", "20pkt"], "schemes.xmp.subflows": [1, 2]},
        "objective": {"minimise": "fct_p99_s"},
        "budget": {"trials": 20, "seeds": 1, "fresh": 2},
    }
    found = tune(plan, out=tmp_path / "all", progress=False)
    keys = [own.setting.key() for own in found.trials]
    assert len(keys) == len(set(keys)) == 6, "XMP: 2 marks by 2 subflows; DCTCP: 2 marks"
    assert [own.number for own in found.trials] == list(range(6))
    assert "no other setting was found beside these 6" in str(found)


def test_what_breaks_a_bound_competes_with_nobody() -> None:
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    plan = read({**PLAN, "budget": {**PLAN["budget"], "seeds": 4}})

    def given_up(*trials: tuple[float, float]) -> list[bool]:
        """Of trials with these FCTs and goodputs, one after another."""
        study = optuna.create_study(pruner=optuna.pruners.SuccessiveHalvingPruner(min_resource=1, reduction_factor=2))
        said = []
        for number, (fct, goodput) in enumerate(trials):
            own = Trial(number, {}, Setting({}, {"n": number}))
            own.points = [Point({"fct_p99_s": fct, "goodput_mean_bps": goodput}, None, "d", 0.1)]
            said.append(falls_behind(plan, study.ask(), own, 1))
        return said

    good = [(1e-3, 5e8), (2e-3, 5e8), (3e-3, 5e8)]
    broken = [(0.1e-3, 1e8)] * 4
    assert given_up(*good) == [False, True, True]
    assert given_up(*broken, *good) == [True] * 4 + given_up(*good), "whatever was broken before"


def test_the_command_shows_the_search_again(tuning: Tuning) -> None:
    def shown(*more: str) -> str:
        words = [sys.executable, "-m", "tresse", "show", str(tuning.folder), *more]
        return subprocess.run(words, check=True, capture_output=True, text=True).stdout

    assert shown() == f"{tuning}\n"
    assert json.loads(shown("--json")) == tuning.to_dict()


def test_again_computes_nothing_and_says_the_same(tuning: Tuning) -> None:
    before = (tuning.folder / "journal.jsonl").read_bytes()
    again = tune(PLAN, out=tuning.folder, progress=False)
    assert (tuning.folder / "journal.jsonl").read_bytes() == before
    assert again.to_dict() == tuning.to_dict()


def test_killed_and_extended_it_goes_on(tuning: Tuning, tmp_path: Path) -> None:
    out = tmp_path / "b"
    out.mkdir()
    whole = (tuning.folder / "journal.jsonl").read_bytes().splitlines(keepends=True)
    # Killed in the middle of a line.
    (out / "journal.jsonl").write_bytes(b"".join(whole[:5]) + whole[5][:20])
    tune(PLAN, out=out, progress=False)
    known = {line["address"]: line["digest"] for line in lines(tuning.folder)}
    mine = lines(out)
    assert {line["address"]: line["digest"] for line in mine} == known
    assert len(mine) == len(known), "nothing was computed twice"


def test_the_folder_of_a_sweep_is_refused(tmp_path: Path) -> None:
    journal = tmp_path / "journal.jsonl"
    journal.write_text('{"schema":"tresse/sweep/1","title":"t","base":"b","model_version":3}\n', encoding="utf-8")
    with pytest.raises(tresse.TresseError, match="has a sweep, not a search"):
        tune(PLAN, out=tmp_path, progress=False)
    assert "schema" in journal.read_text(encoding="utf-8")


def test_the_command_repeats_the_winner(tuning: Tuning, tmp_path: Path) -> None:
    assert tuning.command is not None
    import shlex

    words = [sys.executable, "-m", *shlex.split(tuning.command), "--out", "again"]
    subprocess.run(words, cwd=tmp_path, check=True, capture_output=True)
    assert tuning.best is not None
    assert tresse.open(tmp_path / "again").digest == tresse.open(tuning.best.folder).digest


def test_several_objectives_have_a_front(tmp_path: Path) -> None:
    goal = {"minimise": "fct_p99_s", "maximise": "goodput_mean_bps"}
    found = tune({**PLAN, "objective": goal}, out=tmp_path / "c", progress=False)
    plan = read({**PLAN, "objective": goal})
    pairs = [(own.searched["fct_p99_s"], own.searched["goodput_mean_bps"]) for own in found.front]
    assert pairs == sorted(pairs), "less of the one is only had for less of the other"
    for own in found.trials:
        if own.holds(plan):
            mine = (own.mean("fct_p99_s"), own.mean("goodput_mean_bps"))
            assert any(fct <= mine[0] and goodput >= mine[1] for fct, goodput in pairs)


def test_an_objective_may_be_of_a_slice(tmp_path: Path) -> None:
    slices = {"far": {"size": "up to 1MB", "distance": "inter-pod"}}
    plan = {
        **PLAN,
        "set": {"measure.slices": slices},
        "objective": {"minimise": "far.fct_p99_s", "ceilings": {"far.fct_max_s": "10s"}},
        "budget": {"trials": 2, "seeds": 1, "fresh": 2},
    }
    best = tune(plan, out=tmp_path / "slice", progress=False).best
    assert best is not None
    assert 0 < best.metrics["far.fct_p99_s"] <= best.metrics["fct_max_s"]
    assert best.metrics["far.flows"] < best.metrics["flows"]


def test_what_breaks_a_floor_is_not_on_the_front() -> None:
    def trial(number: int, fct: float, goodput: float) -> Trial:
        own = Trial(number, {}, Setting({}, {"n": number}))
        own.points = [Point({"fct_p99_s": fct, "goodput_mean_bps": goodput}, None, "d", 0.1)]
        return own

    trials = [trial(0, 1e-3, 1e8), trial(1, 3e-3, 5e8), trial(2, 2e-3, 4e8)]
    assert [own.number for own in front(PLAN_READ, trials, 5)] == [2, 1]


def finalist(name: str, fct: float, half: float, broken: list[str]) -> Finalist:
    values = {"case": name}
    return Finalist(name, values, {"fct_p99_s": fct}, {"fct_p99_s": half}, {}, {}, None, broken, name, "")


def test_the_best_is_held_against_the_unchanged_experiment() -> None:
    def found(best: float, *baseline: Finalist) -> Tuning:
        return Tuning(PLAN_READ, Path(), [], [finalist("front-1", best, 0.1, [])], list(baseline))

    fast_but_broken = finalist("baseline", 0.5, 0.1, ["goodput_mean_bps >= 3e+08"])
    slower, slow = finalist("baseline", 2.0, 0.2, []), finalist("baseline", 3.0, 0.2, [])
    far = found(1.0, fast_but_broken, slow, slower)
    assert far.rival is slower
    assert far.better is True
    assert found(1.8, slower).better is False, "the intervals overlap"
    assert found(2.5, slower).better is False, "it is worse"
    assert found(1.0, fast_but_broken).better is None, "nothing to compare with"
    head, *rows = far.table().splitlines()
    assert head.endswith("breaks")
    assert rows[1].endswith("goodput_mean_bps >= 3e+08")
    assert re.split("  +", head.strip())[:2] == ["setting", "FCT p99, s"]
    assert "1.00 ± 0.10" in rows[0], "as many digits as two of the interval have"
    assert "breaks" not in found(1.0, slower).table()
    assert "no better than the unchanged experiment (case=baseline)" in str(found(1.8, slower))
    assert "no better" not in str(far)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"space": {"fabric.mark": {"from": "5pkt", "to": "60us"}}}, "the units `pkt` and `us`"),
        ({"space": {"fabric.mark": {"from": "9pkt", "to": "5pkt"}}}, "is not a range"),
        ({"space": {"fabric.mark": "5pkt"}}, "is a list, or"),
        ({"objective": {"floors": {"goodput_mean_bps": 1}}}, "nothing to `minimise`"),
        ({"objective": {"minimise": "fct_p99_s", "floors": {"goodput_mean_bps": "3ms"}}}, "which '3ms' is not"),
        ({"objective": {"minimise": "speed"}}, "the metric `speed` does not exist in the run"),
        ({"objective": {"minimise": "fct_p95_s"}}, "did you mean `fct_p99_s`"),
        ({"budget": {"screen": "fluid"}}, "`screen` must be one of none, rounds"),
        ({"budget": {"trials": 0}}, "`trials` must be a whole number of at least 1"),
        ({"budget": {"trails": 3}}, "unknown key `trails`"),
        ({"space": {"fabric.mark": ["5pkt"]}}, "a trial has 2 cases"),
        ({"space": {"scheme": ["xmp"], "fabric.colour": [1, 2]}}, "colour"),
    ],
)
def test_wrong_plans(change: dict[str, Any], words: str, tmp_path: Path) -> None:
    with pytest.raises(tresse.TresseError) as caught:
        tune({**PLAN, **change}, out=tmp_path / "d", progress=False)
    assert words in str(caught.value)
