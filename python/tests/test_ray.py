"""Sweeps on real Ray clusters of this machine: a head without cores and workers with one core each."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import ray_points
from conftest import SMALL, long

import tresse
from tresse import ray_engine
from tresse.experiments import toml

pytest.importorskip("ray", reason="Ray is not installed: pip install ray")

HOST = "127.0.0.1"
ENVIRONMENT = {
    **os.environ,
    "PYTHONPATH": os.pathsep.join([str(Path(tresse.__file__).parents[1]), str(Path(__file__).parent)]),
    "RAY_gcs_rpc_server_reconnect_timeout_s": "3",
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_worker_niceness": "0",
}


class Cluster:
    """`ray start --block` processes, each the leader of a process group of its own."""

    def __init__(self, folder: str) -> None:
        with socket.socket() as free:
            free.bind((HOST, 0))
            self.port = free.getsockname()[1]
        self.address = f"{HOST}:{self.port}"
        self.folder = folder
        self.nodes: list[subprocess.Popen[bytes]] = []

    def start(self, workers: int) -> None:
        head = ["--head", f"--port={self.port}", f"--temp-dir={self.folder}", "--include-dashboard=false"]
        self._node([*head, "--num-cpus=0"])
        for _ in range(workers):
            self._node([f"--address={self.address}", "--num-cpus=1"])

    def _node(self, arguments: list[str]) -> None:
        """One after the other, and again if it does not come up: Ray's nodes of one machine disturb each other's start."""
        ray = Path(sys.executable).parent / "ray"
        common = [f"--node-ip-address={HOST}", "--object-store-memory=80000000", "--disable-usage-stats", "--block"]
        for _ in range(3):
            with tempfile.TemporaryFile("w+") as said:
                node = subprocess.Popen(
                    [ray, "start", *arguments, *common],
                    env=ENVIRONMENT,
                    stdout=said,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
                while node.poll() is None:
                    time.sleep(0.1)
                    # Without moving the place that the node writes at.
                    text = os.pread(said.fileno(), 1 << 16, 0).decode()
                    if "Ray runtime started" in text:
                        self.nodes.append(node)
                        return
            self.kill(node)
        raise AssertionError(f"`ray start` fails:\n{text}")

    def kill(self, node: subprocess.Popen[bytes]) -> None:
        """SIGKILL to all of a node's processes: nothing of it says goodbye."""
        for pid in _session(node.pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        node.wait()

    def stop(self) -> None:
        for node in self.nodes:
            self.kill(node)
        self.nodes.clear()


def _session(leader: int) -> list[int]:
    """The processes of this session and their descendants: a raylet's workers lead sessions of their own."""
    parents: dict[int, int] = {}
    found = {leader}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        with contextlib.suppress(OSError):
            _, _, rest = (entry / "stat").read_text().rpartition(")")
            _, parent, _, session, *_ = rest.split()
            parents[int(entry.name)] = int(parent)
            if int(session) == leader:
                found.add(int(entry.name))
    grown = True
    while grown:
        more = {pid for pid, parent in parents.items() if parent in found} - found
        found |= more
        grown = bool(more)
    return sorted(found, reverse=True)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    # Ray's sockets have names of at most 107 characters.
    with tempfile.TemporaryDirectory(prefix="tr", dir="/tmp", ignore_cleanup_errors=True) as folder:
        own = Cluster(folder)
        try:
            own.start(workers=2)
            yield own
        finally:
            own.stop()


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PYTHONPATH", "RAY_gcs_rpc_server_reconnect_timeout_s"):
        monkeypatch.setenv(name, ENVIRONMENT[name])


def specs(count: int, log: Path, at_least_s: float) -> list[str]:
    same = {"experiment": SMALL, "log": str(log), "at_least_s": at_least_s}
    return [json.dumps({**same, "seed": seed}) for seed in range(1, count + 1)]


def begun(log: Path) -> Counter[str]:
    """How often each point was begun, by its seed."""
    return Counter(name.name.split("-")[0] for name in log.iterdir())


def disturbed(
    cluster: Cluster, points: list[str], at: int, disturb: Callable[[], None]
) -> tuple[list[str], ray_engine.Tally]:
    """The records of a sweep that is disturbed after `at` of them, sorted."""
    records: list[str] = []
    threads: list[threading.Thread] = []

    def keep(_: int, record: str, cost: ray_engine.Cost) -> None:
        assert cost.seconds > 0
        records.append(record)
        if len(records) == at:
            threads.append(threading.Thread(target=disturb))
            threads[0].start()

    tally = ray_engine.compute(points, keep, address=cluster.address, progress=False, work="ray_points:compute")
    for thread in threads:
        thread.join()
    return sorted(records), tally


def undisturbed(points: list[str]) -> list[str]:
    return sorted(ray_points.compute(point) for point in points)


@long
def test_errors(cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(tresse.TresseError, match=r"there is no Ray cluster at 127\.0\.0\.1:1"):
        ray_engine.compute(specs(1, tmp_path, 0), lambda *_: None, address="127.0.0.1:1", progress=False)
    here = ray_engine.versions()
    monkeypatch.setattr(ray_engine, "versions", lambda: {"tresse": "9.9.9", "model": 77})
    with pytest.raises(tresse.TresseError) as caught:
        ray_engine.compute(specs(1, tmp_path, 0), lambda *_: None, address=cluster.address, progress=False)
    for word in ("9.9.9", "77", here["tresse"], f"model version {here['model']}"):
        assert word in str(caught.value)
    monkeypatch.undo()
    for name in ("PYTHONPATH", "RAY_gcs_rpc_server_reconnect_timeout_s"):
        monkeypatch.setenv(name, ENVIRONMENT[name])
    records: list[str] = []
    with pytest.raises(tresse.TresseError, match="1 point: every worker that computed one died"):
        ray_engine.compute(
            specs(4, tmp_path, 0),
            lambda _, record, __: records.append(record),
            address=cluster.address,
            progress=False,
            work="ray_points:die",
        )
    assert sorted(json.loads(record)["seed"] for record in records) == [1, 2, 4]


@long
def test_a_sweep_on_the_cluster_has_the_same_bytes(cluster: Cluster, tmp_path: Path) -> None:
    plan = {
        "experiment": SMALL,
        "only": {"scheme": "xmp"},
        "designs": [{"keys": {"fabric.mark": ["5pkt", "20pkt"], "schemes.xmp.parameters.beta": [2, 4, 6]}}],
    }
    here = tresse.sweep(plan, out=tmp_path / "here", progress=False)
    there = tresse.sweep(plan, out=tmp_path / "there", engine="ray", address=cluster.address, progress=False)
    results = [(own.folder / "results.parquet").read_bytes() for own in (here, there)]
    assert results[0] == results[1]
    assert there.costs.to_pyarrow()["worker"][0].as_py() != here.costs.to_pyarrow()["worker"][0].as_py()
    (tmp_path / "plan.toml").write_text(toml(plan))
    command = [sys.executable, "-m", "tresse", "sweep", "plan.toml", "--engine", "ray", "--address", cluster.address]
    done = subprocess.run(
        [*command, "--out", "c", "--json"], cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["points"] == 6
    assert (tmp_path / "c/results.parquet").read_bytes() == results[0]


@long
def test_a_killed_worker_loses_what_it_computed_only(cluster: Cluster, tmp_path: Path) -> None:
    points = specs(16, tmp_path, 0.4)
    records, tally = disturbed(cluster, points, 4, lambda: cluster.kill(cluster.nodes[-1]))
    again = sum(begun(tmp_path).values()) - len(points)
    assert tally.computed == len(points)
    # One point was being computed there; or none, or one whose record was on its way, at the moment of death.
    assert again <= 2
    other = tmp_path / "other"
    other.mkdir()
    assert records == undisturbed(specs(16, other, 0))


@long
def test_a_lost_head_that_comes_back(cluster: Cluster, tmp_path: Path) -> None:
    points = specs(16, tmp_path, 0.4)
    kept_before: list[str] = []

    def lose() -> None:
        kept_before.extend(begun(tmp_path))
        cluster.stop()
        time.sleep(1)
        cluster.start(workers=2)

    records, tally = disturbed(cluster, points, 5, lose)
    again = sum(begun(tmp_path).values()) - len(points)
    assert tally.connections == 2, "the cluster was gone and came back"
    assert tally.computed == len(points)
    # Two cores: two points were being computed, and the records of two may have been on their way.
    assert again <= 4
    assert len(kept_before) >= 5
    other = tmp_path / "other"
    other.mkdir()
    assert records == undisturbed(specs(16, other, 0))
