"""`tresse tune`."""

from __future__ import annotations

import argparse
import json
import sys

from tresse.errors import TresseError
from tresse.tuning.answer import Tuning, _words, tune

_CODES = {"check": 1, "machine": 3}


def main() -> int:
    """Tunes with the arguments that the command passes; returns the exit code."""
    parser = argparse.ArgumentParser("tresse tune")
    parser.add_argument("plan")
    parser.add_argument("--out")
    parser.add_argument("--trials", type=int)
    parser.add_argument("--parallel", type=int)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    try:
        found = tune(args.plan, out=args.out, trials=args.trials, parallel=args.parallel)
    except TresseError as error:
        print(f"error: {error}", file=sys.stderr)
        return _CODES.get(error.code, 2)
    except KeyboardInterrupt:
        print("error: interrupted\n\nhint: start it again with --out: what was computed is kept", file=sys.stderr)
        return 130
    print(json.dumps(found.to_dict(), indent=2) if args.json else _text(found))
    return 0


def _text(found: Tuning) -> str:
    tried = found.trials
    states = {state: sum(own.state == state for own in tried) for state in ("complete", "given-up", "failed")}
    counts = ", ".join(f"{number} {state.replace('-', ' ')}" for state, number in states.items() if number)
    lines = [f"{len(tried)} trials: {counts}; those that keep every bound: {sum(t.holds(found.plan) for t in tried)}"]
    lines += _no_difference(found)
    fresh = found.plan.fresh
    lines += ["", f"under {fresh} seeds that the search has not seen, with 95 % intervals:", found.table(), ""]
    best = found.best
    if best is None:
        lines.append("no setting keeps every bound under the fresh seeds")
    else:
        lines += [f"best: {best.name}; repeat it with", f"  {best.command}"]
        rival = found.rival
        if found.better is False and rival is not None:
            lines.append(
                f"it is no better than the unchanged experiment ({_words(rival.values)}) by more than the intervals: "
                "search longer, or with more fresh seeds"
            )
        lines += [
            f"distance from the optimum: {name} {value:.4g}"
            for name, value in best.optimum.items()
            if "distance" in name
        ]
        lines += [f"no optimum: {best.no_optimum}"] if best.no_optimum else []
    lines += [f"in {found.folder}: report.html, tuning.json, trials.parquet"]
    return "\n".join(lines)


def _no_difference(found: Tuning) -> list[str]:
    """The keys that made no difference to some trials, which were not run again for them."""
    applies = found.plan.applies
    own = {
        key: sum(applies(key, trial.values.get("scheme")) and key not in trial.values for trial in found.trials)
        for key in found.plan.space
    }
    told = [f"{key} in {count} of {len(found.trials)} trials" for key, count in own.items() if count]
    return [f"no difference: {', '.join(told)}"] if told else []


if __name__ == "__main__":
    sys.exit(main())
