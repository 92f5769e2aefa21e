"""Errors in the arguments of figures."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from importlib import import_module
from types import ModuleType

from tresse.errors import TresseError, missing


def unknown(name: str, known: Iterable[str], what: str, *, of: str = "") -> TresseError:
    """The error for a name that does not exist, with the name that may be meant and all existing names."""
    names = list(dict.fromkeys(known))
    near = difflib.get_close_matches(name, names, n=1, cutoff=0.6)
    # A name that contains the word is more likely than one with a similar spelling.
    near = [other for other in names if name and name in other][:1] or near
    meant = f"did you mean `{near[0]}`? " if near else ""
    hint = f"{meant}there are {', '.join(names)}" if names else "there is none"
    return TresseError(f"{what} `{name}` does not exist{f' {of}' if of else ''}", hint=hint)


def matplotlib() -> ModuleType:
    """The package matplotlib; a TresseError if it is not installed."""
    try:
        import_module("matplotlib.pyplot")
        return import_module("matplotlib")
    except ImportError as error:
        raise missing("matplotlib", "plot") from error


def pyarrow() -> ModuleType:
    """The package pyarrow, which reads the tables; a TresseError if it is not installed."""
    try:
        return import_module("pyarrow")
    except ImportError as error:
        raise missing("pyarrow", "plot") from error
