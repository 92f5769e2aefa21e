"""The command `tresse` of an installed package."""

from __future__ import annotations

import os
import sys


def main() -> int:
    """Runs the command; its exit code."""
    # What the command hands to Python (designs, Ray, tuning) runs in this interpreter.
    os.environ.setdefault("TRESSE_PYTHON", sys.executable)
    from tresse import _native

    return _native.command(["tresse", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
