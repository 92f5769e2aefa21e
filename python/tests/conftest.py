"""What the tests share: a small experiment, and one run of it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

import tresse

# The command that the tests start is this package's too, whatever their folder.
os.environ["PYTHONPATH"] = str(Path(tresse.__file__).resolve().parents[1])

long = pytest.mark.skipif(not os.environ.get("TRESSE_TEST_ALL"), reason="runs in `make test-all`")
"""What takes tens of seconds and guards what few changes touch."""

SMALL: dict[str, Any] = {
    "title": "A small fat tree",
    "fabric": {
        "topology": "fat-tree",
        "k": 4,
        "rate": "1Gbps",
        "delay": "20us",
        "queue": "100pkt",
        "mark": "10pkt",
        "host_queue": "100pkt",
    },
    "transport": {"profile": "linux"},
    "schemes": {"dctcp": {"controller": "dctcp"}, "xmp": {"controller": "xmp", "subflows": [2]}},
    "workloads": {"permutation": {"pattern": "permutation", "size": "500kB", "rounds": 1}},
}
"""An experiment that takes tenths of a second."""


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("runs")


@pytest.fixture(scope="session")
def shift(folder: Path) -> tresse.Run:
    """XMP's Fig. 4 with samples: a second of work."""
    return tresse.run(
        "xmp/fig4",
        only={"scheme": ["beta-4", "beta-6"]},
        set={"measure.samples": "500ms"},
        replications=1,
        out=folder / "shift",
        progress=False,
    )
