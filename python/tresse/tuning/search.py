"""The search: Optuna proposes settings, and runs measure them.

If it is screened, the search itself runs by rounds, and the best third of its settings then by packets, again from one
seed to several: what is said about a setting in the end is by packets.

Everything it does follows from the plan and the measured points. Started again with the journal of an earlier search, it
proposes the same settings, finds their results there, and continues where that search ended.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tresse.tuning.plan import Plan, Range
from tresse.tuning.points import Point, Points, Setting

_TOGETHER = 4
"""How many trials are proposed at a time on every machine: the result must not depend on the number of cores."""
_REPEATS = 8
"""How many proposals in a row may have been tried before; then a setting is drawn at random."""
_DRAWS = 1000
"""How many random settings in a row may have been tried before; then the space counts as searched."""


@dataclass
class Trial:
    """A setting that was tried."""

    number: int
    values: dict[str, Any]
    """By the space's keys."""
    setting: Setting
    fidelity: str = "packets"
    """How its points are simulated: by packets, or by rounds."""
    refused: str | None = None
    """Why it was not screened by rounds; `None` if it was, or nothing is."""
    state: str = "complete"
    """complete, given-up (worse than others after few seeds), screened-out (worse than others by rounds) or failed."""
    points: list[Point] = field(default_factory=list)
    screened: list[Point] = field(default_factory=list)
    """By rounds, once it has points by packets."""

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
        return mean(self.points, metric)

    def holds(self, plan: Plan) -> bool:
        """Whether it was run by packets under all seeds and keeps every bound."""
        return self.state == "complete" and self.broken(plan) <= 0

    def broken(self, plan: Plan) -> float:
        """How far it breaks bounds, as a share of them; 0 if it keeps all; infinite if a run has no such metric."""
        excess = sum(max(0.0, bound.excess(self.mean(bound.metric))) for bound in plan.bounds)
        return math.inf if math.isnan(excess) else excess

    def costs(self, plan: Plan) -> list[float]:
        """The objectives, the lower the better."""
        return [self.mean(o.metric) if o.minimise else -self.mean(o.metric) for o in plan.objectives]


def mean(points: list[Point], metric: str) -> float:
    """The mean of a metric; NaN if a run has no such metric."""
    values = [point.metrics.get(metric, math.nan) for point in points]
    return sum(values) / len(values) if values else math.nan


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
    new = _New(plan, points, study)
    trials: list[Trial] = []
    begin = time.monotonic()
    while len(trials) < plan.trials and not _late(plan, begin):
        pairs = new.propose(min(_TOGETHER, plan.trials - len(trials)))
        if not pairs:
            break
        _climb(plan, points, pairs, prune=one)
        for trial, mine in pairs:
            _tell(optuna, study, plan, trial, mine)
        trials += [mine for _, mine in pairs]
        told(len(trials), plan.trials)
    if plan.screen:
        _confirm(plan, points, trials)
    return trials


class _New:
    """Proposes settings that were not tried before: a second time they would cost a trial and tell nothing new."""

    def __init__(self, plan: Plan, points: Points, study: Any) -> None:
        self._plan = plan
        self._points = points
        self._study = study
        self._tried: set[str] = set()
        self._random = random.Random(plan.seed)

    def propose(self, most: int) -> list[tuple[Any, Trial]]:
        """The next trials, with Optuna's; fewer than `most` if the space has no more."""
        pairs: list[tuple[Any, Trial]] = []
        while len(pairs) < most:
            pair = self._asked() or self._drawn()
            if pair is None:
                break
            pairs.append(pair)
        return pairs

    def _asked(self) -> tuple[Any, Trial] | None:
        """What Optuna proposes; `None` if it only repeats itself."""
        for _ in range(_REPEATS):
            if pair := self._next():
                return pair
        return None

    def _drawn(self) -> tuple[Any, Trial] | None:
        """A random setting; `None` if there seems to be no other."""
        known: set[str] = set()
        for _ in range(_DRAWS):
            drawn = {key: self._draw(space) for key, space in sorted(self._plan.space.items())}
            if (text := repr(drawn)) in known:
                continue
            known.add(text)
            self._study.enqueue_trial(drawn)
            if pair := self._next():
                return pair
        return None

    def _next(self) -> tuple[Any, Trial] | None:
        """Optuna's next trial; `None` if its setting was tried before."""
        trial = self._study.ask()
        own = _trial(self._plan, self._points, trial, len(self._tried))
        if self._is_new(own):
            return trial, own
        self._forget(trial)
        return None

    def _draw(self, space: Range | list[Any]) -> float:
        """A value as Optuna has it: of a list, its place."""
        if isinstance(space, list):
            return self._random.randrange(len(space))
        if space.log:
            value = math.exp(self._random.uniform(math.log(space.low), math.log(space.high)))
        else:
            value = self._random.uniform(space.low, space.high)
        return round(value) if space.whole else value

    def _is_new(self, own: Trial) -> bool:
        key = own.setting.key()
        if key in self._tried:
            return False
        self._tried.add(key)
        return True

    def _forget(self, trial: Any) -> None:
        """A failed trial is one that no sampler learns from."""
        from optuna.trial import TrialState

        self._study.tell(trial, state=TrialState.FAIL)


