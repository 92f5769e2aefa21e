"""The result of a search, with its evidence."""

from __future__ import annotations

import html
import importlib.util
import json
import math
import os
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tresse import runs
from tresse.errors import TresseError, missing
from tresse.experiments import setting as word
from tresse.experiments import toml
from tresse.plot.units import Scale, scale_of, short
from tresse.progress import Lines
from tresse.tuning.plan import Plan, PlanLike, read, screens
from tresse.tuning.points import Points, Setting
from tresse.tuning.search import Trial, front, mean, search

_EXPERIMENT = "experiment.toml"
_MOST = 5
_FRESH = 1_000_001
"""How many settings are run again, and the first of their seeds, which is higher than any seed of the search."""


@dataclass(frozen=True, repr=False)
class Finalist:
    """A setting that was run again under seeds that the search has not seen, or the unchanged experiment."""

    name: str
    values: dict[str, Any]
    metrics: dict[str, float]
    """Means over the fresh seeds."""
    ci95: dict[str, float]
    """Half the width of the 95 % confidence interval of the mean."""
    searched: dict[str, float]
    """The search's own values of the objectives and bounds. They are too good, because the best was chosen by them."""
    optimum: dict[str, float]
    no_optimum: str | None
    broken: list[str]
    """The bounds that the means break."""
    folder: str
    command: str

    def __repr__(self) -> str:
        measured = "".join(f", {name} {self.metrics[name]:.5g}" for name in self.searched if name in self.metrics)
        broken = f", breaks {', '.join(self.broken)}" if self.broken else ""
        return f"<{self.name}: {_words(self.values)}{measured}{broken}>"


class Tuning:
    """The result of a search. A notebook shows the front and the unchanged experiment."""

    def __init__(
        self, plan: Plan, folder: Path, trials: list[Trial], finalists: list[Finalist], baseline: list[Finalist]
    ):
        self.plan = plan
        self.folder = folder
        self.trials = trials
        """All settings that were tried."""
        self.front = finalists
        """The best settings first."""
        self.baseline = baseline
        """The cases of the unchanged experiment."""
        self.page: Path | None = None
        """The page of the runs of the front and of the unchanged experiment."""

    @property
    def best(self) -> Finalist | None:
        """The first setting of the front that also keeps the bounds under fresh seeds."""
        return next((own for own in self.front if not own.broken), None)

    @property
    def rival(self) -> Finalist | None:
        """The case of the unchanged experiment that is best in the first objective, among those that keep the bounds."""
        first = self.plan.objectives[0]
        able = [own for own in self.baseline if not own.broken and first.metric in own.metrics]
        sign = 1 if first.minimise else -1
        return min(able, key=lambda own: sign * own.metrics[first.metric], default=None)

    @property
    def better(self) -> bool | None:
        """Whether the best setting is better than `rival` in the first objective, by more than both 95 % intervals.

        `None` if one of the two is missing.
        """
        best, rival, first = self.best, self.rival, self.plan.objectives[0]
        if best is None or rival is None:
            return None
        gain = rival.metrics[first.metric] - best.metrics[first.metric]
        halves = [own.ci95.get(first.metric, 0.0) for own in (best, rival)]
        return (gain if first.minimise else -gain) > sum(halves)

    @property
    def command(self) -> str | None:
        """The command that repeats the run of the best setting."""
        return self.best.command if self.best is not None else None

    @property
    def metrics(self) -> list[str]:
        """The metrics of the objectives and the bounds."""
        return list(dict.fromkeys([o.metric for o in self.plan.objectives] + [b.metric for b in self.plan.bounds]))

    def to_dict(self) -> dict[str, Any]:
        """The output of `tresse tune --json`."""
        best = self.best
        return {
            "schema": "tresse/tune/1",
            "out": str(self.folder),
            "objectives": [vars(own) for own in self.plan.objectives],
            "bounds": [str(own) for own in self.plan.bounds],
            "seeds": {"search": self.plan.seeds, "fresh": self.plan.fresh, "fresh_first": _FRESH},
            "best": best.name if best is not None else None,
            "command": self.command,
            "better_than_baseline": self.better,
            "front": [vars(own) for own in self.front],
            "baseline": [vars(own) for own in self.baseline],
            "trials": [self._row(own) for own in self.trials],
            "page": str(self.page) if self.page is not None else None,
        }

    def _row(self, own: Trial) -> dict[str, Any]:
        return {
            "trial": own.number,
            "state": own.state,
            "fidelity": own.fidelity,
            "seeds": own.seeds,
            "values": own.values,
            "metrics": {metric: _plain(own.mean(metric)) for metric in self.metrics},
            "screened": {metric: _plain(mean(own.screened, metric)) for metric in self.metrics},
            "holds": own.holds(self.plan),
            "error": own.error,
        }

    def table(self) -> str:
        """The front and the unchanged experiment, as text."""
        rows = self._rows()
        wide = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
        return "\n".join("  ".join(c.ljust(w) for c, w in zip(row, wide, strict=True)).rstrip() for row in rows)

    def _rows(self) -> list[list[str]]:
        """The cells of the table, with its head; a column for the bounds that are broken, if any is."""
        shown = [*self.front, *self.baseline]
        with_broken = any(own.broken for own in shown)
        scales = {metric: scale_of(metric, [own.metrics.get(metric) for own in shown]) for metric in self.metrics}
        heads = [f"{short(metric)}, {scale.unit}" if scale.unit else short(metric) for metric, scale in scales.items()]
        rows = [["", "setting", *heads, *(["breaks"] if with_broken else [])]]
        for own in shown:
            broken = [", ".join(own.broken)] if with_broken else []
            cells = [_cell(own.metrics.get(metric), own.ci95.get(metric), scale) for metric, scale in scales.items()]
            rows.append([own.name, _words(own.values), *cells, *broken])
        return rows

    def __str__(self) -> str:
        from tresse.tuning.text import text

        return text(self)

    def __repr__(self) -> str:
        return f"<Tuning {len(self.trials)} trials, {len(self.front)} on the front, in {self.folder}>"

    def _repr_html_(self) -> str:
        names, *rows = self._rows()
        head = "".join(f"<th>{html.escape(name)}</th>" for name in names)
        body = "".join("<tr>" + "".join(f"<td>{html.escape(c)}</td>" for c in row) + "</tr>" for row in rows)
        said = f"<p><code>{html.escape(self.command)}</code></p>" if self.command else ""
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{said}"


