"""What the workers of test_ray.py compute: a run of a small experiment."""

from __future__ import annotations

import json
import os
import tempfile
import time
from pathlib import Path
from typing import Any

import tresse


def compute(spec: str) -> str:
    """Runs the point; notes in the folder `log` that it was begun."""
    point: dict[str, Any] = json.loads(spec)
    log = point.get("log")
    if log is not None:
        with Path(log, f"{point['seed']}-{time.time_ns()}-{os.getpid()}").open("x"):
            pass
        time.sleep(point["at_least_s"])
    with tempfile.TemporaryDirectory() as folder:
        run = tresse.run(point["experiment"], seed=point["seed"], threads=1, parallel=1, out=folder, progress=False)
        return json.dumps({"seed": point["seed"], "digest": run.digest, "metrics": [c.metrics for c in run.cases]})


def die(spec: str) -> str:
    """A point that no worker survives."""
    if json.loads(spec)["seed"] == 3:
        os.abort()
    return compute(spec)
