"""An experiment and the changes to it, as requests have them."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias, TypedDict

from tresse.errors import TresseError

Profile: TypeAlias = Literal["quick", "full"]
Value: TypeAlias = str | bool | int | float


class Keys(Protocol):
    """A typed experiment: see `tresse.keys.Experiment`."""

    def to_dict(self) -> dict[str, Any]:
        """The tables of the experiment's file."""


Experiment: TypeAlias = str | os.PathLike[str] | Mapping[str, Any] | Keys
Only: TypeAlias = Mapping[str, Value | Iterable[Value]]
Settings: TypeAlias = Mapping[str, Any]


class Cases(TypedDict):
    """Some cases of an experiment, for the native part."""

    name: str
    text: str | None
    profile: str
    only: list[str]
    settings: list[str]


def named(experiment: Experiment) -> tuple[str, str | None]:
    """The experiment's name or path, and its text if it is not a file."""
    if isinstance(experiment, str | os.PathLike):
        return os.fspath(experiment), None
    if isinstance(experiment, Mapping):
        return "experiment", toml(experiment)
    if hasattr(experiment, "to_dict"):
        return "experiment", toml(experiment.to_dict())
    raise TresseError(
        f"an experiment is a name, a path, a dict or a tresse.keys.Experiment, not {type(experiment).__name__}"
    )


def chosen(
    experiment: Experiment,
    profile: str,
    only: Only | None,
    set: Settings | None,  # noqa: A002
) -> Cases:
    """The chosen cases of an experiment."""
    name, text = named(experiment)
    kept = []
    for axis, values in (only or {}).items():
        several = [values] if isinstance(values, str | bool | int | float) else list(values)
        kept.append(f"{axis}={','.join(_word(value) for value in several)}")
    settings = [f"{path}={setting(value)}" for path, value in (set or {}).items()]
    return Cases(name=name, text=text, profile=str(profile), only=kept, settings=settings)


def setting(value: object) -> str:
    """A value in the form that `--set PATH=VALUE` takes: text as it is, anything else as TOML."""
    return value if isinstance(value, str) else _toml_value(value, "set")


def toml(tables: Mapping[str, Any]) -> str:
    """The text of a TOML file with these tables; values that are None are left out."""
    lines = [f"{_key(key)} = {_toml_value(value, key)}\n" for key, value in tables.items() if not _is_table(value)]
    for key, value in tables.items():
        if _is_table(value):
            _table(lines, [key], value)
    return "".join(line for line in lines if line)


def _is_table(value: object) -> bool:
    if isinstance(value, Mapping):
        return True
    return isinstance(value, list) and bool(value) and all(isinstance(one, Mapping) for one in value)


def _table(lines: list[str], path: list[str], value: Any) -> None:
    name = ".".join(_key(part) for part in path)
    several = value if isinstance(value, list) else [value]
    for one in several:
        lines.append(f"\n[[{name}]]\n" if isinstance(value, list) else f"\n[{name}]\n")
        for key, own in one.items():
            if own is not None and not _is_table(own):
                lines.append(f"{_key(key)} = {_toml_value(own, '.'.join([*path, key]))}\n")
        for key, own in one.items():
            if _is_table(own):
                _table(lines, [*path, key], own)


def _key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else json.dumps(key)


def _word(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _toml_value(value: object, where: str) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        if math.isnan(value) or math.isinf(value):
            return "nan" if math.isnan(value) else ("inf" if value > 0 else "-inf")
        return repr(value)
    if isinstance(value, str):
        # TOML has the same escapes as JSON, except for DEL.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, Path):
        return json.dumps(str(value))
    if isinstance(value, list | tuple):
        return f"[{', '.join(_toml_value(one, where) for one in value)}]"
    if isinstance(value, Mapping):
        pairs = (f"{_key(key)} = {_toml_value(own, f'{where}.{key}')}" for key, own in value.items() if own is not None)
        return f"{{ {', '.join(pairs)} }}"
    # numpy's numbers are neither int nor float.
    item = getattr(value, "item", None)
    if callable(item):
        return _toml_value(item(), where)
    raise TresseError(
        f"{where}: a value is text, a number, a truth value, a list or a dict, not {type(value).__name__}"
    )
