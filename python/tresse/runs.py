"""Runs: started here, or read back from their folders."""

from __future__ import annotations

import json
import os
import time
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tresse import _native, tables
from tresse._command import shown
from tresse.errors import TresseError, TresseWarning
from tresse.experiments import Experiment, Only, Profile, Settings, chosen
from tresse.progress import Bar

if TYPE_CHECKING:
    from tresse.plot import Plots
    from tresse.sweeps import Sweep

_LOOK_S = 0.05
_PATIENCE_S = 0.6
"""How often a run is checked, and how long after Ctrl-C its folder is closed without it."""


@dataclass(frozen=True)
class Case:
    """A case of a run: its axes and its measured values. The names of metrics end in a unit: `goodput_mean_bps`."""

    axes: dict[str, Any]
    label: str
    """A name for people: `xmp-2 permutation`."""
    scheme: str
    """The scheme with its number of subflows: `xmp-2`."""
    metrics: dict[str, float]
    ci95: dict[str, float]
    """Half the width of the 95 % confidence interval of a metric."""
    by: dict[str, dict[str, dict[str, float]]]
    """The metrics of parts, by division (`group`, `distance`, `size`, `layer`) and the part's name."""
    published: dict[str, float]
    optimum: dict[str, float]
    """The optimum that its controller claims to reach, and the distance from it; see `tresse.explain("optimum")`."""
    no_optimum: str | None
    """Why there is no optimum."""
    seeds: list[dict[str, Any]] = field(repr=False)
    """The measured values of each seed, if there are several."""


class Cases(list[Case]):
    """Cases; a notebook shows them as a table of results."""

    def _repr_html_(self) -> str:
        from tresse import html

        return html.cases_html(self)


@dataclass(frozen=True)
class Claim:
    """A claim of the paper, judged."""

    id: str
    text: str
    holds: bool | None
    """None: the claim is undecided, or not about these cases."""
    value: float | None
    report: dict[str, Any] = field(repr=False)
    """Everything that `tresse run --json` reports about it."""


@dataclass(frozen=True)
class Page:
    """The page of a run: a single file that opens from disk. A notebook shows it in a frame."""

    path: Path
    height: int
    """The frame's height, pixels."""

    def _repr_html_(self) -> str:
        # The whole page is in the frame's attribute, because a notebook's server serves no file outside its folder.
        text = self.path.read_text(encoding="utf-8").replace("&", "&amp;").replace('"', "&quot;")
        return f'<iframe srcdoc="{text}" width="100%" height="{self.height}" style="border: 0"></iframe>'


