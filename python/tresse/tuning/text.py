"""The answer of a search as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tresse.tuning.answer import _words as words

if TYPE_CHECKING:
    from tresse.tuning.answer import Tuning


def text(found: Tuning) -> str:
    """The output of `tresse tune`."""
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
                f"it is no better than the unchanged experiment ({words(rival.values)}) by more than the intervals: "
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