def tune(
    plan: PlanLike,
    *,
    out: str | os.PathLike[str] | None = None,
    trials: int | None = None,
    parallel: int | None = None,
    screen: str | None = None,
    progress: bool = True,
) -> Tuning:
    """Searches for the best settings, as `tresse tune` does.

    `plan`: a TOML file, or a dict of its tables. `out`: its folder (default: tunings/NAME-N); an earlier search there
    continues, and nothing is computed again. `trials`: how many settings to try, whatever the plan says. `parallel`: how
    many runs at a time (default: one per core). `screen`: "rounds" or "none", whatever the plan says (default:
    none). `progress`: shows a bar.
    """
    for package in ("optuna", "pyarrow"):
        if importlib.util.find_spec(package) is None:
            raise missing(package.capitalize(), "tune")
    own = read(plan)
    if trials is not None:
        own = Plan(**{**vars(own), "trials": trials})
    if screen is not None:
        try:
            own = Plan(**{**vars(own), "screen": screens(screen)})
        except ValueError as error:
            raise TresseError(str(error)) from None
    folder = _folder(own, out)
    if isinstance(own.experiment, dict):
        (folder / _EXPERIMENT).write_text(toml(own.experiment), encoding="utf-8")
    points = Points(own, folder, parallel)
    tried = _search(own, points, progress)
    best = front(own, tried, _MOST)
    finalists = [
        _finalist(own, points, folder, f"front-{i}", trial.setting, trial)[0] for i, trial in enumerate(best, 1)
    ]
    only = {key: value for key, value in own.space.items() if "." not in key}
    baseline = _finalist(own, points, folder, "baseline", Setting(only, {}), None)
    tuning = Tuning(own, folder, tried, finalists, baseline)
    tuning.page = _page(folder, list(dict.fromkeys(f.folder for f in [*finalists, *baseline])))
    _write(tuning)
    return tuning


def _folder(plan: Plan, out: str | os.PathLike[str] | None) -> Path:
    if out is not None:
        folder = Path(out)
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()) and not (folder / "journal.jsonl").exists():
            raise TresseError(f"{folder} is not empty and has no search", code="io", file=str(folder))
        (folder / "journal.jsonl").touch()
        return folder
    number = 1
    while True:
        folder = Path("tunings", f"{plan.name}-{number}")
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            number += 1
            continue
        (folder / "journal.jsonl").touch()
        return folder


def _search(plan: Plan, points: Points, progress: bool) -> list[Trial]:
    from tqdm.auto import tqdm

    form = "{desc} {n_fmt}/{total_fmt} trials |{bar}| {remaining} left"
    shown = None if progress else True
    with tqdm(total=plan.trials, desc="tune", leave=False, disable=shown, bar_format=form) as bar:
        lines = Lines("tune") if progress and bar.disable else None

        def show(done: int, of: int) -> None:
            bar.update(done - bar.n)
            if lines is not None:
                lines.show(done / of, f"{done} of {of} trials")

        return search(plan, points, show)


