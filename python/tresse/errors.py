"""What goes wrong, in the words of the command."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from tresse.runs import Run

Code = Literal["check", "input", "io", "machine"]


class TresseError(Exception):
    """The one exception of this package; `str()` of it is what the command prints after `error: `.

    `code` is "input" (a value, a file, a setting), "io" (a file or folder), "machine" (the machine lacks something) or
    "check" (what was compared does not hold). `file`, `line` and `column` (from 1) say where, `hint` says what to do.
    """

    def __init__(
        self,
        text: str,
        *,
        code: Code = "input",
        message: str | None = None,
        file: str | None = None,
        line: int | None = None,
        column: int | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(text if hint is None or hint in text else f"{text}\n\nhint: {hint}")
        self.message = text if message is None else message
        self.code: Code = code
        self.file = file
        self.line = line
        self.column = column
        self.hint = hint
        self.run: Run | None = None
        """The run that ended early, if one did: it has what was measured until then."""

    @property
    def exit_code(self) -> int:
        """What the command ends with."""
        return {"check": 1, "machine": 3}.get(self.code, 2)


class TresseWarning(UserWarning):
    """What the command prints as a warning: a controller that no case uses, for example."""


_EXTRAS = {
    "env": "gymnasium pettingzoo numpy",
    "plot": "matplotlib pyarrow",
    "ray": "ray",
    "sweep": "scipy",
    "tune": "optuna pyarrow",
}
"""What each extra of the package brings."""


def missing(package: str, extra: str) -> TresseError:
    """An optional package is not installed."""
    return TresseError(f"{package} is not installed", code="machine", hint=f"pip install {_EXTRAS[extra]}")
