"""The part of the Ray engine that is connected to the cluster, in a separate process.

Ray ends a process whose cluster is gone, and cannot reliably connect the same process again. So the sweep itself is
in `tresse.ray_engine`, which starts this one and, if it dies, another.

It reads its work as one JSON line and writes a JSON line for each event. It ends when its standard input ends.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator
from typing import Any, TextIO

from tresse.errors import missing

_TASK_S = 1.0
"""How long a task should take: scheduling costs milliseconds, and a lost worker's unsent results are recomputed."""
_BATCHES_A_CORE = 2
"""How many tasks the cluster has at a time per core, so that the next one is there when one ends."""
_LOOK_S = 0.2
_SURVEY_S = 5.0
_IMPATIENT_S = 0.5
"""How often the cluster is asked for its number of cores, and how often while it has none."""
_SILENT_S = 60.0
"""How long a call of Ray may take before the cluster counts as lost."""
_LOST = 4
"""The exit code in that case."""
LOSSES = 4
"""How many workers may die on a point."""


def batch(work: str, versions: dict[str, Any], specs: list[tuple[int, str]]) -> Iterator[dict[str, Any]]:
    """The task: computes points one after the other and sends each record as it ends. Runs in a worker."""
    import importlib
    import platform

    try:
        from tresse.ray_engine import versions as own
    except ImportError as error:
        yield {"differs": {"worker": platform.node(), "tresse": None, "why": str(error)}}
        return
    if own() != versions:
        yield {"differs": {"worker": platform.node(), **own()}}
        return
    module, function = work.split(":")
    compute = getattr(importlib.import_module(module), function)
    for index, spec in specs:
        begin = time.perf_counter()
        record = compute(spec)
        seconds = time.perf_counter() - begin
        yield {"index": index, "record": record, "seconds": seconds, "worker": f"{platform.node()}:{os.getpid()}"}


class Batches:
    """The points that are not yet computed, in tasks of about a second by the costs measured so far."""

    def __init__(self, specs: list[str]) -> None:
        self.todo = deque(enumerate(specs))
        self._size = 1
        self._cost: float | None = None

    def measured(self, seconds: float) -> None:
        """Records how long a point took. The latest points count most, because the expensive ones come first."""
        self._cost = seconds if self._cost is None else 0.8 * self._cost + 0.2 * seconds

    def next(self, cores: int) -> list[tuple[int, str]]:
        """The next task. The last ones are small, so that all cores end together."""
        if self._cost is not None:
            fits = max(1, int(_TASK_S / max(self._cost, 1e-6)))
            self._size = min(fits, 2 * self._size)
        share = -(-len(self.todo) // (_BATCHES_A_CORE * max(cores, 1)))
        return [self.todo.popleft() for _ in range(min(self._size, share, len(self.todo)))]


class Driver:
    """Submits tasks and passes on their results."""

    def __init__(self, ray: Any, work: dict[str, Any], out: TextIO) -> None:
        self._ray = ray
        self._out = out
        self._work: str = work["work"]
        self._versions: dict[str, Any] = work["versions"]
        self._specs: list[str] = work["specs"]
        self._batches = Batches(self._specs)
        self._lost: dict[int, int] = {}
        # Retried here: Ray would recompute all points of a task, including those whose record has arrived.
        self._task = ray.remote(num_cpus=1, max_retries=0, num_returns="streaming")(batch)
        self._under_way: dict[Any, dict[int, str]] = {}
        self._cores = 0
        self._surveyed = -_SURVEY_S
        self.stop = threading.Event()
        self.seen = time.monotonic()
        """The last time that it was not waiting for Ray."""

    def tell(self, **what: Any) -> None:
        """Writes a line."""
        self._out.write(json.dumps(what) + "\n")
        self._out.flush()

    def run(self) -> None:
        """Runs until everything is computed or `stop` is set."""
        while (self._batches.todo or self._under_way) and not self.stop.is_set():
            self.seen = time.monotonic()
            self._survey()
            self._submit()
            ready, _ = self._ray.wait(list(self._under_way), num_returns=1, timeout=_LOOK_S)
            for task in ready:
                self._receive(task)

    def _survey(self) -> None:
        if time.monotonic() - self._surveyed < (_SURVEY_S if self._cores else _IMPATIENT_S):
            return
        self._surveyed = time.monotonic()
        # A restarted head does not know this process, which would wait forever.
        here = self._ray.get_runtime_context().get_node_id()
        if not any(node["Alive"] and node["NodeID"] == here for node in self._ray.nodes()):
            os._exit(_LOST)
        self._cores = int(self._ray.cluster_resources().get("CPU", 0))
        self.tell(cores=self._cores)

    def _submit(self) -> None:
        while self._batches.todo and len(self._under_way) < _BATCHES_A_CORE * max(self._cores, 1):
            specs = self._batches.next(self._cores)
            self._under_way[self._task.remote(self._work, self._versions, specs)] = dict(specs)

    def _receive(self, task: Any) -> None:
        left = self._under_way[task]
        try:
            told = self._ray.get(next(task))
        except StopIteration:
            del self._under_way[task]
            self._again(left)
            return
        except self._ray.exceptions.RayTaskError as error:
            self.tell(error=str(error.cause))
            self.stop.set()
            return
        except self._ray.exceptions.RayError:
            # The worker died, or its machine with the record: the rest of the task is known when the task ends.
            return
        if "differs" in told:
            self.tell(differs=told["differs"])
            self.stop.set()
            return
        del left[told["index"]]
        self._batches.measured(told["seconds"])
        self.tell(**told, attempts=1 + self._lost.get(told["index"], 0))

    def _again(self, left: dict[int, str]) -> None:
        """Puts back the points that a dead worker had not sent. Only the first of them was being computed."""
        if not left:
            return
        first = next(iter(left))
        self._lost[first] = self._lost.get(first, 0) + 1
        if self._lost[first] >= LOSSES:
            del left[first]
            self.tell(fatal=first)
        else:
            self.tell(lost=first)
        self._batches.todo.extendleft(reversed(left.items()))


def main() -> int:
    """Reads the work, connects, computes."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    # Ray and the workers would print to standard output, which carries our events.
    os.dup2(2, 1)
    try:
        import ray
    except ImportError:
        out.write(json.dumps({"missing": str(missing("Ray", "ray"))}) + "\n")
        out.close()
        return 3
    work = json.loads(sys.stdin.readline())
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        ray.init(address=work["address"], log_to_driver=False, logging_level=logging.ERROR)
    except Exception as error:  # ray raises many kinds
        out.write(json.dumps({"unreachable": f"{error}".strip().splitlines()[0]}) + "\n")
        out.close()
        return 3
    driver = Driver(ray, work, out)

    def wait_for_the_end() -> None:
        sys.stdin.read()
        driver.stop.set()

    def watch() -> None:
        while time.monotonic() - driver.seen < _SILENT_S:
            time.sleep(1)
        os._exit(_LOST)

    threading.Thread(target=wait_for_the_end, daemon=True).start()
    threading.Thread(target=watch, daemon=True).start()
    driver.run()
    driver.tell(end=True)
    # Ends the running tasks too.
    ray.shutdown()
    return 0


if __name__ == "__main__":
    sys.exit(main())
