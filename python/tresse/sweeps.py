"""Sweeps: one experiment at many settings, each computed once. `tresse.sweep(plan)`, the command `tresse sweep`."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from tresse import _native, tables
from tresse._command import shown
from tresse.designs import draw
from tresse.errors import TresseError
from tresse.experiments import toml
from tresse.keys import plain
from tresse.progress import Lines
from tresse.runs import Cases, case

if TYPE_CHECKING:
    from tresse.plot import Plots

PlanLike: TypeAlias = str | os.PathLike[str] | Mapping[str, Any]
"""The file of a plan, or a dict of its tables."""

_LOOK_S = 0.2


class Sweep:
    """The results of a sweep. `tresse.sweep` makes one; `tresse.open` reads one back."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        self.points, self.failed, self._text, self._json = _native.sweep_head(self.folder)
        """The number of points with a record, and how many of them failed."""

    @property
    def results(self) -> tables.Table:
        """A row for each case of each point: the settings, the axes, `status`, `error`, metrics and their `…_ci95`."""
        return self._table("results")

    @property
    def costs(self) -> tables.Table:
        """A row for each point: the seconds that it took, and its worker."""
        return self._table("costs")

    def _table(self, name: str) -> tables.Table:
        table = tables.read(self.folder, name)
        if table is None:
            raise TresseError(f"{self.folder}: {name}.parquet has no rows")
        return table

    def __repr__(self) -> str:
        failed = f", {self.failed} failed" if self.failed else ""
        return f"<sweep {self.folder}: {self.points} points{failed}>"

    @cached_property
    def cases(self) -> Cases:
        """The cases of the points that could be run. Their axes are the sweep's keys, and those of the experiment."""
        return Cases(case(own) for own in self.report_json["cases"])

    @cached_property
    def report_json(self) -> dict[str, Any]:
        """Its `cases` in the form of `Run.report_json`."""
        nothing: dict[str, Any] = {"by": {}, "published": {}, "optimum": {}, "no_optimum": None, "seeds": []}
        named = [{self.keys[key]: own for key, own in row["setting"].items()} for row in self._rows]
        cases = [{**row, **nothing, "case": own | row["case"]} for own, row in zip(named, self._rows, strict=True)]
        return {"cases": cases}

    @cached_property
    def keys(self) -> dict[str, str]:
        """The keys of its designs, and the axes that they are in `cases`: the ends of their names."""
        keys = dict.fromkeys(key for row in self._rows for key in row["setting"])
        last = [key.rsplit(".", 1)[-1] for key in keys]
        return {key: name if last.count(name) == 1 else key for key, name in zip(keys, last, strict=True)}

    @cached_property
    def _rows(self) -> list[dict[str, Any]]:
        """A row for each case of each point that could be run."""
        return [row for row in json.loads(_native.sweep_rows(self.folder)) if row["case"]]

    @property
    def declared(self) -> dict[str, Any]:
        """As `Run.declared`: a sweep has no figures of its own."""
        return {"figures": [], "published": []}

    @property
    def plot(self) -> Plots:
        """Figures of its metrics, drawn with matplotlib: `figure(metric)`, `axis(key, metric)` and `bars(metric)`."""
        from tresse.plot import Plots

        return Plots(self)

    def table(self, name: str) -> tables.Table:
        """A table of a run, which a sweep does not have."""
        hint = "run the experiment with `set` for such a figure: a list of values makes a case of each"
        raise TresseError(f"{self.folder}: a sweep keeps metrics, and no {name}", file=str(self.folder), hint=hint)

    def __str__(self) -> str:
        return shown(self.folder)

    def _repr_html_(self) -> str:
        return self.results._repr_html_()


