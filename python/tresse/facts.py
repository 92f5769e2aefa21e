"""What there is, and what is known before a run: the commands that print facts."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from typing import Any

from tresse import _native
from tresse.errors import TresseError
from tresse.experiments import Experiment, Only, Profile, Settings, chosen


def check(
    experiment: Experiment,
    *,
    only: Only | None = None,
    set: Settings | None = None,  # noqa: A002 - as the command has it
    controllers: Iterable[str | os.PathLike[str]] = (),
    profile: Profile = "quick",
) -> dict[str, Any]:
    """An experiment before it is run: the output of `tresse check --json`.

    Its cases, about how long they take here, thresholds against the bandwidth-delay product, and in `differences` what else
    is compared when the schemes are. Nothing is stored.
    """
    files = [os.fspath(file) for file in controllers]
    checked: dict[str, Any] = json.loads(_native.check(chosen(experiment, profile, only, set), files))
    return checked


def topology(
    experiment: Experiment,
    between: tuple[str | int, str | int] | None = None,
    *,
    variant: str | None = None,
    set: Settings | None = None,  # noqa: A002 - as the command has it
    profile: Profile = "quick",
) -> dict[str, Any]:
    """An experiment's network: the output of `tresse topology show --json`.

    `between`: two hosts, by name or number, whose shortest paths it has too. `variant`: the network of this one.
    """
    pair = None if between is None else (str(between[0]), str(between[1]))
    report: dict[str, Any] = json.loads(_native.topology(chosen(experiment, profile, None, set), variant, pair))
    return report


def parts(kind: str | None = None) -> list[dict[str, Any]]:
    """The parts of a kind, such as "controllers", as in `tresse list KIND --json`; without a kind, the kinds."""
    told = json.loads(_native.parts(kind))
    found: list[dict[str, Any]] = told["kinds" if kind is None else kind.replace("-", "_")]
    return found


def explain(name: str | None = None) -> str:
    """The output of `tresse explain NAME`: a controller, a mechanism, an experiment or a topic, explained in detail.

    Without a name: every name that there is, one a line.
    """
    if name is None:
        return "\n".join(_native.names())
    text = _native.explain(name)
    if text is None:
        raise TresseError(f"nothing is called `{name}`", hint="`tresse.explain()` has every name")
    return text