def _finalist(
    plan: Plan, points: Points, folder: Path, name: str, setting: Setting, trial: Trial | None
) -> list[Finalist]:
    """Runs a setting under the fresh seeds, unless its folder already has that run."""
    out = folder / name
    address = points.address(setting, _FRESH, plan.fresh)
    note = folder / f"{name}.address"
    if note.exists() and note.read_text() == address:
        run = runs.open(out)
    else:
        shutil.rmtree(out, ignore_errors=True)
        run = points.run(setting, _FRESH, plan.fresh, out)
        note.write_text(address)
    made = []
    for case in run.cases:
        broken = [str(b) for b in plan.bounds if b.excess(case.metrics.get(b.metric, math.nan)) > 0]
        wanted = [o.metric for o in plan.objectives] + [b.metric for b in plan.bounds]
        made.append(
            Finalist(
                name=name,
                values=trial.values if trial is not None else {"case": case.label},
                metrics=case.metrics,
                ci95=case.ci95,
                searched={metric: trial.mean(metric) for metric in wanted} if trial is not None else {},
                optimum=case.optimum,
                no_optimum=case.no_optimum,
                broken=broken,
                folder=str(out),
                command=_command(plan, folder, setting),
            )
        )
    return made


def _command(plan: Plan, folder: Path, setting: Setting) -> str:
    """The command that repeats a run; an experiment from a dict is in the folder of the search."""
    named = plan.experiment if isinstance(plan.experiment, str) else str(folder / _EXPERIMENT)
    parts = ["tresse", "run", named, "--profile", plan.profile]
    for axis, value in {**plan.only, **setting.only}.items():
        values = value if isinstance(value, list | tuple) else [value]
        parts += ["--only", f"{axis}={','.join(word(own) for own in values)}"]
    for path, value in {**plan.set, **setting.set}.items():
        parts += ["--set", f"{path}={word(value)}"]
    for file in plan.controllers:
        parts += ["--controller", file]
    return shlex.join([*parts, "--seed", str(_FRESH), "--replications", str(plan.fresh)])


def _page(folder: Path, drawn: list[str]) -> Path:
    """One page for all these runs. The command sets its own signal handlers, so it runs in a separate process."""
    page = folder / "report.html"
    command = [sys.executable, "-m", "tresse", "report", *drawn, "--out", str(page)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise TresseError(done.stderr.strip().removeprefix("error: "), code="machine")
    return page


def _write(tuning: Tuning) -> None:
    import pyarrow
    import pyarrow.parquet

    folder = tuning.folder
    (folder / "tuning.json").write_text(json.dumps(tuning.to_dict(), indent=2) + "\n", encoding="utf-8")
    (folder / "tuning.txt").write_text(f"{tuning}\n", encoding="utf-8")
    rows = []
    for own in tuning.trials:
        row = tuning._row(own)
        # A key may have values of several types: they are written in the form that the command takes.
        values = {key: word(own.values[key]) if key in own.values else None for key in tuning.plan.space}
        flat = {key: row[key] for key in ("trial", "state", "fidelity", "seeds", "holds", "error")}
        screened = {f"screened.{metric}": value for metric, value in row["screened"].items()}
        rows.append({**flat, **values, **row["metrics"], **screened})
    text = [(key, pyarrow.string()) for key in ("state", "fidelity", "error", *tuning.plan.space)]
    kinds: dict[str, Any] = dict(text)
    kinds |= {name: pyarrow.float64() for metric in tuning.metrics for name in (metric, f"screened.{metric}")}
    kinds |= {"trial": pyarrow.int64(), "seeds": pyarrow.int64(), "holds": pyarrow.bool_()}
    schema = pyarrow.schema(list(kinds.items()))
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows, schema), folder / "trials.parquet")


def _plain(value: float) -> float | None:
    return None if math.isnan(value) else value


def _cell(value: float | None, half: float | None, scale: Scale) -> str:
    """A value in the unit of its column: five digits, or as many as two digits of its interval have."""
    if value is None:
        return "-"
    value = value / scale.factor
    if not half:
        return f"{value:.5g}"
    half = half / scale.factor
    decimals = max(0, 1 - math.floor(math.log10(half)))
    return f"{value:.{decimals}f} ± {half:.{decimals}f}"


def _words(values: dict[str, Any]) -> str:
    return " ".join(f"{key}={word(value)}" for key, value in values.items())
