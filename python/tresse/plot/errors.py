"""What can be wrong with what a figure is asked for."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from importlib import import_module
from types import ModuleType

from tresse.errors import TresseError, missing


def unknown(name: str, known: Iterable[str], what: str, *, of: str = "") -> TresseError:
    """A name that does not exist, with the one that may be meant and all that do."""
    names = list(dict.fromkeys(known))
    near = difflib.get_close_matches(name, names, n=1, cutoff=0.6)
    # A part of a name is more often meant than one that is spelt like it.
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