def sweep(
    plan: PlanLike,
    *,
    out: str | os.PathLike[str] | None = None,
    engine: Literal["local", "ray"] = "local",
    address: str | None = None,
    parallel: int | None = None,
    shard: str | None = None,
    progress: bool = True,
) -> Sweep:
    """Runs an experiment at every point of a plan, and returns the results.

    `plan`: a TOML file, or a dict of the same tables (docs/sweeps.md). `out`: the folder; with the folder of an earlier
    sweep, only missing points are computed (default: `sweeps/NAME-N`). `engine`: this machine's cores, or a Ray
    cluster; its `address` is by default the one that this machine is part of. `parallel`: how many points at a time
    on this machine (default: one per core). `shard`: "3/10" computes the third of ten parts.
    After Ctrl-C, everything computed so far is kept. A point that fails is a row with its error.
    """
    if engine not in ("local", "ray"):
        raise TresseError(f'engine: "local" or "ray", not {engine!r}')
    name, text = _text(plan)
    native = _native.Sweep(name, text, draw, None if out is None else Path(out), shard)
    for note in native.notes:
        print(f"note: {note}", file=sys.stderr)
    try:
        if engine == "ray":
            _on_ray(native, address, progress=progress)
        else:
            _here(native, parallel or os.cpu_count() or 1, progress=progress)
    finally:
        native.finish()
    return Sweep(native.folder)


def merge(folder: str | os.PathLike[str]) -> Sweep:
    """Merges the records of the shards in `folder` and writes the results."""
    _native.merge(Path(folder))
    return Sweep(folder)


def _text(plan: PlanLike) -> tuple[str, str]:
    if isinstance(plan, Mapping):
        return "", toml(plain(plan))
    path = Path(plan)
    try:
        return str(path), path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise TresseError(f"{path} cannot be read: {why}", code="io", file=str(path)) from None


def bar(total: int, done: int, *, shown: bool) -> Any:
    """Shows points and the time left, or nothing if standard error is not a terminal."""
    from tqdm.auto import tqdm

    form = "{desc} {n_fmt}/{total_fmt} points |{bar}|{postfix}"
    return tqdm(total=total, initial=done, desc="sweep", leave=False, disable=None if shown else True, bar_format=form)


def told(left_s: float | None, failed: int) -> str:
    """The text after the bar."""
    failures = f", {failed} failed" if failed else ""
    return ("" if left_s is None else f"{left_s:.0f} s left") + failures


def _here(native: _native.Sweep, parallel: int, *, progress: bool) -> None:
    points, done, *_ = native.standing()
    with bar(points, done, shown=progress) as own:
        lines = Lines("sweep") if progress and own.disable else None
        try:
            # Not before: the bar imports for a while, and what starts must be stopped.
            native.start(parallel)
            while not native.wait(_LOOK_S):
                _, own.n, failed, _, left_s = native.standing()
                own.set_postfix_str(told(None if left_s is None else left_s / parallel, failed))
                if lines is not None:
                    lines.show((own.n - done) / max(points - done, 1), f"{own.n} of {points} points")
        except KeyboardInterrupt:
            native.stop()
            while not native.wait(_LOOK_S):
                pass
            raise


def _on_ray(native: _native.Sweep, address: str | None, *, progress: bool) -> None:
    from tresse.ray_engine import Cost, compute

    todo = native.todo()

    def keep(index: int, record: str, cost: Cost) -> None:
        native.keep(todo[index][0], record, cost.seconds, cost.worker, cost.attempts)

    if todo:
        compute([spec for _, spec in todo], keep, address=address, progress=progress)


def main() -> int:
    """Runs `tresse sweep --engine ray` with its arguments as JSON; returns the exit code."""
    asked = json.loads(sys.argv[1])
    as_json = asked.pop("json")
    try:
        own = sweep(**asked, engine="ray")
    except TresseError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("error: interrupted", file=sys.stderr)
        return 130
    print(own._json if as_json else own._text, end="")
    if own.failed:
        print(f"error: {own.failed} of {own.points} points failed", file=sys.stderr)
    return 1 if own.failed else 0


if __name__ == "__main__":
    sys.exit(main())
