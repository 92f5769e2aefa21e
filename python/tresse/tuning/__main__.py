"""`tresse tune`."""

from __future__ import annotations

import argparse
import json
import sys

from tresse.errors import TresseError
from tresse.tuning.answer import tune

_CODES = {"check": 1, "machine": 3}


def main() -> int:
    """Tunes with the arguments that the command passes; returns the exit code."""
    parser = argparse.ArgumentParser("tresse tune")
    parser.add_argument("plan")
    parser.add_argument("--out")
    parser.add_argument("--trials", type=int)
    parser.add_argument("--parallel", type=int)
    parser.add_argument("--screen")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    try:
        found = tune(args.plan, out=args.out, trials=args.trials, parallel=args.parallel, screen=args.screen)
    except TresseError as error:
        print(f"error: {error}", file=sys.stderr)
        return _CODES.get(error.code, 2)
    except KeyboardInterrupt:
        print("error: interrupted\n\nhint: start it again with --out: what was computed is kept", file=sys.stderr)
        return 130
    print(json.dumps(found.to_dict(), indent=2) if args.json else str(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
