"""The typed keys of an experiment: fresh, complete, and the same as the tables that they stand for."""

from __future__ import annotations

import dataclasses
import json
import re
import subprocess
import sys
import tempfile
import typing
from pathlib import Path
from typing import Any

import pytest
from conftest import SMALL

import tresse
from tresse import keys

HOUSE = Path(__file__).resolve().parents[2]


def typed() -> keys.Experiment:
    """`SMALL`, typed."""
    return keys.Experiment(
        title="A small fat tree",
        fabric=keys.Fabric(
            topology="fat-tree", k=4, rate="1Gbps", delay="20us", queue="100pkt", mark="10pkt", host_queue="100pkt"
        ),
        transport=keys.Transport(profile="linux"),
        schemes={"dctcp": keys.Scheme(controller="dctcp"), "xmp": keys.Scheme(controller="xmp", subflows=[2])},
        workloads={"permutation": keys.Permutation(size="500kB", rounds=1)},
    )


def test_the_file_is_what_the_schema_makes() -> None:
    checked = subprocess.run(
        [sys.executable, HOUSE / "scripts/python-keys", "--check"], capture_output=True, text=True, check=False
    )
    assert checked.returncode == 0, checked.stderr


def test_every_table_of_the_schema_is_there_with_its_keys_and_their_sentences() -> None:
    schema = json.loads((HOUSE / "docs/reference/experiment.schema.json").read_text(encoding="utf-8"))
    for name in ("Fabric", "Transport", "Scheme", "Measure"):
        own = getattr(keys, name)
        there = {field.name.rstrip("_") for field in dataclasses.fields(own)}
        assert there == set(schema["$defs"][name]["properties"]), name
    patterns = {one["properties"]["pattern"]["const"] for one in schema["$defs"]["Workload"]["oneOf"][1:]}
    classes = [own for own in typing.get_args(keys.Workload) if own is not keys.Parts]
    assert patterns == {dataclasses.fields(own)[0].default for own in classes}
    source = Path(keys.__file__).read_text(encoding="utf-8")
    assert "How losses are repaired." in source
    assert "K: an arriving ECN-capable packet is marked if the queue is longer than this." in source


def test_types_can_be_read() -> None:
    for own in vars(keys).values():
        if dataclasses.is_dataclass(own) and isinstance(own, type):
            assert set(typing.get_type_hints(own)) >= {field.name for field in dataclasses.fields(own)}


def test_tables_are_those_of_a_file() -> None:
    assert typed().to_dict() == SMALL


def test_words_of_python_and_other_tables_are_written_as_a_file_has_them() -> None:
    flow = keys.Flow(from_="host 0", to="host 1", via=[["leaf 0"]])
    assert flow.to_dict() == {"from": "host 0", "to": "host 1", "via": [["leaf 0"]]}
    variant = keys.Variant(only=["scheme=xmp"], rest={"fabric": keys.Fabric(topology="dumbbell", host_queue="9pkt")})
    assert variant.to_dict() == {
        "only": ["scheme=xmp"],
        "fabric": {"topology": "dumbbell", "host_queue": "9pkt"},
    }
    assert keys.Permutation().to_dict() == {"pattern": "permutation"}


def test_a_wrong_key_is_an_error_at_once() -> None:
    wrong: Any = {"topologi": "fat-tree", "topology": "fat-tree", "host_queue": "1pkt"}
    with pytest.raises(TypeError, match="topologi"):
        keys.Fabric(**wrong)
    fabric = keys.Fabric(topology="fat-tree", host_queue="1pkt")
    with pytest.raises(AttributeError):
        fabric.marks = "10pkt"  # type: ignore[attr-defined]


def test_typed_and_plain_give_the_same_results(folder: Path) -> None:
    own = tresse.run(typed(), out=folder / "typed", progress=False)
    plain = tresse.run(SMALL, out=folder / "plain", progress=False)
    assert own.digest == plain.digest


def test_each_makes_a_case_of_each_value(folder: Path) -> None:
    experiment = typed()
    experiment.fabric.mark = keys.each("5pkt", "20pkt")
    run = tresse.run(experiment, only={"scheme": "xmp"}, out=folder / "each", progress=False)
    assert [case.axes["mark"] for case in run.cases] == ["5pkt", "20pkt"]


def test_the_example_of_the_page_runs() -> None:
    page = (HOUSE / "docs/python.md").read_text(encoding="utf-8")
    (example,) = (own for own in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if "keys.Experiment(" in own)
    names: dict[str, Any] = {"tresse": tresse}
    exec(example.replace("tresse.run(experiment)", "tresse.check(experiment)"), names)
    assert names["run"]["cases"]


def test_a_plan_takes_typed_tables() -> None:
    plan = {"experiment": typed(), "designs": [{"keys": {"fabric.mark": ["5pkt"]}}]}
    swept = tresse.sweep(plan, out=Path(tempfile.mkdtemp()) / "sweep", progress=False)
    assert swept.points == 1
    assert swept.failed == 0