class Run:
    """A run's results. `tresse.run` makes one, `tresse.open` reads one back."""

    flows: tables.Table
    jobs: tables.Table
    links: tables.Table
    samples: tables.Table
    queues: tables.Table
    paths: tables.Table
    rtts: tables.Table
    lengths: tables.Table
    convergence: tables.Table
    packets: tables.Table

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        text, state, names = _native.head(self.folder)
        head = json.loads(text)
        self.report_json: dict[str, Any] = head["report"]
        """The output of `tresse run --json`."""
        self.experiment: dict[str, Any] = head["experiment"]
        """The experiment as it was run, with the profile and the settings applied."""
        self.state: str = state
        """complete, under-way, interrupted, gave-up or killed."""
        self.tables: list[str] = names
        """The names of its tables."""
        self.notes: list[str] = [f"note: {note}" for note in self.report_json.get("notes", [])]
        """What to know of it: what the command prints before and after the run, such as the cuts of the quick profile."""

    @property
    def name(self) -> str:
        """The experiment's name."""
        return str(self.report_json["experiment"])

    @property
    def status(self) -> str:
        """complete, partial or running."""
        return str(self.report_json["status"])

    @property
    def profile(self) -> str:
        """The profile: quick or full."""
        return str(self.report_json["profile"])

    @property
    def seed(self) -> int:
        """The first seed."""
        return int(self.report_json["seed"])

    @property
    def digest(self) -> str:
        """A fingerprint of the results: the same on every machine for the same experiment, seed and model version."""
        return str(self.report_json["digest"])

    @cached_property
    def cases(self) -> Cases:
        """The cases, in the order of the experiment."""
        return Cases(case(own) for own in self.report_json["cases"])

    @cached_property
    def claims(self) -> list[Claim]:
        """The paper's claims, judged by this run."""
        return [
            Claim(own["id"], own["text"], own.get("holds"), own.get("value"), own) for own in self.report_json["claims"]
        ]

    @property
    def optimum(self) -> dict[str, dict[str, float]]:
        """The optima that the controllers claim to reach, by the cases' labels; cases without an optimum are left out."""
        return {case.label: case.optimum for case in self.cases if case.optimum}

    def case(self, **axes: Any) -> Case:
        """The only case with these axes: `run.case(scheme="xmp", subflows=2)`."""
        found = [c for c in self.cases if all(c.axes.get(axis) == value for axis, value in axes.items())]
        if len(found) == 1:
            return found[0]
        words = ", ".join(f"{axis}={value}" for axis, value in axes.items())
        known = ", ".join(case.label for case in (found or self.cases))
        raise TresseError(f"{len(found)} cases have {words}", hint=f"there are {known}" if not found else known)

    def table(self, name: str) -> tables.Table:
        """The table with this name: see `tables`."""
        if name not in tables.NAMES:
            raise TresseError(f"a run has no table `{name}`", hint=f"there are {', '.join(tables.NAMES)}")
        own = tables.read(self.folder, name)
        if own is not None:
            return own
        hint = tables.HOW.get(name)
        raise TresseError(
            f"{self.folder}: the run has no table `{name}`",
            file=str(self.folder),
            hint=f"run it with {hint}" if hint else None,
        )

    def __getattr__(self, name: str) -> tables.Table:
        if name not in tables.NAMES:
            raise AttributeError(f"a run has no `{name}`")
        own = self.table(name)
        # Read only once: the folder of a finished run does not change.
        if self.state != "under-way":
            self.__dict__[name] = own
        return own

    @cached_property
    def declared(self) -> dict[str, Any]:
        """`figures`: those that its experiment declares; `published`: the numbers of its paper, by case and part."""
        found: dict[str, Any] = json.loads(_native.figures(self.folder))
        return found

    @cached_property
    def plot(self) -> Plots:
        """Figures of this run, drawn with matplotlib."""
        from tresse.plot import Plots

        return Plots(self)

    def report(self, *, height: int = 800) -> Page:
        """Writes the page of the run, report.html in its folder; a notebook shows it.

        `height`: the height of its frame in the notebook, pixels.
        """
        return Page(self.write_page(), height)

    def write_page(self) -> Path:
        """Writes the page of the run, report.html in its folder, and returns its path. It opens from disk."""
        return Path(_native.write_page(self.folder))

    def __repr__(self) -> str:
        return f"<Run {self.name} {self.status}, {len(self.cases)} cases, in {self.folder}>"

    def __str__(self) -> str:
        return "\n".join([shown(self.folder), *self.notes])

    def _repr_html_(self) -> str:
        from tresse import html

        return html.run_html(self)


def case(own: dict[str, Any]) -> Case:
    """A case as the command's JSON has it."""
    axes = own["case"]
    scheme = str(axes.get("scheme") or "")
    if axes.get("subflows") is not None:
        scheme += f"-{axes['subflows']}"
    rest = [
        f" {value}" if axis in ("pattern", "variant") else f" {axis}={value}"
        for axis, value in axes.items()
        if axis not in ("scheme", "subflows") and value is not None
    ]
    return Case(
        axes=axes,
        label=scheme + "".join(rest),
        scheme=scheme,
        metrics=own["metrics"],
        ci95=own["ci95"],
        by=own["by"],
        published=own["published"],
        optimum=own["optimum"],
        no_optimum=own["no_optimum"],
        seeds=own.get("seeds", []),
    )


