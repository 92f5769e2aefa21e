"""Runs all comparisons in both simulators, and writes results.json and validation/README.md.

python compare.py TRESSE, the command
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

import page
from comparisons import COMPARISONS, Comparison, Side
from experiment import Experiment
from measure import Measured
from tresse_side import tresse_side

HERE = Path(__file__).parent
PROCESSES = 2

# The description of one run: the side, its arguments, and in ns-3 the workload.
Key = tuple[Side, tuple[Any, ...], str | None]


def ns3_job(*arguments: Any) -> Measured:
    """One workload in ns-3. Its bindings are loaded once in each process."""
    with silence():
        from ns3_side import ns3_side

    return ns3_side(*arguments)


@contextmanager
def silence() -> Iterator[None]:
    """Hides what libraries print to stderr: cppyy complains of ns-3's headers, without consequence."""
    kept = os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def keys(c: Comparison) -> list[Key]:
    """The runs of a comparison: all of its workloads at once in Tresse, each for itself in ns-3."""
    workloads = Experiment(HERE / c.file, c.scheme).workloads
    return [("tresse", c.arguments("tresse"), None), *(("ns3", c.arguments("ns3"), name) for name in workloads)]


def submit(pool: ProcessPoolExecutor, command: Path, key: Key) -> Future[Any]:
    """Starts one run."""
    side, (file, *arguments), workload = key
    if side == "tresse":
        return pool.submit(tresse_side, command, HERE / file, *arguments)
    return pool.submit(ns3_job, HERE / file, *arguments, workload)


def results(command: Path) -> dict[str, Any]:
    """Runs everything that the comparisons need, each run once."""
    with ProcessPoolExecutor(PROCESSES) as pool:
        wanted = dict.fromkeys(key for c in COMPARISONS for key in keys(c))
        runs = {key: submit(pool, command, key) for key in wanted}
        for done, _ in enumerate(as_completed(runs.values()), 1):
            print(f"\r{done} of {len(runs)} runs", end="", file=sys.stderr, flush=True)
        print(file=sys.stderr)
    comparisons = {}
    for c in COMPARISONS:
        ours, *theirs = keys(c)
        comparisons[c.name] = {
            "tresse": {workload: asdict(m) for workload, m in runs[ours].result().items()},
            "ns3": {key[2]: asdict(runs[key].result()) for key in theirs},
        }
    return {"versions": versions(command), "comparisons": comparisons}


def versions(command: Path) -> dict[str, str]:
    """What was compared."""
    tresse = subprocess.run([command, "--version"], stdout=subprocess.PIPE, check=True, text=True).stdout
    return {"tresse": tresse.split()[1], "ns3": version("ns3"), "python": platform.python_version()}


def main() -> None:
    measured = results(Path(sys.argv[1]).resolve())
    (HERE / "results.json").write_text(json.dumps(measured, indent=1) + "\n")
    text = page.render(measured)
    (HERE / "README.md").write_text(text)
    print(page.tables(measured))


if __name__ == "__main__":
    main()
