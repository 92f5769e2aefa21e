"""The experiment of an environment that was given none."""

from __future__ import annotations

from typing import Any

LINK: dict[str, Any] = {
    "title": "One flow over one bottleneck",
    "fabric": {
        "topology": "dumbbell",
        "pairs": 1,
        "rate": {"access": "10Gbps", "bottleneck": "1Gbps"},
        "delay": {"access": "25us", "bottleneck": "50us"},
        "queue": "100pkt",
        "mark": "20pkt",
        "host_queue": "unlimited",
        "host_mark": "unlimited",
    },
    "transport": {"profile": "linux"},
    "schemes": {"agent": {"controller": "dctcp"}},
    "workloads": {"one": {"pattern": "flows", "duration": "200ms", "flow": [{"from": "S1", "to": "D1"}]}},
}
"""A link of 1 Gbit/s whose empty path has an RTT of about 200 us, for 200 ms: 1000 rounds."""
