"""ns-3's side: one workload of an experiment file under one scheme, through ns-3's Python bindings.

Loading them takes some ten seconds, so this is imported in a process that runs many workloads.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import cppyy
from ns import ns

from experiment import Experiment, Link, nanoseconds, number
from measure import Measured, Port, measured

cppyy.cppdef(Path(__file__).with_name("watch.h").read_text())

# Hosts neither drop nor mark.
UNLIMITED = "1000000p"
# More than any window, but not much more: ns-3 repeatedly walks through all of it.
BUFFER = str(1 << 21)
SINK_PORT = 5000


def configure(experiment: Experiment, attributes: tuple[str, ...]) -> None:
    """Gives ns-3 the transport of the experiment, then `attributes`."""
    t = experiment.transport
    defaults = {
        "TcpSocket.SegmentSize": str(number(t["mss"], "B")),
        "TcpSocket.InitialCwnd": str(number(t["initial_window"], "pkt")),
        "TcpSocket.DelAckCount": str(number(t["ack_every"], "pkt")),
        "TcpSocket.DelAckTimeout": t["ack_timer"],
        "TcpSocket.ConnTimeout": t["rto_initial"],
        "TcpSocket.SndBufSize": BUFFER,
        "TcpSocket.RcvBufSize": BUFFER,
        "TcpSocketBase.MinRto": t["rto_min"],
        "TcpSocketBase.Timestamp": "false",
        "TcpSocketBase.Sack": {"newreno": "false", "sack": "true"}[t["recovery"]],
        "RttEstimator.InitialEstimation": t["rto_initial"],
        "TcpL4Protocol.SocketType": {"newreno": "TcpLinuxReno", "dctcp": "TcpDctcp"}[experiment.controller],
        "TcpL4Protocol.RecoveryType": {"immediate": "TcpClassicRecovery", "prr": "TcpPrrRecovery"}[t["reduction"]],
        # RED without an average and with both thresholds at K marks by the length of the queue alone.
        "RedQueueDisc.QW": "1",
        "RedQueueDisc.Gentle": "false",
        "RedQueueDisc.UseEcn": "true",
        "RedQueueDisc.UseHardDrop": "false",
    }
    own = dict(attribute.split("=", 1) for attribute in attributes)
    for path, value in (defaults | own).items():
        is_type = path in ("TcpL4Protocol.SocketType", "TcpL4Protocol.RecoveryType")
        text = f"ns3::{value}" if is_type else value
        ns.Config.SetDefault(f"ns3::{path.replace('.', '::')}", ns.StringValue(text))


class Network:
    """The nodes, links and flows of one workload."""

    def __init__(self, experiment: Experiment) -> None:
        self.experiment = experiment
        self.watch = cppyy.gbl.validation.Watch()
        self.rates: list[float] = []  # of the watched ports
        nodes = ns.NodeContainer()
        nodes.Create(len(experiment.nodes))
        ns.InternetStackHelper().Install(nodes)
        self.nodes = {name: nodes.Get(i) for i, name in enumerate(experiment.nodes)}
        self.address: dict[str, Any] = {}  # of each host
        self.interface: dict[tuple[str, str], int] = {}  # by its node and the next
        addresses = ns.Ipv4AddressHelper()
        addresses.SetBase("10.0.0.0", "255.255.255.252")
        for link in experiment.links:
            self._add(link, addresses)

    def _add(self, link: Link, addresses: Any) -> None:
        helper = ns.PointToPointHelper()
        helper.SetDeviceAttribute("DataRate", ns.StringValue(link.rate))
        helper.SetChannelAttribute("Delay", ns.StringValue(link.delay))
        # The device keeps one packet in addition to the one in transmission; all others wait in the queue
        # disc above it.
        helper.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", ns.StringValue("1p"))
        devices = helper.Install(*(self.nodes[end] for end in link.ends))
        for i, end in enumerate(link.ends):
            is_host = self.experiment.is_host(end)
            disc = self._queue(is_host).Install(devices.Get(i)).Get(0)
            if not is_host:
                self.watch.AddPort(disc, devices.Get(i), link.layer)
                self.rates.append(ns.DataRate(link.rate).GetBitRate())
        # After the queues: with its address a device without a queue disc gets ns-3's usual one.
        interfaces = addresses.Assign(devices)
        addresses.NewNetwork()
        for i, (end, other) in enumerate((link.ends, link.ends[::-1])):
            self.interface[end, other] = interfaces.Get(i).second
            if self.experiment.is_host(end):
                self.address[end] = interfaces.GetAddress(i)

    def _queue(self, is_host: bool) -> Any:
        helper = ns.TrafficControlHelper()
        # With the packet in the device the queue is as long as the experiment says.
        size = ns.StringValue(UNLIMITED if is_host else f"{self.experiment.queue() - 1}p")
        if is_host or not self.experiment.marks:
            helper.SetRootQueueDisc("ns3::FifoQueueDisc", "MaxSize", size)
        else:
            # RED signals from MinTh on, Tresse above K: with the packet in the device, this is the same.
            threshold = ns.DoubleValue(self.experiment.mark())
            helper.SetRootQueueDisc("ns3::RedQueueDisc", "MaxSize", size, "MinTh", threshold, "MaxTh", threshold)
        return helper

    def _route(self, path: list[str]) -> None:
        """Leads packets for the last node of a path along it."""
        static = ns.Ipv4StaticRoutingHelper()
        for node, following in pairwise(path):
            routing = static.GetStaticRouting(self.nodes[node].GetObject[ns.Ipv4]())
            routing.AddHostRouteTo(self.address[path[-1]], self.interface[node, following])

    def run(self, workload: str, warm_up: str) -> Measured:
        """Runs one workload until its end, and measures after the warm-up."""
        for flow in self.experiment.flows(workload):
            self._route(flow.path)
            self._route(flow.path[::-1])
            anywhere = ns.InetSocketAddress(ns.Ipv4Address.GetAny(), SINK_PORT)
            sink = ns.PacketSinkHelper("ns3::TcpSocketFactory", anywhere.ConvertTo())
            self.watch.AddSink(sink.Install(self.nodes[flow.path[-1]]).Get(0))
            there = ns.InetSocketAddress(self.address[flow.path[-1]], SINK_PORT)
            source = ns.BulkSendHelper("ns3::TcpSocketFactory", there.ConvertTo())
            source.SetAttribute("MaxBytes", ns.UintegerValue(0))
            source.Install(self.nodes[flow.path[0]]).Start(ns.Time(flow.start))
        stop = self.experiment.workloads[workload]["duration"]
        self.watch.Run(ns.Time(warm_up), ns.Time(stop), ns.Time(self.experiment.every))
        ports = [
            Port(str(p.layer), rate, p.bytes, p.drops, list(p.looks))
            for p, rate in zip(self.watch.ports, self.rates, strict=True)
        ]
        seconds = (nanoseconds(stop) - nanoseconds(warm_up)) / 1e9
        return measured(list(self.watch.received), ports, self.watch.marks, self.watch.timeouts, seconds)


def ns3_side(
    file: Path, scheme: str, warm_up: str, settings: tuple[str, ...], attributes: tuple[str, ...], workload: str
) -> Measured:
    """Measures from `warm_up` to the end of the workload.

    A setting is a value of the experiment, as `tresse run --set` has it; an attribute is one of ns-3, such as
    `TcpL4Protocol.SocketType=TcpLinuxReno`.
    """
    experiment = Experiment(file, scheme, settings)
    configure(experiment, attributes)
    try:
        return Network(experiment).run(workload, warm_up)
    finally:
        ns.Simulator.Destroy()
        ns.Ipv4AddressGenerator.Reset()
        ns.Config.Reset()
