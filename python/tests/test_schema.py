"""The schema of an experiment's file, as editors use it, and what SchemaStore asks for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

tomllib = pytest.importorskip("tomllib")

HOUSE = Path(__file__).resolve().parents[2]
STORE = HOUSE / "packaging/schemastore"
EXPERIMENTS = [file for file in HOUSE.glob("papers/*/*.toml") if file.parent.name != "results"]


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    schema: dict[str, Any] = json.loads((HOUSE / "docs/reference/experiment.schema.json").read_text())
    return schema


def errors(schema: dict[str, Any], file: Path) -> list[str]:
    validator = jsonschema.Draft202012Validator(schema)
    return [error.message for error in validator.iter_errors(tomllib.loads(file.read_text()))]


def test_the_schema_is_one_and_says_what_it_is(schema: dict[str, Any]) -> None:
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["title"]
    assert schema["$id"] == json.loads((STORE / "catalog.json").read_text())["url"]


@pytest.mark.parametrize(
    "file", [*EXPERIMENTS, *STORE.glob("test/*")], ids=lambda file: f"{file.parent.name}/{file.name}"
)
def test_it_takes_what_tresse_takes(schema: dict[str, Any], file: Path) -> None:
    assert errors(schema, file) == []


@pytest.mark.parametrize("file", [*STORE.glob("negative_test/*")], ids=lambda file: file.name)
def test_it_refuses_what_tresse_refuses(schema: dict[str, Any], file: Path) -> None:
    assert errors(schema, file)
