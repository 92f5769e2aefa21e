"""`tresse plot`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tresse.errors import TresseError
from tresse.plot import style
from tresse.plot.errors import matplotlib
from tresse.runs import Run, open  # noqa: A004 - tresse.open
from tresse.sweeps import Sweep

_PRESETS = {"column": "one-column", "text": "two-columns"}


def main() -> int:
    """Draws the figure that the command asks for; returns the exit code."""
    parser = argparse.ArgumentParser("tresse plot")
    parser.add_argument("run")
    parser.add_argument("figure")
    parser.add_argument("--output", required=True)
    parser.add_argument("--format", required=True, choices=("pdf", "png", "svg"))
    parser.add_argument("--width", default="column", choices=_PRESETS)
    args = parser.parse_args()
    try:
        save(open(args.run), args.figure, args.output, args.format, args.width)
    except TresseError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    except OSError as error:
        print(f"error: {args.output}: {error.strerror or error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    return 0


def save(run: Run | Sweep, name: str, output: str, form: str, width: str = "column") -> None:
    """Writes a figure that the experiment declares, or a metric of a sweep, as a file of this form; `-` is stdout.

    Nothing in it depends on the time: the same figure has the same bytes.
    """
    matplotlib().use("agg")
    with style(_PRESETS[width]), matplotlib().rc_context({"svg.hashsalt": "tresse", "svg.fonttype": "none"}):
        figure = run.plot.figure(name)
        undated = {"pdf": {"CreationDate": None}, "svg": {"Date": None}}.get(form)
        if output == "-":
            figure.savefig(sys.stdout.buffer, format=form, metadata=undated)
            return
        # Renamed when it is whole: a document never has half a figure.
        part = Path(output).with_name(f".{Path(output).name}.part")
        try:
            figure.savefig(part, format=form, metadata=undated)
            part.replace(output)
        finally:
            part.unlink(missing_ok=True)


if __name__ == "__main__":
    sys.exit(main())
