"""The search: Optuna proposes settings, and runs measure them.

Everything it does follows from the plan and the measured points. Started again with the journal of an earlier search, it
proposes the same settings, finds their results there, and continues where that search ended.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tresse.tuning.plan import Plan
from tresse.tuning.points import Point, Points, Setting

_TOGETHER = 4
"""How many trials are proposed at a time on every machine: the result must not depend on the number of cores."""


@dataclass
class Trial:
    """A setting that was tried."""

    number: int
    values: dict[str, Any]
    """By the space's keys."""
    setting: Setting
    state: str = "complete"
    """complete, given-up (worse than others after few seeds) or failed."""
    points: list[Point] = field(default_factory=list)

    @property
    def seeds(self) -> int:
        """Under how many seeds it was run."""
        return len(self.points)

    @property
    def error(self) -> str | None:
        """Why it failed."""
        return next((point.error for point in self.points if point.error is not None), None)

    def mean(self, metric: str) -> float:
        """The means over its seeds; NaN if a run has no such metric."""
        values = [point.metrics.get(metric, math.nan) for point in self.points]
        return sum(values) / len(values) if values else math.nan

    def holds(self, plan: Plan) -> bool:
        """Whether it was run under all seeds and keeps every bound."""
        return self.state == "complete" and all(bound.excess(self.mean(bound.metric)) <= 0 for bound in plan.bounds)


def search(plan: Plan, points: Points, told: Callable[[int, int], None]) -> list[Trial]:
    """Tries settings until the budget is spent; calls `told` with how many of how many are done."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    one = len(plan.objectives) == 1

    sampler: Any
    if one:
        sampler = optuna.samplers.TPESampler(seed=plan.seed)
    else:
        size = max(_TOGETHER, min(50, plan.trials // 4))
        sampler = optuna.samplers.NSGAIISampler(seed=plan.seed, population_size=size)
    pruner = optuna.pruners.SuccessiveHalvingPruner(min_resource=1, reduction_factor=2)
    directions: Any = ["minimize" if objective.minimise else "maximize" for objective in plan.objectives]
    study = optuna.create_study(directions=directions, sampler=sampler, pruner=pruner)
    trials: list[Trial] = []
    begin = time.monotonic()
    while len(trials) < plan.trials and not _late(plan, begin):
        asked = [study.ask() for _ in range(min(_TOGETHER, plan.trials - len(trials)))]
        own = [_trial(plan, points, trial) for trial in asked]
        _climb(plan, points, list(zip(asked, own, strict=True)), prune=one)
        for trial, mine in zip(asked, own, strict=True):
            _tell(optuna, study, plan, trial, mine)
        trials += own
        told(len(trials), plan.trials)
    return trials


def _late(plan: Plan, begin: float) -> bool:
    return plan.seconds is not None and time.monotonic() - begin > plan.seconds


def _trial(plan: Plan, points: Points, trial: Any) -> Trial:
    values: dict[str, Any] = {}
    only: dict[str, Any] = {}
    changed: dict[str, Any] = {}
    # The scheme first: keys of other schemes do not count.
    for key in sorted(plan.space, key=lambda key: key != "scheme"):
        if not plan.applies(key, values.get("scheme")):
            continue
        space = plan.space[key]
        if isinstance(space, list):
            value = space[trial.suggest_categorical(key, list(range(len(space))))]
        elif space.whole:
            value = space.value(trial.suggest_int(key, int(space.low), int(space.high), log=space.log))
        else:
            value = space.value(trial.suggest_float(key, space.low, space.high, log=space.log))
        values[key] = value
        (changed if "." in key else only)[key] = value
    # What makes no difference is left out, so that trials which differ only in that are the same.
    for key in points.ignored(Setting(only, changed)):
        del values[key], changed[key]
    return Trial(trial.number, values, Setting(only, changed))


def _climb(plan: Plan, points: Points, pairs: list[tuple[Any, Trial]], *, prune: bool) -> None:
    """Runs trials under 1, 2, 4 ... seeds; after each stage, the worse ones are given up."""
    seeds = 1
    while pairs:
        wanted = [(own, seed) for _, own in pairs for seed in range(own.seeds + 1, seeds + 1)]
        for (own, _), point in zip(wanted, points.measure([(t.setting, s) for t, s in wanted]), strict=True):
            own.points.append(point)
        going = []
        for trial, own in pairs:
            if own.error is not None:
                own.state = "failed"
                continue
            if prune:
                objective = plan.objectives[0]
                broken = any(bound.excess(own.mean(bound.metric)) > 0 for bound in plan.bounds)
                worst = math.inf if objective.minimise else -math.inf
                trial.report(worst if broken else own.mean(objective.metric), seeds)
                if seeds < plan.seeds and trial.should_prune():
                    own.state = "given-up"
                    continue
            going.append((trial, own))
        if seeds >= plan.seeds:
            return
        pairs, seeds = going, min(2 * seeds, plan.seeds)


def _tell(optuna: Any, study: Any, plan: Plan, trial: Any, own: Trial) -> None:
    if own.state == "failed":
        study.tell(trial, state=optuna.trial.TrialState.FAIL)
        return
    for bound in plan.bounds:
        trial.set_constraint(str(bound), bound.excess(own.mean(bound.metric)))
    if own.state == "given-up":
        study.tell(trial, state=optuna.trial.TrialState.PRUNED)
    else:
        study.tell(trial, [own.mean(objective.metric) for objective in plan.objectives])


def front(plan: Plan, trials: list[Trial], most: int) -> list[Trial]:
    """The best settings, at most `most`; for several objectives, those that no other setting beats in everything."""
    able = list({own.setting.key(): own for own in trials if own.holds(plan)}.values())

    def costs(own: Trial) -> list[float]:
        return [own.mean(o.metric) if o.minimise else -own.mean(o.metric) for o in plan.objectives]

    able = [own for own in able if not any(math.isnan(cost) for cost in costs(own))]
    if len(plan.objectives) > 1:
        able = [own for own in able if not any(_dominates(costs(other), costs(own)) for other in able)]
    able.sort(key=costs)
    if len(able) <= most:
        return able
    if len(plan.objectives) == 1:
        return able[:most]
    # Spread along the front, including both ends.
    return [able[round(i * (len(able) - 1) / (most - 1))] for i in range(most)]


def _dominates(left: list[float], right: list[float]) -> bool:
    return left != right and all(a <= b for a, b in zip(left, right, strict=True))
