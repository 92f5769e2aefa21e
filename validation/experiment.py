"""The experiment files of this folder, as ns-3 and the comparison read them.

Only what these files have is understood: the dumbbell, the fat tree, and flows one by one.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# Nanoseconds of a unit of time.
NANOSECONDS = {"s": 1e9, "ms": 1e6, "us": 1e3, "ns": 1.0}


def number(text: str, unit: str) -> int:
    """The whole number of a value such as `"100pkt"`."""
    if not text.endswith(unit):
        raise ValueError(f"`{text}` is not in {unit}")
    return int(text.removesuffix(unit))


def nanoseconds(text: str) -> int:
    """A time such as `"62.5us"`."""
    for unit, length in NANOSECONDS.items():
        value = text.removesuffix(unit)
        if value != text and value[-1].isdigit():
            return round(float(value) * length)
    raise ValueError(f"`{text}` is not a time")


@dataclass(frozen=True)
class Link:
    """A link between two nodes; every end has a port."""

    ends: tuple[str, str]
    layer: str
    rate: str
    delay: str


@dataclass(frozen=True)
class Flow:
    """A flow that sends from `start` on, along the nodes of `path` and back."""

    path: list[str]
    start: str


class Experiment:
    """One experiment file under one scheme."""

    def __init__(self, file: Path, scheme: str, settings: tuple[str, ...] = ()) -> None:
        """`settings` are those of `tresse run --set`, such as `transport.ack_every=1pkt`."""
        tables = tomllib.loads(file.read_text())
        for setting in settings:
            put(tables, setting)
        self.fabric: dict[str, Any] = tables["fabric"]
        chosen = tables["schemes"][scheme]
        self.transport: dict[str, Any] = tables["transport"] | chosen.get("transport", {})
        self.controller: str = chosen["controller"]
        # A scheme that reports marks to the sender has some.
        self.marks = "echo" in chosen
        self.workloads: dict[str, Any] = tables["workloads"]
        self.every: str = tables["measure"]["queues"]
        self.links = self._dumbbell() if self.fabric["topology"] == "dumbbell" else self._fat_tree()
        # Links come host by host.
        self.nodes = list(dict.fromkeys(end for link in self.links for end in link.ends))

    def queue(self) -> int:
        """The longest queue of a switch's port, in packets."""
        return number(self.fabric["queue"], "pkt")

    def mark(self) -> int:
        """K, in packets."""
        return number(self.fabric["mark"], "pkt")

    def flows(self, workload: str) -> list[Flow]:
        """The flows of a workload."""
        return [Flow(self._path(flow), flow["start"]) for flow in self.workloads[workload]["flow"]]

    def is_host(self, node: str) -> bool:
        """Whether a node is a host: those of the dumbbell are S1, D1 and so on."""
        return node.startswith(("host ", "S", "D"))

    def _link(self, layer: str, *ends: str) -> Link:
        first, second = ends
        return Link((first, second), layer, self.fabric["rate"][layer], self.fabric["delay"][layer])

    def _dumbbell(self) -> list[Link]:
        pairs = range(1, self.fabric["pairs"] + 1)
        links = [self._link("access", f"S{i}", "left") for i in pairs]
        links += [self._link("access", f"D{i}", "right") for i in pairs]
        return [*links, self._link("bottleneck", "left", "right")]

    def _fat_tree(self) -> list[Link]:
        half = self.fabric["k"] // 2
        pods = range(self.fabric["k"])
        edges = range(half * len(pods))
        links = [self._link("rack", f"host {edge * half + i}", f"edge {edge}") for edge in edges for i in range(half)]
        for pod in pods:
            # The switches of this pod; aggregation switch i of a pod has cores i * half and following.
            own = [pod * half + i for i in range(half)]
            links += [self._link("aggregation", f"edge {e}", f"aggregation {a}") for e in own for a in own]
            links += [
                self._link("core", f"aggregation {a}", f"core {i * half + j}")
                for i, a in enumerate(own)
                for j in range(half)
            ]
        return links

    def _path(self, flow: dict[str, Any]) -> list[str]:
        if self.fabric["topology"] == "dumbbell":
            return [flow["from"], "left", "right", flow["to"]]
        half = self.fabric["k"] // 2
        core = int(flow["via"][0][0].removeprefix("core "))

        def below(host: int) -> list[str]:
            pod = host // (half * half)
            return [f"host {host}", f"edge {host // half}", f"aggregation {pod * half + core // half}"]

        return [*below(flow["from"]), f"core {core}", *reversed(below(flow["to"]))]


def put(tables: dict[str, Any], setting: str) -> None:
    """Sets one value, `path=value`; a value that is not TOML is a string."""
    path, _, text = setting.partition("=")
    *tables_of, key = path.split(".")
    for name in tables_of:
        tables = tables.setdefault(name, {})
    try:
        tables[key] = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        tables[key] = text
