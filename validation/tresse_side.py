"""Tresse's side: one experiment file under one scheme, all of its workloads, through `tresse run`."""

from __future__ import annotations

import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import polars as pl

from experiment import Experiment, nanoseconds
from measure import Measured, Port, measured


def tresse_side(
    command: Path, file: Path, scheme: str, warm_up: str, settings: tuple[str, ...], controller: str | None
) -> dict[str, Measured]:
    """Measures from `warm_up` to the end of each workload.

    What was counted in this time is what a whole run counts, less what a run counts that ends where it begins: the
    same run as far as it goes. `controller` is a C file beside the experiment, in place of the scheme's controller.
    """
    experiment = Experiment(file, scheme, settings)
    sets = [*settings, *([f"schemes.{scheme}.controller={Path(controller).stem}"] if controller else [])]
    words = [command, "run", file, "--only", f"scheme={scheme}", "--json"]
    words += ["--controller", file.with_name(controller)] if controller else []
    with tempfile.TemporaryDirectory() as folder:
        whole = Run([*words, "--out", Path(folder, "whole")], sets)
        begun = [f"workloads.{name}.duration={warm_up}" for name in experiment.workloads]
        start = Run([*words, "--out", Path(folder, "start")], [*sets, *begun])
        return {name: window(experiment, name, whole, start, warm_up) for name in experiment.workloads}


class Run:
    """A finished `tresse run`; the last of its words is the folder of its results."""

    def __init__(self, words: list[Any], settings: list[str]) -> None:
        sets = [word for setting in settings for word in ("--set", setting)]
        done = subprocess.run([*words, *sets], capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(done.stderr)
        cases = json.loads(done.stdout)["cases"]
        self.metrics: dict[str, dict[str, Any]] = {case["case"]["pattern"]: case["metrics"] for case in cases}
        self._out = Path(words[-1])

    def table(self, name: str, workload: str) -> pl.DataFrame:
        """The rows of one workload in a table of the results."""
        return pl.read_parquet(self._out / f"{name}.parquet").filter(pl.col("pattern") == workload)


def window(experiment: Experiment, workload: str, whole: Run, start: Run, warm_up: str) -> Measured:
    """One workload, from the end of the warm-up on."""
    begin = nanoseconds(warm_up)
    length = nanoseconds(experiment.workloads[workload]["duration"]) - begin
    in_window = pl.col("start_ps") >= 1000 * begin

    samples = whole.table("samples", workload).filter(in_window)
    # A flow with no arrivals leaves no rows.
    flows = range(len(experiment.flows(workload)))
    received = [samples.filter(pl.col("flow") == flow)["arrived_bytes"].sum() for flow in flows]

    queues = whole.table("queues", workload).filter(in_window)
    counted = [run.table("links", workload).sort("port") for run in (whole, start)]
    ports = []
    for after, before in zip(*(table.iter_rows(named=True) for table in counted), strict=True):
        waiting = queues.filter(pl.col("port") == after["port"])["waiting_pkts"]
        looks = [0] * (max(waiting, default=0) + 1)
        for packets in waiting:
            looks[packets] += 1
        # A look at a port that neither sent nor held anything leaves no row.
        looks[0] += length // nanoseconds(experiment.every) - len(waiting)
        drops, carried = (after[key] - before[key] for key in ("drops", "carried_bytes"))
        ports.append(Port(after["layer"], after["rate_bps"], carried, drops, looks))

    counts = [run.metrics[workload] for run in (whole, start)]
    marks, timeouts = (counts[0][key] - counts[1][key] for key in ("marks_pkts", "timeouts"))
    return measured(received, ports, marks, timeouts, length / 1e9)