def _confirm(plan: Plan, points: Points, trials: list[Trial]) -> None:
    """Runs the best third of the settings that were tried by packets, under 1, 2, 4 ... seeds; with one objective, the
    better half after each stage.
    """
    able = [own for own in trials if own.fidelity == "rounds" and own.state != "failed"]
    kept = {own.setting.key() for own in _best(plan, able, math.ceil(len(able) / 3))}
    for own in able:
        if own.setting.key() not in kept:
            own.state = "screened-out"
        else:
            own.state, own.fidelity = "complete", "packets"
            own.points, own.screened = [], own.points
    going = [own for own in able if own.state == "complete"]
    seeds = 1
    while going:
        _measure(points, going, seeds)
        for own in going:
            if own.error is not None:
                own.state = "failed"
        going = [own for own in going if own.state == "complete"]
        if seeds >= plan.seeds:
            return
        if len(plan.objectives) == 1:
            better = {own.setting.key() for own in _best(plan, going, math.ceil(len(going) / 2))}
            for own in going:
                own.state = "complete" if own.setting.key() in better else "given-up"
            going = [own for own in going if own.state == "complete"]
        seeds = min(2 * seeds, plan.seeds)


def _best(plan: Plan, trials: list[Trial], most: int) -> list[Trial]:
    """The best settings, at most `most`, each once: those that were given up come last, those that break bounds least
    come first, then those than which the fewest are better in every objective.
    """
    able = list({own.setting.key(): own for own in trials}.values())
    costs = {own.number: [math.inf if math.isnan(c) else c for c in own.costs(plan)] for own in able}

    def place(own: Trial) -> tuple[bool, float, int, list[float]]:
        mine = costs[own.number]
        better = sum(_dominates(costs[other.number], mine) for other in able)
        return own.state != "complete", own.broken(plan), better, mine

    return sorted(able, key=place)[:most]


def _measure(points: Points, trials: list[Trial], seeds: int) -> None:
    """Runs trials under the seeds up to this one that they do not have yet."""
    wanted = [(own, seed) for own in trials for seed in range(own.seeds + 1, seeds + 1)]
    settings = [own.setting.by_rounds() if own.fidelity == "rounds" else own.setting for own, _ in wanted]
    measured = points.measure([(setting, seed) for setting, (_, seed) in zip(settings, wanted, strict=True)])
    for (own, _), point in zip(wanted, measured, strict=True):
        own.points.append(point)


def _late(plan: Plan, begin: float) -> bool:
    return plan.seconds is not None and time.monotonic() - begin > plan.seconds


def _trial(plan: Plan, points: Points, trial: Any, number: int) -> Trial:
    """The trial of this number, with the values that Optuna's has."""
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
    own = Trial(number, values, Setting(only, changed))
    if plan.screen:
        own.refused = points.beyond_rounds(own.setting)
        own.fidelity = "rounds" if own.refused is None else "packets"
    return own


def _climb(plan: Plan, points: Points, pairs: list[tuple[Any, Trial]], *, prune: bool) -> None:
    """Runs trials under 1, 2, 4 ... seeds; after each stage those that break a bound are given up, and of the others the
    worse ones: those that break a bound do not count there.
    """
    seeds = 1
    while pairs:
        _measure(points, [own for _, own in pairs], seeds)
        going = []
        for trial, own in pairs:
            if own.error is not None:
                own.state = "failed"
                continue
            if prune and seeds < plan.seeds and falls_behind(plan, trial, own, seeds):
                own.state = "given-up"
                continue
            going.append((trial, own))
        if seeds >= plan.seeds:
            return
        pairs, seeds = going, min(2 * seeds, plan.seeds)


def falls_behind(plan: Plan, trial: Any, own: Trial, seeds: int) -> bool:
    """Whether it breaks a bound, or is worse than others after as many seeds. Only what keeps the bounds is reported to
    the pruner: it compares a trial with all that were.
    """
    if own.broken(plan) > 0:
        return True
    trial.report(own.mean(plan.objectives[0].metric), seeds)
    return bool(trial.should_prune())


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
        return own.costs(plan)

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