def run(
    experiment: Experiment,
    *,
    only: Only | None = None,
    set: Settings | None = None,  # noqa: A002 - as the command has it
    controllers: Iterable[str | os.PathLike[str]] = (),
    profile: Profile = "quick",
    seed: int = 1,
    replications: int | str | None = None,
    parallel: int | None = None,
    threads: int | None = None,
    out: str | os.PathLike[str] | None = None,
    judge: bool = False,
    progress: bool = True,
) -> Run:
    """Runs every case of an experiment, as `tresse run` does.

    `experiment`: a built-in name such as "xmp/table1", a TOML file, a dict of its tables, or a `tresse.keys.Experiment`.
    `only`: the values to keep, by axis: `{"scheme": ["xmp", "dctcp"]}`.
    `set`: values by path: `{"fabric.mark": "20pkt"}`; a list makes a case for each value.
    `controllers`: your own C files, each of which can then be a scheme's controller. They run with your rights.
    `profile`: "full" is the size of the paper, "quick" has fewer flows, rounds or seconds.
    `seed`: that of the first replication. `replications`: how many seeds, or "5%": as many as it takes until the 95 %
    interval is this narrow (default: as the experiment says).
    `parallel`: how many cases run at a time (default: one per core). `threads`: how many threads a case may use
    (default: the cores that cases leave).
    `out`: the folder for the results, which must be new or empty (default: runs/NAME-N).
    `judge`: judges by the published numbers and claims even if `set` has changed what they are about.
    `progress`: shows a bar.

    Ctrl-C ends the run early: the folder keeps what was measured, and the KeyboardInterrupt names it. A run that cannot
    end, because a controller died or flows wait forever, is a TresseError whose `run` has what was measured.
    """
    cases = chosen(experiment, profile, only, set)
    running = _native.Running(
        cases,
        {
            "controllers": [os.fspath(file) for file in controllers],
            "seed": str(seed),
            "replications": None if replications is None else str(replications),
            "parallel": None if parallel is None else str(parallel),
            "threads": None if threads is None else str(threads),
            "out": None if out is None else os.fspath(out),
            "judge": judge,
        },
    )
    for note in running.notes:
        if note.startswith("warning: "):
            warnings.warn(note.removeprefix("warning: "), TresseWarning, stacklevel=2)
    report = json.loads(_wait(running, progress))
    own = Run(report["out"])
    own.notes = list(dict.fromkeys([*running.notes, *own.notes]))
    if report["status"] != "complete":
        errors = "\n".join(report.get("errors", []))
        message = f"partial, what was measured is in {own.folder}:\n{errors}"
        error = TresseError(message, file=str(own.folder))
        error.run = own
        raise error
    return own


def _wait(running: _native.Running, progress: bool) -> str:
    """Waits for the end and returns the report."""
    try:
        with Bar("run", shown=progress) as bar:
            while (report := running.wait(_LOOK_S)) is None:
                share, known, hops, cases = running.standing()
                bar.show(share if known else None, hops, cases)
    except KeyboardInterrupt:
        where = running.folder
        running.stop()
        deadline = time.monotonic() + _PATIENCE_S
        while running.wait(_LOOK_S) is None and time.monotonic() < deadline:
            pass
        running.abandon()
        message = "interrupted" if where is None else f"partial: what was measured is in {where}"
        raise KeyboardInterrupt(message) from None
    return report


def open(folder: str | os.PathLike[str]) -> Run | Sweep:  # noqa: A001 - tresse.open
    """Reads a run back from its folder, even one in progress or one that was killed; or a sweep."""
    if _native.is_sweep(folder):
        from tresse.sweeps import Sweep

        return Sweep(folder)
    return Run(folder)


def compare(
    left: str | os.PathLike[str] | Run, right: str | os.PathLike[str] | Run, *, judge: bool = False
) -> dict[str, Any]:
    """Compares two runs case by case: the output of `tresse compare LEFT RIGHT --json`."""
    first, second = (own.folder if isinstance(own, Run) else Path(own) for own in (left, right))
    compared: dict[str, Any] = json.loads(_native.compare(first, second, judge))
    return compared


def optimum(
    experiment: Experiment,
    *,
    only: Only | None = None,
    set: Settings | None = None,  # noqa: A002 - as the command has it
    profile: Profile = "quick",
    seed: int = 1,
    progress: bool = True,
) -> dict[str, Any]:
    """The optimum of an experiment's flows without a simulation: the output of `tresse optimum --json`.

    `progress`: shows a bar.
    """
    cases = chosen(experiment, profile, only, set)
    with Bar("optimum", shown=progress) as bar:
        # Not before: the bar imports for a while.
        computing = _native.Optimum(cases, str(seed))
        while (report := computing.wait(_LOOK_S)) is None:
            done, of = computing.standing()
            bar.tell(done / of if of else None, f"  {done} of {of} cases", f"{done} of {of} cases")
    computed: dict[str, Any] = json.loads(report)
    return computed
