"""The answer of a search as text."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from tresse.tuning.answer import _words as words

if TYPE_CHECKING:
    from tresse.tuning.answer import Tuning


def text(found: Tuning) -> str:
    """The output of `tresse tune`."""
    lines = [*_counts(found), *_refused(found)]
    lines += _no_difference(found) + _searched(found)
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
    lines += [f"in {found.folder}: report.html, tuning.json, trials.parquet", f"again: tresse show {found.folder}"]
    return "\n".join(lines)


def _counts(found: Tuning) -> list[str]:
    """How many settings were tried, and by what."""
    tried = found.trials
    by_packets = [own for own in tried if own.fidelity == "packets"]
    states = {state: sum(own.state == state for own in by_packets) for state in ("complete", "given-up", "failed")}
    counts = ", ".join(f"{number} {state.replace('-', ' ')}" for state, number in states.items() if number)
    told = f"{counts}; those that keep every bound: {sum(t.holds(found.plan) for t in tried)}"
    confirmed = sum(bool(own.screened) for own in tried)
    screened = confirmed + len(tried) - len(by_packets)
    if not screened:
        return [f"{len(tried)} trials: {told}"]
    return [
        f"{len(tried)} trials: {screened} screened by rounds, of which the best {confirmed} were run by packets",
        f"by packets: {told}",
    ]


def _refused(found: Tuning) -> list[str]:
    """The trials that could not be screened, by the reason."""
    reasons = Counter(own.refused for own in found.trials if own.refused is not None)
    return [f"not screened: {count} trials, because {reason}" for reason, count in reasons.items()]


def _no_difference(found: Tuning) -> list[str]:
    """The keys that made no difference to some trials, which were not run again for them."""
    applies = found.plan.applies
    own = {
        key: sum(applies(key, trial.values.get("scheme")) and key not in trial.values for trial in found.trials)
        for key in found.plan.space
    }
    told = [f"{key} in {count} of {len(found.trials)} trials" for key, count in own.items() if count]
    return [f"no difference: {', '.join(told)}"] if told else []


def _searched(found: Tuning) -> list[str]:
    """Whether there was nothing left to try."""
    plan, tried = found.plan, len(found.trials)
    if tried >= plan.trials or plan.seconds is not None:
        return []
    return [f"no other setting was found beside these {tried}"]
