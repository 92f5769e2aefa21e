"""What is run in both simulators: the comparisons themselves, and those that show why they differ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Side = Literal["tresse", "ns3"]


@dataclass(frozen=True)
class Comparison:
    """One experiment under one scheme, all of its workloads, in both simulators."""

    name: str
    file: str
    scheme: str
    warm_up: str
    settings: tuple[str, ...] = ()  # as in `tresse run --set`, for both
    ns3: tuple[str, ...] = ()  # attributes of ns-3: TcpL4Protocol.SocketType=TcpLinuxReno
    controller: str | None = None  # for Tresse, instead of the scheme's: a C file in this folder

    def arguments(self, side: Side) -> tuple[object, ...]:
        """What one side has to know; comparisons with the same arguments share one run."""
        own = self.ns3 if side == "ns3" else self.controller
        return (self.file, self.scheme, self.warm_up, self.settings, own)


def dumbbell(
    name: str, scheme: str, *settings: str, ns3: tuple[str, ...] = (), controller: str | None = None
) -> Comparison:
    """The dumbbell: from 300 ms on, when the losses of the first slow start are repaired."""
    return Comparison(name, "dumbbell.toml", scheme, "300ms", settings, ns3, controller)


WITHOUT_SACK = ("schemes.newreno.transport.recovery=newreno", "schemes.newreno.transport.reduction=immediate")

COMPARISONS = (
    dumbbell("dumbbell-dctcp", "dctcp"),
    dumbbell("dumbbell-newreno", "newreno"),
    Comparison("fat-tree-dctcp", "fat-tree.toml", "dctcp", "50ms"),
    Comparison("fat-tree-newreno", "fat-tree.toml", "newreno", "50ms"),
    # Why they differ.
    dumbbell("bytes", "dctcp", controller="dctcp_ns3.c"),
    dumbbell("large-k", "dctcp", "fabric.mark=60pkt"),
    dumbbell("classic", "newreno", "transport.reduction=immediate"),
    dumbbell("prr", "dctcp", "fabric.mark=60pkt", "schemes.dctcp.transport.reduction=prr"),
    Comparison("fat-tree-bytes", "fat-tree.toml", "dctcp", "50ms", controller="dctcp_ns3.c"),
    Comparison("short-queues", "fat-tree.toml", "newreno", "50ms", ("fabric.queue=50pkt",)),
    # Other settings of ns-3.
    dumbbell("rfc5681", "newreno", ns3=("TcpL4Protocol.SocketType=TcpNewReno",)),
    dumbbell("no-sack", "newreno", *WITHOUT_SACK),
    dumbbell("no-sack-50ms", "newreno", *WITHOUT_SACK, "transport.rto_min=50ms"),
)
