"""The command `tresse` that the package installs."""

from __future__ import annotations

import os
import subprocess
import sys

from tresse.errors import TresseError


def main() -> int:
    """Runs the command and returns its exit code."""
    # The parts that the command leaves to Python (designs, Ray, tuning) run in this interpreter.
    os.environ.setdefault("TRESSE_PYTHON", sys.executable)
    from tresse import _native

    return _native.command(["tresse", *sys.argv[1:]])


def shown(folder: str | os.PathLike[str]) -> str:
    """What `tresse show` prints of a run or a sweep. The command sets its own signal handlers, so it runs as a program."""
    words = [sys.executable, "-m", "tresse", "show", os.fspath(folder)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise TresseError(done.stderr.strip().removeprefix("error: "), file=os.fspath(folder))
    return done.stdout.rstrip("\n")


if __name__ == "__main__":
    sys.exit(main())
