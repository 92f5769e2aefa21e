"""Runs of settings, each computed only once: the journal of a search has the earlier ones."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tresse import _native
from tresse.errors import TresseError
from tresse.experiments import Cases, chosen
from tresse.plot.errors import unknown
from tresse.runs import Run, run
from tresse.tuning.plan import Plan


@dataclass(frozen=True)
class Setting:
    """The input of a trial."""

    only: dict[str, Any]
    set: dict[str, Any]

    def key(self) -> str:
        """The same text for the same setting."""
        return json.dumps([self.only, self.set], sort_keys=True)

    def by_rounds(self) -> Setting:
        """The same setting, simulated by rounds."""
        return Setting(self.only, {**self.set, "fidelity": "rounds"})


@dataclass(frozen=True)
class Point:
    """The measured values of a setting under one seed, or why there are none."""

    metrics: dict[str, float]
    error: str | None
    digest: str | None
    seconds: float


class Points:
    """The points of a search, in its folder."""

    def __init__(self, plan: Plan, folder: Path, parallel: int | None) -> None:
        self._plan = plan
        self._path = folder / "journal.jsonl"
        self._parallel = parallel or os.cpu_count() or 1
        self._known: dict[str, Point] = {}
        self.computed = 0
        """How many points this process computed."""
        named = plan.experiment
        text = Path(named).read_text(encoding="utf-8") if isinstance(named, str) and Path(named).is_file() else named
        own = [Path(file).read_text(encoding="utf-8") for file in plan.controllers]
        self._same = [text, own, plan.profile, _native.versions()]
        self._read()

    def _read(self) -> None:
        if not self._path.exists():
            return
        whole = self._path.read_bytes()
        kept = whole[: whole.rfind(b"\n") + 1]
        if kept != whole:
            # The last line of a killed search may be incomplete.
            with self._path.open("r+b") as file:
                file.truncate(len(kept))
        for line in kept.splitlines():
            told = json.loads(line)
            if "address" not in told:
                folder = str(self._path.parent)
                raise TresseError(f"{folder} has a sweep, not a search", code="io", file=folder)
            self._known[told["address"]] = Point(told["metrics"], told["error"], told["digest"], told["seconds"])

    def address(self, setting: Setting, seed: int, replications: int = 1) -> str:
        """A key that is the same for the same run: experiment, controllers' text, profile, versions, setting and seeds."""
        what = [self._same, setting.only, setting.set, seed, replications]
        return hashlib.sha256(json.dumps(what, sort_keys=True, default=str).encode()).hexdigest()

    def measure(self, wanted: Sequence[tuple[Setting, int]]) -> list[Point]:
        """The points of these settings and seeds, in this order; those missing from the journal are computed."""
        addresses = [self.address(setting, seed) for setting, seed in wanted]
        todo = {a: w for a, w in zip(addresses, wanted, strict=True) if a not in self._known}
        if todo:
            with ThreadPoolExecutor(self._parallel) as pool, self._path.open("a", encoding="utf-8") as journal:
                futures = {a: pool.submit(self._compute, *w) for a, w in todo.items()}
                try:
                    for address, future in futures.items():
                        self._keep(journal, address, todo[address], future.result())
                finally:
                    for future in futures.values():
                        future.cancel()
        return [self._known[address] for address in addresses]

    def _keep(self, journal: Any, address: str, of: tuple[Setting, int], point: Point) -> None:
        setting, seed = of
        line = {"address": address, "only": setting.only, "set": setting.set, "seed": seed, **vars(point)}
        journal.write(json.dumps(line) + "\n")
        journal.flush()
        self._known[address] = point
        self.computed += 1

    def _compute(self, setting: Setting, seed: int) -> Point:
        begin = time.perf_counter()
        with tempfile.TemporaryDirectory(prefix="tresse-tune-") as folder:
            try:
                own = self.run(setting, seed, 1, Path(folder), parallel=1)
                cases = own.cases
                if len(cases) != 1:
                    labels = ", ".join(case.label for case in cases)
                    hint = "choose one by `only`, or by an axis in the space"
                    raise TresseError(f"a trial has {len(cases)} cases: {labels}", hint=hint)
                named = [o.metric for o in self._plan.objectives] + [b.metric for b in self._plan.bounds]
                for metric in named:
                    if metric not in cases[0].metrics:
                        raise unknown(metric, cases[0].metrics, "the metric", of="in the run")
                return Point(cases[0].metrics, None, own.digest, time.perf_counter() - begin)
            except TresseError as error:
                # A run that cannot end is a result; a wrong plan is not.
                if error.run is None:
                    raise
                return Point({}, str(error), None, time.perf_counter() - begin)

    def ignored(self, setting: Setting) -> list[str]:
        """The keys of a setting that make no difference to its case, such as K to a scheme without marks."""
        return _native.ignored(self._cases(setting), self._plan.controllers, list(setting.set))

    def beyond_rounds(self, setting: Setting) -> str | None:
        """Why a setting cannot be screened by rounds; `None` if it can."""
        return _native.beyond_rounds(self._cases(setting), self._plan.controllers)

    def _cases(self, setting: Setting) -> Cases:
        plan = self._plan
        return chosen(plan.experiment, plan.profile, {**plan.only, **setting.only}, {**plan.set, **setting.set})

    def run(self, setting: Setting, seed: int, replications: int, out: Path, parallel: int | None = None) -> Run:
        """Runs a setting and keeps the run's folder."""
        plan = self._plan
        return run(
            plan.experiment,
            only={**plan.only, **setting.only},
            set={**plan.set, **setting.set},
            controllers=plan.controllers,
            profile="full" if plan.profile == "full" else "quick",
            seed=seed,
            replications=replications,
            parallel=parallel or self._parallel,
            out=out,
            progress=False,
        )
