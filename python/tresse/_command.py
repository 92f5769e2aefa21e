"""The command `tresse` that the package installs."""

from __future__ import annotations

import os
import sys


def main() -> int:
    """Runs the command and returns its exit code."""
    # The parts that the command leaves to Python (designs, Ray, tuning) run in this interpreter.
    os.environ.setdefault("TRESSE_PYTHON", sys.executable)
    from tresse import _native

    return _native.command(["tresse", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
