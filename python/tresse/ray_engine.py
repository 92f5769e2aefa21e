"""Sweeps on a Ray cluster: `tresse.sweep(plan, engine="ray")`, `tresse sweep PLAN.toml --engine ray`.

A point is kept as soon as its record arrives. The connection to the cluster is a separate process, `tresse.ray_driver`: when
the cluster is lost, it ends, and the next one gets only the points without a record.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tresse import _native
from tresse.errors import TresseError, missing

WORK = "tresse._native:run_point"
"""The function that a worker calls with a point's specification; it returns the record."""
RECONNECT_S = 600.0
"""How long to wait for a lost cluster."""
_RETRY_S = 1.0
_PATIENCE_S = 15.0
"""How long the connection may take to end its tasks after Ctrl-C."""


@dataclass(frozen=True)
class Cost:
    """The cost of a point: seconds of wall time in the worker, which worker (machine and process), and how many tries."""

    seconds: float
    worker: str
    attempts: int


@dataclass
class Tally:
    """The events of a sweep, counted."""

    computed: int = 0
    lost: int = 0
    """How often a worker died on a point."""
    connections: int = 0
    """How often it connected to a cluster."""
    given_up: int = 0
    """Points on which too many workers died."""


def versions() -> dict[str, Any]:
    """The versions of Tresse and of its model that the workers must have too, so that their records are the same."""
    tresse, model = _native.versions()
    return {"tresse": tresse, "model": model}


def compute(
    specs: Sequence[str],
    keep: Callable[[int, str, Cost], None],
    *,
    address: str | None = None,
    progress: bool = True,
    work: str = WORK,
) -> Tally:
    """Computes points on a Ray cluster. Passes each record to `keep` as it arrives, with its index in `specs`.

    `specs`: the points, the most expensive first. `address`: of the cluster ("HOST:PORT", "ray://HOST:PORT"); by default the
    one that this machine is part of or that RAY_ADDRESS names, or else a new one of this machine's cores.
    The points of a lost worker are computed again, and so are those that were running when the cluster was lost.
    Ctrl-C cancels.
    """
    if importlib.util.find_spec("ray") is None:
        raise missing("Ray", "ray")
    left = dict(enumerate(specs))
    tally = Tally()
    lost_at = time.monotonic()
    with _bar(len(specs), shown=progress) as bar:
        while left:
            places = list(left)
            connected = False
            before, begin = tally.computed, time.monotonic()
            for told in _connection(address, work, [left[place] for place in places]):
                _raise(told, address, first=tally.connections == 0)
                if "cores" in told:
                    tally.connections += not connected
                    connected = True
                    bar.set_postfix_str(f"{told['cores']} cores")
                elif "record" in told:
                    keep(places[told["index"]], told["record"], Cost(told["seconds"], told["worker"], told["attempts"]))
                    del left[places[told["index"]]]
                    tally.computed += 1
                    bar.update()
                elif "lost" in told:
                    tally.lost += 1
                elif "fatal" in told:
                    tally.lost += 1
                    tally.given_up += 1
                    del left[places[told["fatal"]]]
            now = time.monotonic()
            if tally.connections == 0:
                raise _no_cluster(address)
            if tally.computed > before or now - begin > RECONNECT_S:
                lost_at = now
            if left:
                _wait_for_cluster(now - lost_at, bar)
    if tally.given_up:
        count = f"{tally.given_up} point" + ("s" if tally.given_up > 1 else "")
        hint = "give the workers more memory, then start the sweep again: it continues with what is missing"
        raise TresseError(f"{count}: every worker that computed one died", code="machine", hint=hint)
    return tally


def _bar(total: int, *, shown: bool) -> Any:
    """Shows points and the time left, or nothing if standard error is not a terminal."""
    from tqdm.auto import tqdm

    form = "{desc} {n_fmt}/{total_fmt} points |{bar}| {remaining} left{postfix}"
    return tqdm(total=total, desc="sweep", leave=False, disable=None if shown else True, bar_format=form)


def _wait_for_cluster(seconds: float, bar: Any) -> None:
    """Waits before the next connection; `seconds`: how long no cluster has computed anything."""
    if seconds > RECONNECT_S:
        raise TresseError(
            "lost the Ray cluster",
            code="machine",
            hint="what was computed is kept: start the sweep again when the cluster is back",
        )
    bar.set_postfix_str("lost the cluster: waiting for it")
    time.sleep(_RETRY_S)


def _raise(told: dict[str, Any], address: str | None, *, first: bool) -> None:
    """The error that a line of the connection reports. A missing cluster is no error if it was there before."""
    if "missing" in told:
        raise missing("Ray", "ray")
    if "error" in told:
        raise TresseError(f"a worker: {told['error']}", code="machine")
    if "differs" in told:
        raise _differs(told["differs"])
    if "unreachable" in told and first:
        raise _no_cluster(address, told["unreachable"])


def _no_cluster(address: str | None, why: str | None = None) -> TresseError:
    text = "there is no Ray cluster" + (f" at {address}" if address else "") + (f": {why}" if why else "")
    return TresseError(text, code="machine", hint="`ray start --head` starts one, `ray status` shows it")


def _differs(worker: dict[str, Any]) -> TresseError:
    here = versions()
    own = f"this machine has Tresse {here['tresse']}, model version {here['model']}"
    hint = f"pip install tresse=={here['tresse']} on every machine of the cluster"
    if worker["tresse"] is None:
        return TresseError(
            f"worker {worker['worker']} has no Tresse: {worker['why']}; {own}", code="machine", hint=hint
        )
    there = f"worker {worker['worker']} has Tresse {worker['tresse']}, model version {worker['model']}"
    return TresseError(f"{there}; {own}: their results do not belong to one data set", code="machine", hint=hint)


def _connection(address: str | None, work: str, specs: list[str]) -> Iterator[dict[str, Any]]:
    """The events of one connection, until it ends or dies. The connection ends with this iterator."""
    command = [sys.executable, "-m", "tresse.ray_driver"]
    head = {"address": address, "work": work, "versions": versions(), "specs": specs}
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as said:
        # A separate session: Ctrl-C goes to this process, which then ends the other one.
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=said, text=True, start_new_session=True
        )
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            with contextlib.suppress(BrokenPipeError):
                process.stdin.write(json.dumps(head) + "\n")
                process.stdin.flush()
            for line in process.stdout:
                # The last line of a killed process may be incomplete.
                if line.endswith("\n"):
                    yield json.loads(line)
        finally:
            _end(process)


def _end(process: subprocess.Popen[str]) -> None:
    for pipe in (process.stdin, process.stdout):
        with contextlib.suppress(BrokenPipeError):
            pipe.close() if pipe is not None else None
    try:
        process.wait(_PATIENCE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
