"""Errors, in the words of the command."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from tresse.runs import Run

Code = Literal["check", "input", "io", "machine"]


class TresseError(Exception):
    """The only exception of this package; its `str()` is what the command prints after `error: `.

    `code` is "input" (a value, a file, a setting), "io" (a file or folder), "machine" (the machine lacks something) or
    "check" (a comparison failed). `file`, `line` and `column` (from 1) say where, `hint` says what to do.
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
        """The run that ended early, if there is one, with everything measured until then."""

    @property
    def exit_code(self) -> int:
        """The command's exit code."""
        return {"check": 1, "machine": 3}.get(self.code, 2)


class TresseWarning(UserWarning):
    """A warning of the command, for example about a controller that no case uses."""


_EXTRAS = {
    "env": "gymnasium pettingzoo numpy",
    "plot": "matplotlib pyarrow",
    "ray": "ray",
    "sweep": "scipy",
    "tune": "optuna pyarrow",
}
"""The packages that each extra brings."""


def missing(package: str, extra: str) -> TresseError:
    """An optional package is not installed."""
    return TresseError(f"{package} is not installed", code="machine", hint=f"pip install {_EXTRAS[extra]}")
