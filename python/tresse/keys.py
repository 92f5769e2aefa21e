"""The keys of an experiment, typed: editors complete them and check their values.

>>> from tresse import keys
>>> experiment = keys.Experiment(
...     title="Two schemes on a small fat tree",
...     fabric=keys.Fabric(topology="fat-tree", k=4, rate="1Gbps", delay="20us", queue="100pkt",
...                        mark="10pkt", host_queue="1000pkt"),
...     transport=keys.Transport(profile="linux"),
...     schemes={"xmp": keys.Scheme(controller="xmp", subflows=2), "dctcp": keys.Scheme(controller="dctcp")},
...     workloads={"permutation": keys.Permutation(size="4MB")},
... )
>>> run = tresse.run(experiment)

A key that is None is left out and takes the default in its description. `each` makes a case of each
value. A key whose name is a word of Python has an underscore after it: `class_`. Values have their units,
as in a file: `"10Gbps"`.

Written by `cargo xtask generate` from docs/reference/experiment.schema.json; change it there.
"""

# fmt: off

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal, TypeAlias


def each(*values: Any) -> Any:
    """A case of the experiment for each of these values, for any key that takes one value.

    `keys.Fabric(mark=keys.each("10pkt", "20pkt"), …)` has the axis `mark`.
    """
    return list(values)


def plain(value: Any) -> Any:
    """A value of a key as TOML has it: tables as dicts, sequences as lists, without what is None."""
    if isinstance(value, Keys):
        return value.to_dict()
    if isinstance(value, Mapping):
        return {key: plain(own) for key, own in value.items() if own is not None}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [plain(own) for own in value]
    return value


class Keys:
    """What all tables of an experiment have."""

    __slots__ = ()

    __dataclass_fields__: ClassVar[dict[str, Any]]

    def to_dict(self) -> dict[str, Any]:
        """The table as its TOML has it, without what is None."""
        table: dict[str, Any] = {}
        for own in fields(self):
            value = getattr(self, own.name)
            if own.name == "rest":
                table |= plain(value or {})
            elif value is not None:
                table[own.name.rstrip("_")] = plain(value)
        return table


Rate: TypeAlias = str
"""Such as "10Gbps"."""

Duration: TypeAlias = str
"""Such as "20us"."""

Queue: TypeAlias = str
"""Such as "100pkt"."""

Mark: TypeAlias = str
"""Such as "100pkt"."""

HostQueue: TypeAlias = str
"""Such as "fq"."""

NonEct: TypeAlias = Literal["queue", "drop"]
"""What happens above K to a packet that cannot be marked.
- `queue`: It queues until the queue is full.
- `drop`: It is dropped, as RED does with min = max = K.
"""

MarkAt: TypeAlias = Literal["arrival", "departure"]
"""What a packet is marked by.
- `arrival`: The queue that it finds when it arrives.
- `departure`: The queue that it leaves behind when its transmission begins: the mark is newer by the time
  that the packet has waited. Packets that are not ECN-capable are not signalled then.
"""

Probability: TypeAlias = float
"""Such as 0.001."""

Gaps: TypeAlias = Literal["uniform", "geometric"]
"""How the gaps between RED's signals are distributed.
- `uniform`: The gaps are uniform, as Floyd and Jacobson chose: there are twice as many signals as the
  probability says.
- `geometric`: Each packet is signalled with the probability, independently of earlier ones, as in
  switches' WRED.
"""

Bytes: TypeAlias = str
"""Such as "64MB"."""

Factor: TypeAlias = float
"""Such as 0.17."""

FlagFeedback: TypeAlias = Literal["one_hop", "backward"]
"""How far a congestion flag is reported.
- `one_hop`: To the node in front of the port.
- `backward`: From node to node, back to the hosts.
"""

Routing: TypeAlias = Mapping[str, Any] | Literal[
    "two-level", "shortest", "ecmp", "spray", "drill", "holnet-percentage", "holnet-rate"
]
"""A routing's name, or a table with a load balancer's name and its parameters."""

Distinct: TypeAlias = Literal["core", "aggregation", "host-link"]
"""What the subflows of one connection must not share.
- `core`: A core switch.
- `aggregation`: An aggregation switch.
- `host-link`: A link of the sending host, as if it had an address for each of its network cards; with
  `planes`, a plane.
"""

NicMapping: TypeAlias = Literal["disjoint", "shared", "half-shared", "hashed"]
"""The physical NIC of its host that a virtual NIC is mapped to.
- `disjoint`: The i-th virtual NIC of each machine to the i-th physical NIC.
- `shared`: All NICs of a machine to one physical NIC; the machines take turns.
- `half-shared`: Every other machine as with `disjoint`, starting with the first; those in between as with
  `shared`.
- `hashed`: Chosen by a hash of its address.
"""

Beyond: TypeAlias = Literal["resample", "clip"]
"""What happens to a size above the bound (catalogue A6.5).
- `resample`: Another size is drawn, as in ns-3.
- `clip`: The size becomes the bound.
"""

Pairs: TypeAlias = Literal["any", "inter-rack"]
"""Who may send to whom.
- `any`: Any two different hosts.
- `inter-rack`: Hosts of different racks.
"""

Arrivals: TypeAlias = Literal["poisson", "periodic"]
"""How they arrive.
- `poisson`: At random times.
- `periodic`: At equal distances.
"""

HostSet: TypeAlias = str | Sequence[str]
"""Hosts, each by name (`"host 3"`), as a whole rack or pod (`"rack 0"`), or by numbers (`"0..50"` or
`"host 0..50"`, excluding the last).
"""

LoadOn: TypeAlias = Literal["bisection", "access"]
"""What the offered load is a share of.
- `bisection`: What the narrowest tier of the network carries of these flows.
- `access`: What the links of the sending hosts carry.
"""

Host: TypeAlias = int | str
"""Such as 3, "host 3"."""

Operation: TypeAlias = Literal[
    "ring-all-reduce", "tree-all-reduce", "all-gather", "reduce-scatter", "all-to-all", "broadcast"
]
"""What the ranks do together.
- `ring-all-reduce`: Reduce-scatter and all-gather around a ring.
- `tree-all-reduce`: Up a binary tree and down again.
- `all-gather`: Every rank's part goes to all ranks, around a ring.
- `reduce-scatter`: The sum of every part goes to one rank, around a ring.
- `all-to-all`: Every rank sends each other rank a different part.
- `broadcast`: One rank's data goes to all ranks, down a binary tree.
"""

AllReduce: TypeAlias = Literal["ring", "tree"]
"""How every rank gets the sum of all.
- `ring`: Reduce-scatter and all-gather around a ring.
- `tree`: Up a binary tree and down again.
"""

Flops: TypeAlias = str
"""Such as "312Tflops"."""

CaseMetric: TypeAlias = str | Literal[
    "goodput_mean_bps", "goodput_p10_bps", "goodput_p50_bps", "goodput_p90_bps", "goodput_min_bps",
    "goodput_max_bps", "goodput_total_bps", "jain_ratio", "fct_mean_s", "fct_p50_s", "fct_p99_s", "fct_max_s",
    "slowdown_mean_ratio", "slowdown_p50_ratio", "slowdown_p99_ratio", "cwnd_mean_pkts",
    "subflows_opened_mean", "flows", "unfinished_flows", "deadline_flows", "deadline_misses",
    "deadline_miss_ratio", "delivered_bytes", "timeouts", "timeouts_min", "timeouts_mean", "timeouts_max",
    "retransmissions_pkts", "drops_pkts", "lost_pkts", "marks_pkts", "trims_pkts", "pauses", "paused_s",
    "headroom_drops_pkts", "share_moves", "path_shifts", "tuned_flows", "mark_cuts", "rtt_mean_s",
    "rtt_p50_s", "rtt_p90_s", "rtt_p99_s", "rtt_max_s", "convergence_mean_s", "convergence_max_s",
    "unconverged", "convergences", "recovery_time_mean_s", "recovery_time_max_s", "unrecovered",
    "flow_recovery_time_max_s", "unrecovered_flows", "utilisation_mean_ratio", "utilisation_min_ratio",
    "utilisation_p10_ratio", "utilisation_p50_ratio", "utilisation_p90_ratio", "utilisation_max_ratio",
    "queue_mean_pkts", "queue_p50_pkts", "queue_p99_pkts", "queue_max_pkts", "sharing_flows",
    "terminated_flows", "sharing_precision_ratio", "sharing_recall_ratio", "sharing_f_ratio", "jobs",
    "jct_mean_s", "jct_p50_s", "jct_p99_s", "jct_max_s", "job_deadline_miss_ratio", "offered_bisection_ratio",
    "offered_access_ratio", "simulated_s", "packet_hops"
]

Fidelity: TypeAlias = Literal["packets", "rounds"]
"""How closely the network is simulated.
- `packets`: Every packet, at every port.
- `rounds`: Batches of packets, a few in each round trip of a subflow, over links that are fluids (`tresse
  explain rounds`).
"""

HostProfile: TypeAlias = Literal["ns3", "ns2", "linux", "spray"]
"""A set of values for the transport's keys.
- `ns3`: ns-3.14's TCP with XMP's RTOmin: NewReno, an initial window of one packet, two packets per ACK,
  immediate cuts.
- `ns2`: ns-2's TCP with its own defaults, and SACK: an ACK for every packet, a receive window of 20
  packets.
- `linux`: A Linux host with the fq qdisc: RACK-TLP, PRR, pacing, TSO and GRO.
- `spray`: A network card that sprays packets over many paths, as in Ultra Ethernet; not TCP (`tresse
  explain spray`).
"""

Packets: TypeAlias = str
"""Such as "10pkt"."""

Rto: TypeAlias = Literal["rfc6298", "linux"]
"""How the retransmission timeout follows from the RTT.
- `rfc6298`: The larger of srtt + 4 rttvar and `rto_min` (RFC 6298).
- `linux`: srtt + the larger of 4 rttvar and `rto_min`, as Linux.
"""

TimeoutCut: TypeAlias = Literal["restart", "as-loss"]
"""What a retransmission timeout does to the window.
- `restart`: One packet, then slow start, as TCP.
- `as-loss`: The same as three duplicate ACKs: the controller's answer to a loss, which may be none.
"""

Recovery: TypeAlias = Literal["go-back-n", "reno", "reno-once", "newreno", "sack", "rack"]
"""How losses are repaired.
- `go-back-n`: No fast retransmit: every loss waits for the timeout.
- `reno`: Reno (RFC 5681): the first ACK of new data ends a recovery; a second loss in the window often
  needs a timeout.
- `reno-once`: Reno with at most one fast retransmit per window of data (RFC 6582 §3.2 step 2).
- `newreno`: NewReno (RFC 6582): duplicate ACKs only.
- `sack`: SACK (RFC 6675), paced by PRR.
- `rack`: RACK-TLP (RFC 8985) on top of SACK, paced by PRR: losses detected by time, probes before the
  timeout.
"""

Reduction: TypeAlias = Literal["immediate", "prr"]
"""How the window is reduced.
- `immediate`: At once.
- `prr`: Over a round, by proportional rate reduction (RFC 6937).
"""

Buffer2: TypeAlias = str
"""Such as "linux"."""

Blocked: TypeAlias = Literal["wait", "reinject"]
"""What the sender does while data on one subflow keeps the receive buffer full.
- `wait`: Wait; after a timeout of the subflow with the first missing data, another one sends this data
  too. As Linux.
- `reinject`: Send the first missing data on a faster subflow too, and halve the window of the one that had
  it. As the MPTCP kernel 0.8x.
"""

Switch: TypeAlias = Literal["off", "on"]
"""Whether something is on.
- `off`: Off.
- `on`: On.
"""

Join: TypeAlias = Literal["established", "first-ack"]
"""When the subflows besides the first begin their handshakes.
- `established`: When the first one's is complete.
- `first-ack`: When the first ACK of data has arrived (RFC 8684 §3.1), as Linux.
"""

Scheduler: TypeAlias = Literal["lowest-rtt", "round-robin", "linux"]
"""Where the next data goes.
- `lowest-rtt`: On the subflow with the lowest smoothed RTT.
- `round-robin`: On the next subflow in turn.
- `linux`: On the subflow that would finish its data first, in bursts, ahead of its window.
"""

Detection: TypeAlias = Literal["source", "ecn"]
"""How a host of HOLNET detects congestion.
- `source`: From losses, which it infers itself.
- `ecn`: From marks too.
"""

Counts: TypeAlias = int | Sequence[int]
"""A number, or several numbers."""

PathManager: TypeAlias = Mapping[str, Any] | Literal[
    "fixed", "mmptcp", "opn", "opn-shifting", "opn-tuning", "path-sharing"
]
"""A path manager's name, or a table with its name and parameters."""

Echo: TypeAlias = Literal["rfc3168", "dctcp", "two-bit"]
"""How the receiver reports CE marks.
- `rfc3168`: ECE until CWR (RFC 3168): one signal per window, no count.
- `dctcp`: Every packet's mark, ACKed at once when it changes (RFC 8257).
- `two-bit`: Up to three marks per ACK in the bits ECE and CWR (XMP §2.1).
"""

Sizes: TypeAlias = str
"""Such as "up to 100kB"."""

Kind: TypeAlias = Literal["simulation", "testbed"]
"""What published numbers were measured on.
- `simulation`: A simulator: ours should be within 20 %.
- `testbed`: Real machines: shown next to ours, but compared only as ratios, in claims.
"""

Order: TypeAlias = Literal["rising", "falling"]
"""The direction in which a metric changes from case to case.
- `rising`: Up.
- `falling`: Down.
"""

Verdict: TypeAlias = Literal["holds", "inconclusive", "does not hold"]
"""What the results say about a claim.
- `holds`: Every value is on the right side of every bound.
- `inconclusive`: A bound is within the confidence interval of a value, there is no value, or the
  mechanisms of a case did nothing.
- `does not hold`: A value is on the wrong side of a bound.
"""

Chart: TypeAlias = Literal["time", "cdf", "bars", "matrix", "lines", "boxes", "scatter"]
"""The kind of a chart.
- `time`: A sampled quantity against time.
- `cdf`: The cumulative distribution of a quantity.
- `bars`: A metric for each value of a dimension.
- `matrix`: A metric for each value of a dimension and each of the series: a table whose cells are
  coloured, each column with its own scale.
- `lines`: A metric against a dimension whose values are numbers, or end in one.
- `boxes`: The 10th, 50th and 90th percentiles of a quantity, its minimum and its maximum.
- `scatter`: One metric against another, a point for each case.
"""

Direction: TypeAlias = Literal["x", "y"]
"""An axis of a chart.
- `x`: The horizontal axis.
- `y`: The vertical axis.
"""

LayeredRate: TypeAlias = Rate | Mapping[str, Rate]
"""One value for every layer of links, or one for each."""

LayeredDuration: TypeAlias = Duration | Mapping[str, Duration]
"""One value for every layer of links, or one for each."""

LayeredQueue: TypeAlias = Queue | Mapping[str, Queue]
"""One value for every layer of links, or one for each."""

LayeredMark: TypeAlias = Mark | Mapping[str, Mark]
"""One value for every layer of links, or one for each."""

LayeredProbability: TypeAlias = Probability | Mapping[str, Probability]
"""One value for every layer of links, or one for each."""

NicMappings: TypeAlias = NicMapping | Sequence[NicMapping]
"""One mapping for all physical hosts, or one for each."""

Plb: TypeAlias = Switch | Mapping[str, Any]
"""Whether and how a subflow changes its hash."""

AnyMetric: TypeAlias = CaseMetric | Literal[
    "goodput_sd_ratio", "srtt_mean_s", "optimum.goodput_mean_bps", "optimum.goodput_p10_bps",
    "optimum.goodput_p50_bps", "optimum.goodput_p90_bps", "optimum.goodput_distance_mean",
    "optimum.goodput_distance_max", "optimum.utility_distance_mean", "optimum.rounds"
]


@dataclass(kw_only=True, slots=True)
class Fabric(Keys):
    """The network."""

    topology: Literal[
        "fat-tree", "leaf-spine", "virtual-hosts", "dumbbell", "parking-lot", "xmp-testbed-a",
        "xmp-testbed-b", "xmp-torus", "thesis-2.2a", "thesis-2.2b", "thesis-3.2", "thesis-3.2-users",
        "thesis-4.2", "file"
    ]
    """Its shape."""

    k: int | None = None
    """For a fat tree, the number of ports per switch: even, 2 to 128. There are k^3/4 hosts."""

    leaves: int | None = None
    """For a leaf-spine, the number of leaf switches."""

    spines: int | None = None
    """For a leaf-spine, the number of spine switches; each has a link to every leaf."""

    hosts_per_leaf: int | None = None
    """For a leaf-spine, the number of hosts on each leaf."""

    virtual_hosts: VirtualHosts | None = None
    """For virtual hosts, their description."""

    pairs: int | None = None
    """For a dumbbell, the number of pairs of a source and a destination: 1 to 10000."""

    hops: int | None = None
    """For a parking lot, the number of bottlenecks in a row: 1 to 1000."""

    file: str | None = None
    """For topology "file", the network as node-link JSON (networkx) or GraphML. The path is relative to
    the experiment's file.
    """

    planes: int | None = None
    """Every host has a link to each of this many planes, which are separate networks of switches of this
    shape. Rates apply to one plane, and a switch is called "plane 0 core 3". 1 to 64; default: 1.
    """

    rate: LayeredRate | None = None
    """Link rate, one for all layers or one for each. Required, unless the links of a file set their own."""

    delay: LayeredDuration | None = None
    """One-way propagation delay of a link. Required, unless the links of a file set their own."""

    queue: LayeredQueue | None = None
    """An arriving packet is dropped if the queue of its port has reached this length. Required, unless the
    links of a file set their own.
    """

    drop_until: LayeredQueue | None = None
    """Once the queue of a switch's port is full, every arriving packet is dropped until the queue is
    shorter than this. Above 0 and below `queue`, in its unit. Default: a packet is dropped only if it
    finds the queue full. The same applies to layers that a table leaves out.
    """

    mark: LayeredMark | None = None
    """K: an arriving ECN-capable packet is marked if the queue is longer than this. In packets, in bytes,
    or as a multiple of the network's bandwidth-delay product, such as "0.17BDP". Default: "unlimited".
    """

    host_queue: HostQueue | None = None
    """The queue in a host's NIC: "fq", one for each subflow, served in turn, which hold back a subflow
    when it has enough packets there (`port_limit`); or the limit of one queue for all. Default with the
    profiles "linux" and "spray": "fq"; otherwise it is required.
    """

    host_flag: Queue | None = None
    """With congestion flags and an unlimited `host_queue`: the queue length from which on a host's own
    port counts as congested; for ports with a limit, a share of the limit decides. Default: "unlimited".
    """

    host_mark: Mark | None = None
    """K in a host's NIC, for one queue. Default: "unlimited"."""

    host_processing: Duration | None = None
    """A host spends a random time on each packet that it sends, uniform from 0 to less than this; no
    packet overtakes another. At most 1000s. Default: no time.
    """

    host_cpu: HostCpu | None = None
    """What packets cost the cores of a host, each of which takes them one by one: a table, or the file
    that `tresse calibrate` has written. Not with `pfc`. Default: nothing.
    """

    non_ect: NonEct | None = None
    """What happens above K to a packet that is not ECN-capable. Default: "queue"."""

    mark_at: MarkAt | None = None
    """Whether `mark` and `red` of switches mark by the queue that a packet finds on arrival, or by the
    queue that it leaves behind on departure. Default: arrival.
    """

    loss: LayeredProbability | None = None
    """The probability that a port loses an arriving packet, whatever its queue: 0 to less than 1. ACKs are
    lost too. Default: 0.0.
    """

    red: Red | None = None
    """Random early detection in the ports of switches, in addition to `mark`."""

    classes: Sequence[Class] | None = None
    """The classes of a switch's port. Default: one class, with `queue` and `mark`."""

    trim: Bytes | None = None
    """A switch port that has no room for a packet of a sprayed transport keeps only this much of it: the
    header, which goes before all data, as ACKs do. ACKs then go first in hosts too. Default: such a packet
    is dropped.
    """

    pfc: Pfc | None = None
    """Switches pause the ports that send to them, including those of hosts, instead of dropping data.
    `queue` then limits only what goes before all data, such as the ACKs of sprayed transports. Default:
    switches drop.
    """

    buffer: Buffer | None = None
    """A buffer in each switch, shared by its ports."""

    flags: Flags | None = None
    """Congestion flags that the ports keep and report, for controllers that need signals from the next
    hop. HOLNET's load balancers have their own flags, as parameters, and cannot be combined with these.
    """

    routing: Routing | None = None
    """How the paths of packets are chosen. Default: two-level routing in a fat tree, fixed shortest paths
    elsewhere.
    """

    distinct: Distinct | None = None
    """What the subflows of one connection must not share: with two-level routing a core or an aggregation
    switch, with "shortest" a link of their host. Default: a core switch, or a path.
    """

    links: Sequence[LinkSetting] | None = None
    """Single links that differ from their layer, in both directions."""


@dataclass(kw_only=True, slots=True)
class Costs(Keys):
    """What packets cost: one core sends, another one receives, and each takes its packets one by one. At
    most 1s each.
    """

    wake: Duration | None = None
    """From the arrival of a packet until a receiving core that was idle begins. Default: no time."""

    send: Cost | None = None
    """What a packet costs the core that sends it."""

    receive: Cost | None = None
    """What a packet costs the core that receives it."""


@dataclass(kw_only=True, slots=True)
class Cost(Keys):
    """What a packet costs a core."""

    packet: Duration | None = None
    """The packet. Default: no time."""

    byte: Duration | None = None
    """Each of its bytes, with headers. Default: no time."""


@dataclass(kw_only=True, slots=True)
class Red(Keys):
    """Random early detection (Floyd and Jacobson, ToN 1993)."""

    min: LayeredQueue
    """The average queue length below which no packet is signalled."""

    max: LayeredQueue
    """The average length from which on every packet is signalled; with `gentle`, from twice this length
    on. In the unit of `min`.
    """

    probability: Probability
    """The probability that a packet is signalled at an average just below `max`."""

    weight: int | None = None
    """The weight of a new length in the average is 2^-weight: 0 to 16. With 0 the current queue counts.
    Default: 9.
    """

    gentle: bool | None = None
    """Whether above `max` the probability rises on to 1 at twice `max` instead of jumping there (Floyd
    2000). Default: False.
    """

    gaps: Gaps | None = None
    """How the gaps between signals are distributed while the average stays the same. Default: uniform."""


@dataclass(kw_only=True, slots=True)
class Class(Keys):
    """A class of a switch's ports: a separate queue under deficit round robin (Shreedhar and Varghese,
    1995).
    """

    quantum: Bytes
    """How much it may send in a round; busy classes share a port's rate in proportion to their quanta. 1B
    to 1GB.
    """

    queue: LayeredQueue | None = None
    """The limit of its queue: an arriving packet is dropped if the queue is this long. Default:
    `fabric.queue`.
    """

    mark: LayeredMark | None = None
    """Its K. Default: as `share` says, otherwise `fabric.mark`."""

    share: Share | None = None
    """Makes its K follow its share of the port's rate."""


@dataclass(kw_only=True, slots=True)
class Share(Keys):
    """K_i = (the class's share of the rate) x RTT x lambda (vMCC eq. (1); the share as in MQ-ECN)."""

    rtt: Duration
    """The round-trip time."""

    lambda_: Factor
    """Lambda: 1 for a controller that halves its window, about 0.17 for DCTCP's cut."""


@dataclass(kw_only=True, slots=True)
class Pfc(Keys):
    """Priority flow control (IEEE 802.1Qbb)."""

    xoff: Bytes
    """A switch pauses the port at the other end of a link when it holds more than this many bytes that
    came over the link.
    """

    xon: Bytes
    """It ends the pause when it holds at most this many; at most `xoff`."""

    headroom: Bytes | None = None
    """The room of a switch beyond `xoff`, for each link; a packet that finds no room is dropped. Default:
    what may arrive until the pause takes effect, so that nothing is lost: rate x (the delays both ways +
    `reaction` + the transmission of a full packet and a frame back) + two full packets.
    """

    reaction: Duration | None = None
    """The time from the arrival of a pause frame until the port obeys. At most 1000s. Default: 0s."""


@dataclass(kw_only=True, slots=True)
class Buffer(Keys):
    """A buffer that the ports of a switch share, with dynamic thresholds (Choudhury and Hahne, ToN 1998)."""

    size: Bytes
    """The memory of each switch."""

    alpha: Factor
    """The multiple of the free memory that a queue may hold."""


@dataclass(kw_only=True, slots=True)
class Flags(Keys):
    """Congestion flags in the ports of switches and hosts (THESIS §2.5)."""

    percent: int | None = None
    """The share of its queue's limit, in percent, from which on a port counts as congested. Default: 80."""

    feedback: FlagFeedback | None = None
    """How far a flag is reported. Default: "backward"."""


@dataclass(kw_only=True, slots=True)
class LinkSetting(Keys):
    """A link that differs from its layer."""

    ends: Sequence[str]
    """The names of the nodes at its ends, such as `["leaf 0", "spine 3"]`; for several links, with a range
    that excludes its last number: `["leaf 0", "spine 0..8"]`.
    """

    one_way: bool | None = None
    """Whether only the direction from the first node to the second is meant. Default: both directions."""

    rate: Rate | None = None
    """Its rate."""

    delay: Duration | None = None
    """Its one-way delay."""

    queue: Queue | None = None
    """The size of the queues in its switches' ports; a host's NIC has `fabric.host_queue`."""

    mark: Mark | None = None
    """K in its switches' ports."""

    red: RedRange | None = None
    """RED's thresholds in its switches' ports; everything else about RED is as in `fabric.red`."""

    loss: Probability | None = None
    """The probability that its ports lose an arriving packet: 0 to less than 1."""

    failed: bool | None = None
    """Whether the link is missing. Default: False."""


@dataclass(kw_only=True, slots=True)
class RedRange(Keys):
    """The range in which RED's probability rises."""

    min: Queue
    """As `fabric.red.min`."""

    max: Queue
    """As `fabric.red.max`."""


@dataclass(kw_only=True, slots=True)
class VirtualHosts(Keys):
    """`[fabric.virtual_hosts]`: virtualised hosts (VMCC §III to §V)."""

    hosts: int
    """The number of physical hosts."""

    nics: int
    """The number of physical NICs of each; NICs with the same number lead to the same top-of-rack switch."""

    machines: int
    """The number of machines (virtual machines or containers) on each; these are the hosts of a workload."""

    virtual_nics: int
    """The number of virtual NICs of each machine."""

    mapping: NicMappings
    """The physical NICs that they are mapped to: one mapping for all physical hosts, or one for each."""

    receive: Rate | None = None
    """The maximum rate at which a virtual NIC receives. Default: none."""


@dataclass(kw_only=True, slots=True)
class Parts(Keys):
    """Several workloads at the same time."""

    parts: Mapping[str, Workload]
    """Instead of a pattern: workloads that run at the same time, by name. Each part is a group of the
    results.
    """

    duration: Duration | None = None
    """When the case ends; flows that have not finished are stopped. Default: when everything that ends on
    its own is over.
    """

    class_: int | None = None
    """The class of its packets in `fabric.classes`, from 0. Default: 0."""


@dataclass(kw_only=True, slots=True)
class Permutation(Keys):
    """Every host sends to one other host, and each receives one flow (XMP §5.2.1)."""

    pattern: Literal["permutation"] = "permutation"

    duration: Duration | None = None
    """When the case ends; flows that have not finished are stopped. Default: when everything that ends on
    its own is over.
    """

    scheme: str | None = None
    """The scheme of its flows. Default: the case's."""

    mix: Sequence[str] | None = None
    """Schemes that run alongside the case's own: the sending hosts are divided at random into equal parts,
    one for each scheme. Each scheme is a group of the results.
    """

    class_: int | None = None
    """The class of its packets in `fabric.classes`, from 0. Default: 0."""

    persistent: bool | None = None
    """Whether connections persist: all messages from one host to another share one connection, one after
    the other, so that only the first begins with a handshake and the initial window. Default: every
    message has its own connection.
    """

    application: Application | None = None
    """How the application writes to the connections. Default: a whole message at once."""

    size: FlowSize | None = None
    """The size of a flow. Default: flows send until the case ends."""

    connections: int | None = None
    """How many connections carry each transfer at the same time, each with its own message of `size`.
    Default: 1.
    """

    rounds: int | None = None
    """How many times the pattern is drawn; the next round begins when every flow of the previous one has
    finished. Default: 1.
    """

    datagrams: Rate | None = None
    """Instead of connections, datagrams with this payload rate, without congestion control. For flows
    without a size.
    """


@dataclass(kw_only=True, slots=True)
class RackToRack(Keys):
    """Every host of the first rack sends to one host of the second, and each receives one flow (OPN
    §Design motivation).
    """

    pattern: Literal["rack-to-rack"] = "rack-to-rack"

    duration: Duration | None = None
    """When the case ends; flows that have not finished are stopped. Default: when everything that ends on
    its own is over.
    """

    scheme: str | None = None
    """The scheme of its flows. Default: the case's."""

    mix: Sequence[str] | None = None
    """Schemes that run alongside the case's own: the sending hosts are divided at random into equal parts,
    one for each scheme. Each scheme is a group of the results.
    """

    class_: int | None = None
    """The class of its packets in `fabric.classes`, from 0. Default: 0."""

    persistent: bool | None = None
    """Whether connections persist: all messages from one host to another share one connection, one after
    the other, so that only the first begins with a handshake and the initial window. Default: every
    message has its own connection.
    """

    application: Application | None = None
    """How the application writes to the connections. Default: a whole message at once."""

    size: FlowSize | None = None
    """The size of a flow. Default: flows send until the case ends."""

    connections: int | None = None
    """How many connections carry each transfer at the same time, each with its own message of `size`.
    Default: 1.
    """

    rounds: int | None = None
    """How many times the pattern is drawn; the next round begins when every flow of the previous one has
    finished. Default: 1.
    """

    datagrams: Rate | None = None
    """Instead of connections, datagrams with this payload rate, without congestion control. For flows
    without a size.
    """


@dataclass(kw_only=True, slots=True)
class Random(Keys):
    """Every host sends one flow after another, to hosts that receive few others (XMP §5.2.1)."""

    pattern: Literal["random"] = "random"

    duration: Duration | None = None
    """When the case ends; flows that have not finished are stopped. Default: when everything that ends on
    its own is over.
    """

    scheme: str | None = None
    """The scheme of its flows. Default: the case's."""

    mix: Sequence[str] | None = None
    """Schemes that run alongside the case's own: the sending hosts are divided at random into equal parts,
    one for each scheme. Each scheme is a group of the results.
    """

    class_: int | None = None
    """The class of its packets in `fabric.classes`, from 0. Default: 0."""

    persistent: bool | None = None
    """Whether connections persist: all messages from one host to another share one connection, one after
    the other, so that only the first begins with a handshake and the initial window. Default: every
    message has its own connection.
    """

    application: Application | None = None
    """How the application writes to the connections. Default: a whole message at once."""

    size: FlowSize | None = None
    """The size of a flow."""

    pairs: Pairs | None = None
    """Who may send to whom. Default: `any`."""

    at_most: int | None = None
    """The maximum number of flows that a host receives at a time. Default: 4."""

    per_host: int | None = None
    """How many flows a host sends at a time. Default: 1."""

    flows: int | None = None
    """The total number of flows. Default: flows continue as long as the case."""


@dataclass(kw_only=True, slots=True)
class Jobs(Keys):
    """Clients send requests to several servers at once, again and again (XMP §5.2.1)."""

    pattern: Literal["jobs"] = "jobs"

    duration: Duration | None = None
    """When the case ends; flows that have not finished are stopped. Default: when everything that ends on
    its own is over.
    """

    scheme: str | None = None
    """The scheme of its flows. Default: the case's."""

    mix: Sequence[str] | None = None
    """Schemes that run alongside the case's own: the sending hosts are divided at random into equal parts,
    one for each scheme. Each scheme is a group of the results.
    """

    class_: int | None = None
    """The class of its packets in `fabric.classes`, from 0. Default: 0."""

    persistent: bool | None = None
    """Whether connections persist: all messages from one host to another share one connection, one after
    the other, so that only the first begins with a handshake and the initial window. Default: every
    message has its own connection.
    """

    application: Application | None = None
    """How the application writes to the connections. Default: a whole message at once."""

    jobs: int | None = None
    """How many jobs run at the same time. Default: 1. Not for jobs that arrive."""

    servers: int | None = None
    """How many servers a client sends requests to."""

    request: Bytes | None = None
    """The size of a request."""

    response: Bytes | None = None
    """The size of a response."""

    gap: Draw | None = None
    """The time from the end of a job to the start of the next. Default: 0s. Not for jobs that arrive."""

    deadline: Draw | None = None
    """The deadline of a job, counted from its start."""

    total: int | None = None
    """The total number of jobs. Default: jobs continue until the last flow of the other parts has arrived
    (where these do not arrive: until they are over), or until `duration`.
    """

    every: Duration | None = None
    """Jobs arrive, at this mean time from each other, whether or not earlier ones have ended."""

    load: float | None = None
    """Jobs arrive, at a rate at which their requests and responses take this share of all hosts' links:
    above 0, at most 1.
    """

    arrivals: Arrivals | None = None
    """How jobs arrive. Default: `poisson`."""


@dataclass(kw_only=True, slots=True)
class Incast(Keys):
    """Several hosts send to one at the same time."""

    pattern: Literal["incast"] = "incast"

    duration: Duration | None = None
    """When the case ends; flows that have not finished are stopped. Default: when everything that ends on
    its own is over.
    """

    scheme: str | None = None
    """The scheme of its flows. Default: the case's."""

    mix: Sequence[str] | None = None
    """Schemes that run alongside the case's own: the sending hosts are divided at random into equal parts,
    one for each scheme. Each scheme is a group of the results.
    """

    class_: int | None = None
    """The class of its packets in `fabric.classes`, from 0. Default: 0."""

    persistent: bool | None = None
    """Whether connections persist: all messages from one host to another share one connection, one after
    the other, so that only the first begins with a handshake and the initial window. Default: every
    message has its own connection.
    """

    application: Application | None = None
    """How the application writes to the connections. Default: a whole message at once."""

    size: FlowSize | None = None
    """The size of a flow."""

    connections: int | None = None
    """How many connections carry each transfer at the same time, each with its own message of `size`.
    Default: 1.
    """

    rounds: int | None = None
    """How many times they send, by default once; the next round begins when every flow of the previous one
    has finished. For incasts that arrive, their number; default: they arrive until the last flow of the
    other parts has arrived, or until `duration`.
    """

    servers: int | None = None
    """How many of the senders send. Default: all."""

    senders: HostSet | None = None
    """The hosts that send. Default: all but the receiver."""

    receivers: HostSet | None = None
    """The host that receives; default: host 0. If incasts arrive, the hosts of which each draws one;
    default: all.
    """

    every: Duration | None = None
    """Incasts arrive, at this mean time from each other, whether or not earlier ones have ended."""

    load: float | None = None
    """Incasts arrive, at a rate at which their payload takes this share of the receivers' links: above 0,
    at most 1.
    """

    arrivals: Arrivals | None = None
    """How incasts arrive. Default: `poisson`."""


@dataclass(kw_only=True, slots=True)
class Poisson(Keys):
    """Flows arrive at random times, at a load."""

    pattern: Literal["poisson"] = "poisson"

    duration: Duration | None = None
    """When the case ends; flows that have not finished are stopped. Default: when everything that ends on
    its own is over.
    """

    scheme: str | None = None
    """The scheme of its flows. Default: the case's."""

    mix: Sequence[str] | None = None
    """Schemes that run alongside the case's own: the sending hosts are divided at random into equal parts,
    one for each scheme. Each scheme is a group of the results.
    """

    class_: int | None = None
    """The class of its packets in `fabric.classes`, from 0. Default: 0."""

    persistent: bool | None = None
    """Whether connections persist: all messages from one host to another share one connection, one after
    the other, so that only the first begins with a handshake and the initial window. Default: every
    message has its own connection.
    """

    application: Application | None = None
    """How the application writes to the connections. Default: a whole message at once."""

    size: FlowSize | None = None
    """The size of a flow."""

    load: float | None = None
    """The offered load, as a share of the capacity that `load_on` selects: above 0, at most 1."""

    load_on: LoadOn | None = None
    """What `load` is a share of. Default: `bisection`."""

    flows: int | None = None
    """The total number of flows. Default: flows arrive until the last flow of the other parts has arrived,
    or until `duration`.
    """

    pairs: Pairs | None = None
    """Who may send to whom. Default: `any`."""

    senders: HostSet | None = None
    """The hosts that send. Default: all."""

    receivers: HostSet | None = None
    """The hosts that receive. Default: all."""

    deadline: Draw | None = None
    """The deadline of a flow, counted from its start."""


@dataclass(kw_only=True, slots=True)
class Spread(Keys):
    """A number of flows that start at random times in a window."""

    pattern: Literal["spread"] = "spread"

    duration: Duration | None = None
    """When the case ends; flows that have not finished are stopped. Default: when everything that ends on
    its own is over.
    """

    scheme: str | None = None
    """The scheme of its flows. Default: the case's."""

    mix: Sequence[str] | None = None
    """Schemes that run alongside the case's own: the sending hosts are divided at random into equal parts,
    one for each scheme. Each scheme is a group of the results.
    """

    class_: int | None = None
    """The class of its packets in `fabric.classes`, from 0. Default: 0."""

    persistent: bool | None = None
    """Whether connections persist: all messages from one host to another share one connection, one after
    the other, so that only the first begins with a handshake and the initial window. Default: every
    message has its own connection.
    """

    application: Application | None = None
    """How the application writes to the connections. Default: a whole message at once."""

    size: FlowSize | None = None
    """The size of a flow."""

    flows: int | None = None
    """The total number of flows."""

    window: Duration | None = None
    """The window in which flows start at random times. Default: all start at once."""

    pairs: Pairs | None = None
    """Who may send to whom. Default: `any`."""

    senders: HostSet | None = None
    """The hosts that send. Default: all."""

    receivers: HostSet | None = None
    """The hosts that receive. Default: all."""


@dataclass(kw_only=True, slots=True)
class OnOff(Keys):
    """Flows that alternate between sending and pausing."""

    pattern: Literal["on-off"] = "on-off"

    duration: Duration | None = None
    """When the case ends; flows that have not finished are stopped. Default: when everything that ends on
    its own is over.
    """

    scheme: str | None = None
    """The scheme of its flows. Default: the case's."""

    mix: Sequence[str] | None = None
    """Schemes that run alongside the case's own: the sending hosts are divided at random into equal parts,
    one for each scheme. Each scheme is a group of the results.
    """

    class_: int | None = None
    """The class of its packets in `fabric.classes`, from 0. Default: 0."""

    persistent: bool | None = None
    """Whether connections persist: all messages from one host to another share one connection, one after
    the other, so that only the first begins with a handshake and the initial window. Default: every
    message has its own connection.
    """

    application: Application | None = None
    """How the application writes to the connections. Default: a whole message at once."""

    senders: HostSet | None = None
    """The hosts that send."""

    receivers: HostSet | None = None
    """The hosts that receive, one for each sender."""

    on: Draw | None = None
    """How long a flow sends."""

    off: Draw | None = None
    """How long it pauses."""

    start: Duration | None = None
    """When the first flow begins. Default: 0s."""

    stop: Duration | None = None
    """When all flows end. Default: when the case ends."""

    datagrams: Rate | None = None
    """Instead of connections, datagrams with this payload rate, without congestion control."""


@dataclass(kw_only=True, slots=True)
class Flows(Keys):
    """Flows one by one, in the experiment or from a file."""

    pattern: Literal["flows"] = "flows"

    duration: Duration | None = None
    """When the case ends; flows that have not finished are stopped. Default: when everything that ends on
    its own is over.
    """

    scheme: str | None = None
    """The scheme of its flows. Default: the case's."""

    mix: Sequence[str] | None = None
    """Schemes that run alongside the case's own: the sending hosts are divided at random into equal parts,
    one for each scheme. Each scheme is a group of the results.
    """

    class_: int | None = None
    """The class of its packets in `fabric.classes`, from 0. Default: 0."""

    persistent: bool | None = None
    """Whether connections persist: all messages from one host to another share one connection, one after
    the other, so that only the first begins with a handshake and the initial window. Default: every
    message has its own connection.
    """

    application: Application | None = None
    """How the application writes to the connections. Default: a whole message at once."""

    flow: Sequence[Flow] | None = None
    """The flows."""

    file: str | None = None
    """Instead of `flow`, a file of flows; the path is relative to the experiment's folder."""


@dataclass(kw_only=True, slots=True)
class Collective(Keys):
    """A collective operation of parallel programs."""

    pattern: Literal["collective"] = "collective"

    duration: Duration | None = None
    """When the case ends; flows that have not finished are stopped. Default: when everything that ends on
    its own is over.
    """

    scheme: str | None = None
    """The scheme of its flows. Default: the case's."""

    mix: Sequence[str] | None = None
    """Schemes that run alongside the case's own: the sending hosts are divided at random into equal parts,
    one for each scheme. Each scheme is a group of the results.
    """

    class_: int | None = None
    """The class of its packets in `fabric.classes`, from 0. Default: 0."""

    persistent: bool | None = None
    """Whether connections persist: all messages from one host to another share one connection, one after
    the other, so that only the first begins with a handshake and the initial window. Default: every
    message has its own connection.
    """

    application: Application | None = None
    """How the application writes to the connections. Default: a whole message at once."""

    collective: Operation | None = None
    """Which one."""

    size: Bytes | None = None
    """The size of the data that a rank holds."""

    ranks: HostSet | None = None
    """The hosts that are the ranks, in this order. Default: all."""

    stride: int | None = None
    """Ranks in steps of this many hosts, such as 0, 4, 8, … then 1, 5, … Default: 1."""

    shuffle: bool | None = None
    """Whether the ranks are in a random order, by the seed. Default: false."""

    chunks: int | None = None
    """The number of chunks in which the data is pipelined. Default: 1."""

    iterations: int | None = None
    """How many times the operation runs. Default: 1."""

    compute: Duration | None = None
    """The time between two iterations. Default: 0s."""

    parallel: int | None = None
    """How many messages a rank sends at a time in `all-to-all`. Default: all at once."""


@dataclass(kw_only=True, slots=True)
class Goal(Keys):
    """A trace of messages that wait for each other (GOAL)."""

    pattern: Literal["goal"] = "goal"

    duration: Duration | None = None
    """When the case ends; flows that have not finished are stopped. Default: when everything that ends on
    its own is over.
    """

    scheme: str | None = None
    """The scheme of its flows. Default: the case's."""

    mix: Sequence[str] | None = None
    """Schemes that run alongside the case's own: the sending hosts are divided at random into equal parts,
    one for each scheme. Each scheme is a group of the results.
    """

    class_: int | None = None
    """The class of its packets in `fabric.classes`, from 0. Default: 0."""

    persistent: bool | None = None
    """Whether connections persist: all messages from one host to another share one connection, one after
    the other, so that only the first begins with a handshake and the initial window. Default: every
    message has its own connection.
    """

    application: Application | None = None
    """How the application writes to the connections. Default: a whole message at once."""

    file: str | None = None
    """The trace's file, text or binary; the path is relative to the experiment's folder."""


@dataclass(kw_only=True, slots=True)
class Chakra(Keys):
    """A trace of a training job, with its collectives (Chakra)."""

    pattern: Literal["chakra"] = "chakra"

    duration: Duration | None = None
    """When the case ends; flows that have not finished are stopped. Default: when everything that ends on
    its own is over.
    """

    scheme: str | None = None
    """The scheme of its flows. Default: the case's."""

    mix: Sequence[str] | None = None
    """Schemes that run alongside the case's own: the sending hosts are divided at random into equal parts,
    one for each scheme. Each scheme is a group of the results.
    """

    class_: int | None = None
    """The class of its packets in `fabric.classes`, from 0. Default: 0."""

    persistent: bool | None = None
    """Whether connections persist: all messages from one host to another share one connection, one after
    the other, so that only the first begins with a handshake and the initial window. Default: every
    message has its own connection.
    """

    application: Application | None = None
    """How the application writes to the connections. Default: a whole message at once."""

    trace: str | None = None
    """The part of its file names before the rank, such as `traces/llama` for traces/llama.0.et, or their
    folder; the path is relative to the experiment's folder.
    """

    groups: str | None = None
    """The file of its process groups. Default: comm_group.json next to the trace, if it exists."""

    all_reduce: AllReduce | None = None
    """How an all-reduce is done. Default: around a ring."""

    flops: Flops | None = None
    """How fast a rank computes nodes that have a number of operations but no duration. Default: they take
    no time.
    """


@dataclass(kw_only=True, slots=True)
class Application(Keys):
    """How an application writes to its connection (the classes of THESIS §2.1)."""

    rate: Rate | None = None
    """A constant rate of payload, whatever the network does (hard real time, and with a buffer
    delay-adaptive).
    """

    levels: Sequence[Rate] | None = None
    """Rates to choose among, the lowest first (rate-adaptive, such as video). The application uses the
    highest rate that the network delivered in the last `period`, and goes up one step at a time while
    nothing waits.
    """

    period: Duration | None = None
    """How often a rate-adaptive application chooses. Default: 1s."""


@dataclass(kw_only=True, slots=True)
class SizeTable(Keys):
    """A distribution of sizes: a Pareto distribution, a built-in one, or one from a file."""

    pareto: float | None = None
    """The shape of a Pareto distribution, above 1."""

    mean: Bytes | None = None
    """The mean of a Pareto distribution, without the bound."""

    bound: Bytes | None = None
    """The largest size of a Pareto distribution."""

    beyond: Beyond | None = None
    """What happens to a size above the bound of a Pareto distribution. Default: `resample`."""

    distribution: str | None = None
    """One of the distributions in `tresse list distributions`."""

    file: str | None = None
    """A file with lines `SIZE_IN_BYTES CUMULATIVE_PROBABILITY`; the path is relative to the experiment's
    folder.
    """


@dataclass(kw_only=True, slots=True)
class Exponential(Keys):
    """Exponentially distributed."""

    exponential: Duration


@dataclass(kw_only=True, slots=True)
class Lognormal(Keys):
    """Log-normally distributed, with sigma = 1."""

    lognormal: Duration


@dataclass(kw_only=True, slots=True)
class Flow(Keys):
    """A flow."""

    id: str | None = None
    """Its name in the `after` of other flows."""

    from_: Host
    """The sending host: its name, or its number."""

    to: Host
    """The receiving host."""

    size: Bytes | None = None
    """Its size. Default: it sends until it is stopped."""

    start: Duration | None = None
    """When it starts; with `after`, counted from the end of those flows. Default: 0s."""

    after: str | None = None
    """The flows that it waits for: their ids separated by spaces, or "2 of a b c"."""

    stop: Duration | None = None
    """When it is stopped if it has not finished, counted like `start`. Default: when the case ends."""

    deadline: Duration | None = None
    """Its deadline, counted from its start."""

    job: int | None = None
    """The number of the job that it belongs to, which ends when the last of its flows does."""

    name: str | None = None
    """The group of the results that it belongs to. Default: the workload's."""

    scheme: str | None = None
    """Its scheme. Default: the workload's, otherwise the case's."""

    subflows: int | None = None
    """How many subflows it has. Default: its scheme's number. Not for schemes whose path manager decides."""

    via: Sequence[Sequence[str]] | None = None
    """For each subflow, the nodes on its path, in this order, such as `[["DN1 in"], ["DN2 in"]]`. Default:
    any path. Only with fixed routes.
    """

    subflow_starts: Sequence[Duration] | None = None
    """For each subflow, when it is opened, counted from the start of the flow."""

    count: int | None = None
    """The number of identical flows. Default: 1."""

    application: Application | None = None
    """How its application writes. Default: all at once."""

    datagrams: Rate | None = None
    """Instead of a connection, datagrams with this payload rate, without congestion control."""


@dataclass(kw_only=True, slots=True)
class Until(Keys):
    """As many seeds as it takes until the interval of a metric is narrow enough in every case (`width`),
    or until every claim is decided (`until`).
    """

    width: float | None = None
    """The largest allowed half width of the 95 % confidence interval, as a share of the mean; above 0 and
    below 1.
    """

    until: Literal["decided"] | None = None
    """Instead of a width: until every claim is decided. Then only cases of undecided claims get more
    seeds.
    """

    of: CaseMetric | None = None
    """With `width`, the metric (`tresse explain metrics`). Default: "goodput_mean_bps"."""

    least: int | None = None
    """The number of seeds to begin with: 2 to 1000. Default: 3."""

    most: int | None = None
    """The maximum number of seeds, whether narrow and decided or not: `least` to 1000. Default: 20."""


@dataclass(kw_only=True, slots=True)
class Change(Keys):
    """A link that changes, in both directions at once, or a virtual NIC that is remapped."""

    at: Duration
    """When, from the start of each case and seed."""

    link: Sequence[str] | None = None
    """The names of the nodes at its ends, such as `["leaf 0", "spine 3"]`."""

    remap: Sequence[str] | None = None
    """Instead of a link: a virtual NIC and the bridge that it is mapped to from then on, such as `["vnic
    0.3.1", "bridge 0.1"]`. A bridge of another host means that its machine moves. Packets that wait for
    the virtual NIC are lost.
    """

    rate: Rate | None = None
    """Its rate from then on. A packet in transmission continues at the old rate."""

    failed: bool | None = None
    """Whether it fails (true) or comes back (false). Packets that wait for it or are on it when it fails
    are lost.
    """

    reroute_after: Duration | None = None
    """How long after that the switches further away learn of it. The two at its ends know at once.
    Default: never; for a remapping, at once.
    """


@dataclass(kw_only=True, slots=True)
class Transport(Keys):
    """A transport. `[transport]` applies to all schemes. A profile gives every key a value. Without a
    profile, these must be given: `mss`, `header`, `ack`, `initial_window`, `rto_min`, `rto_initial`,
    `rto_max`, `recovery`, `reduction`, `ack_every`, `ack_timer` and `quick_acks`; mechanisms of the other
    keys are then not simulated. A scheme's own `transport` has the keys in which it differs; with its own
    `profile`, nothing of `[transport]` applies to the scheme.
    """

    profile: HostProfile | None = None
    """Whose transport it is. Keys given next to it override its values (`tresse explain hosts`)."""

    mss: Bytes | None = None
    """Payload of a full segment."""

    header: Bytes | None = None
    """Headers of a data packet."""

    ack: Bytes | None = None
    """Size of an ACK."""

    initial_window: Packets | None = None
    """Initial window."""

    initial_ssthresh: Packets | None = None
    """The slow-start threshold of a new subflow. Default: unlimited."""

    rto_rule: Rto | None = None
    """How the retransmission timeout follows from the RTT: `rfc6298` or `linux`."""

    rto_min: Duration | None = None
    """The smallest retransmission timeout."""

    rto_initial: Duration | None = None
    """The timeout before the first RTT sample."""

    rto_max: Duration | None = None
    """The largest timeout."""

    timeout: TimeoutCut | None = None
    """What a timeout does to the window: `restart` with one packet, or the same `as-loss`."""

    recovery: Recovery | None = None
    """How losses are repaired."""

    reduction: Reduction | None = None
    """How the window is reduced after a congestion signal."""

    floor: Packets | None = None
    """The smallest window to which marks may cut, instead of the controller's own floor. Default: the
    controller's floor.
    """

    grow_in_cwr: bool | None = None
    """Whether the controller may raise the window even in the round after a cut for a mark, in which Linux
    keeps it constant; only with `reduction = "immediate"`.
    """

    ect_acks: bool | None = None
    """Whether ACKs are ECN-capable, as in Linux if the controller needs ECN: queues that drop what they
    cannot mark (`non_ect = "drop"`) let them in.
    """

    receive_window: Packets | None = None
    """The maximum number of segments in flight on a subflow: a constant receive window. Default:
    unlimited.
    """

    receive_buffer: Buffer2 | None = None
    """The receive buffer of a whole connection, in bytes of payload: new data may be in flight, on all
    subflows together, up to this much beyond the first data that is missing. Or "linux": it begins with 80
    KiB and grows with what arrives in a round trip, up to 3840 KiB, as with Linux's `tcp_rmem` of 128 KiB
    and 6 MiB; "linux 1MB" grows up to 1 MB. Default: unlimited.
    """

    blocked: Blocked | None = None
    """With `receive_buffer`: what the sender does while data on one subflow keeps the others from sending.
    Default: `wait`.
    """

    port_limit: Bytes | None = None
    """With `host_queue = "fq"`: a subflow waits when this much of its packets waits in its host's port, at
    least one packet. For TCP, what takes 1 ms at its pacing rate is enough, as in Linux.
    """

    ack_every: Packets | None = None
    """The receiver sends one ACK for this many packets."""

    ack_timer: Duration | None = None
    """The longest time until the receiver sends an ACK."""

    quick_acks: Packets | None = None
    """How many of the first segments of a subflow are ACKed one by one."""

    quick_acks_again: bool | None = None
    """Whether the same number is ACKed one by one again after a pause of more than `rto_min` and after a
    duplicate.
    """

    timer_slack: Duration | None = None
    """Added to the timeouts of RACK-TLP's probes and of its reordering window."""

    pacing: Switch | None = None
    """Whether a window is spread over the round trip, as in Linux: at 200 % of the window per round trip
    in slow start, at 120 % later.
    """

    tso: Packets | None = None
    """With pacing: the maximum number of segments in a burst."""

    gro: Packets | None = None
    """The maximum number of segments that the receiver's network card merges; `1pkt` turns it off."""

    gro_interval: Duration | None = None
    """The minimum time between two polls of the receiver's network card."""

    handshake: bool | None = None
    """Whether a subflow opens with a handshake, with packets of the size of an ACK: data waits one round
    trip for the first subflow's, and joining subflows then wait for theirs.
    """

    join: Join | None = None
    """With `handshake`: whether the other subflows join when the first is `established`, or at its
    `first-ack`.
    """

    stale_after: int | None = None
    """After this many timeouts in a row, the data in flight on a subflow is also sent on the others, and
    the subflow gets no new data until an ACK arrives for it; 0 turns this off.
    """

    scheduler: Scheduler | None = None
    """How the subflow that gets the next data is chosen (`tresse list schedulers`)."""

    send_segment: Bytes | None = None
    """With `scheduler = "linux"`: what a segment counts when a subflow's send buffer grows to two windows."""

    plb: Plb | None = None
    """Whether a subflow that stays congested changes the hash by which switches choose its path: `"on"`,
    `"off"`, or a table of PLB's parameters (`tresse explain plb`).
    """


@dataclass(kw_only=True, slots=True)
class Scheme(Keys):
    """A scheme: a controller, its parameters, and how many subflows."""

    controller: str | None = None
    """Its controller (`tresse list controllers`)."""

    preset: str | None = None
    """A row of HOLNET's design space instead of a controller (`tresse explain holnet`)."""

    detection: Detection | None = None
    """How a preset's hosts detect congestion. Default: from losses."""

    routing: Routing | None = None
    """How the paths of its packets are chosen. Default: `fabric.routing`."""

    subflows: Counts | None = None
    """The number of subflows, or several numbers: each is a case. Default: the default of `path_manager`,
    or 1 without one.
    """

    path_manager: PathManager | None = None
    """What opens and closes the subflows (`tresse list path-managers`). Default: `fixed`. `subflows` says
    how many, if the path manager takes a number; other path managers decide themselves.
    """

    balancer: HostBalancer | None = None
    """How the path of each packet is chosen, with `profile = "spray"` (`tresse list host-balancers`).
    Default: `"reps"`.
    """

    paths: int | None = None
    """How many paths the balancer picks among, with `profile = "spray"`: entropy values if switches hash,
    at most 4096. Default: 256, or all paths if routes are fixed.
    """

    parameters: Mapping[str, int] | None = None
    """Values for the controller's parameters."""

    utility: UserUtility | None = None
    """The utility of its users, instead of the parameter `weight` (THESIS (2.3), (2.9))."""

    ecn: bool | None = None
    """Whether packets are ECN-capable. Default: only if the controller needs it."""

    echo: Echo | None = None
    """How the receiver reports CE marks, if packets are ECN-capable. Default: `dctcp`."""

    class_: int | None = None
    """The class of its packets in `fabric.classes`, from 0. Default: the workload's."""

    axis: bool | None = None
    """Whether it is a value of the axis `scheme`. If not, it is used only where a workload names it.
    Default: true.
    """

    transport: Transport | None = None
    """The keys of `[transport]` in which this scheme differs (`tresse explain hosts`)."""


@dataclass(kw_only=True, slots=True)
class Name(Keys):
    """With values for some of its parameters."""

    name: str
    """Its name."""


@dataclass(kw_only=True, slots=True)
class UserUtility(Keys):
    """A user's utility, and the flow that it is weighed against."""

    points: Sequence[tuple[Rate, float]]
    """Rates and their utility, in any unit, with straight lines between them: from rate 0 to the rate
    beyond which more has no value.
    """

    base: Rate
    """The rate up to which a flow of weight 1 has the controller's own alpha-fair utility."""


@dataclass(kw_only=True, slots=True)
class Measure(Keys):
    """What to record and to show."""

    links: bool | None = None
    """`links.parquet`: bytes, drops, losses and marks of every port, by case and seed. Default: True."""

    samples: Duration | None = None
    """`samples.parquet`: what every subflow got in each interval of this length, by case and seed, and
    what the flow could have had; with `links` also `queues.parquet`, the state of ports in the same
    intervals. Default: no samples.
    """

    queues: Duration | None = None
    """How often the queue of every port is observed, for the metrics `queue_…` of the case and of its
    layers: every 1us to 1000s. Default: never.
    """

    rtt: bool | None = None
    """Whether the RTT of every ACK is recorded, for the metrics `rtt_…` of the case and of its groups.
    Default: False.
    """

    convergence: Convergence | None = None
    """`convergence.parquet`, and the metrics of convergence: how long every subflow took until its goodput
    stayed near its final mean, after its start and after every event. From `samples`; for runs with at
    most 64 flows.
    """

    recovery: GoodputRecovery | None = None
    """The metrics of recovery: after each change of links (`[[changes]]`), how long until the goodput is
    again what it was before. From `samples`.
    """

    packets: Packets2 | None = None
    """`packets.parquet`: every packet that the given hosts send or receive, by case and seed; `tresse
    export --format pcapng` makes a capture from it. Default: no packets.
    """

    windows: Mapping[str, Sequence[Duration]] | None = None
    """Windows of time, by name: start and end, such as `["12s", "20s"]`, counted from the start of the
    run. What every flow got in them, from `samples`, is reported next to the metrics of the whole run.
    """

    slices: Mapping[str, Slice] | None = None
    """Slices of the flows, by name: those of a group, a size and a distance at once, such as `{ group =
    "web", size = "up to 100kB" }`. Their metrics are named after them, such as `small-web.fct_p99_s`,
    wherever a metric is named.
    """

    table: Sequence[CaseMetric] | None = None
    """The metrics that the table of `tresse run` shows, one per column (`tresse explain metrics`).
    Default: completion times and slowdowns by size if flows come one by one; otherwise goodput next to the
    published numbers and the optimum, timeouts, and retransmissions.
    """


@dataclass(kw_only=True, slots=True)
class Convergence(Keys):
    """What it means to have converged."""

    within: float | None = None
    """How far the goodput may be from its final mean, as a share of the mean: above 0 and below 1.
    Default: 0.1.
    """

    for_: Duration | None = None
    """How long it has to stay there, 1us to 1000s. The final mean is taken over twice this time. Default:
    "1s".
    """


@dataclass(kw_only=True, slots=True)
class GoodputRecovery(Keys):
    """What it means to have recovered from a change of links."""

    share: float | None = None
    """The share of the former goodput that has to be there again: above 0, at most 1. Default: 0.9."""

    for_: Duration | None = None
    """How long it has to stay there, 1us to 1000s. The former goodput is the mean over as long before the
    change. Default: ten intervals of `samples`.
    """


@dataclass(kw_only=True, slots=True)
class Packets2(Keys):
    """Which packets are recorded."""

    hosts: Sequence[Host]
    """The hosts, by number or name: what they send and receive is recorded."""

    from_: Duration | None = None
    """When recording begins. Default: "0ps"."""

    to: Duration | None = None
    """When it ends. Default: at the end of the run."""

    limit: int | None = None
    """The maximum number of packets of a case and seed, 1 to 100000000: the first ones. A run with more
    packets says so. Default: 1000000.
    """


@dataclass(kw_only=True, slots=True)
class Slice(Keys):
    """Flows that have all of these properties."""

    group: str | None = None
    """Only this group: a part of the workload, a scheme of a mix such as `xmp-2`, or a group named in a
    list of flows.
    """

    size: Sizes | None = None
    """Only flows of these sizes: `up to 100kB`, `10kB to 1MB`, `above 1MB`."""

    distance: str | None = None
    """Only flows over this distance: `inner-rack`, `inter-rack` or `inter-pod`."""

    starts: Sequence[Duration] | None = None
    """Only flows that start in this window of time, from the start of the run: `["5ms", "20ms"]` leaves
    out a warm-up of 5 ms and the time after the arrivals.
    """


@dataclass(kw_only=True, slots=True)
class Variant(Keys):
    """What a variant changes: a table with the structure of the experiment, laid over it after the
    profile.
    """

    only: Sequence[str] | None = None
    """Which of its cases are run, as `--only` takes them, such as `["scheme=lia", "pattern=random"]`; all
    by default.
    """

    rest: Mapping[str, Any] | None = None
    """What else is in the table, in the shape of the experiment."""


@dataclass(kw_only=True, slots=True)
class Profiles(Keys):
    """What the profiles change: tables with the structure of the experiment."""

    quick: Mapping[str, Any] | None = None
    """For a first look: fewer flows, rounds or seconds. The file itself describes the full experiment."""


@dataclass(kw_only=True, slots=True)
class Published(Keys):
    """The published numbers."""

    source: str | None = None
    """Where they were published."""

    kind: Kind | None = None
    """What they were measured on. Default: "simulation"."""

    values: Sequence[PublishedValue] | None = None
    """The numbers, each for one case. A number that is given in several experiments of a paper, or for
    several variants, counts once.
    """


@dataclass(kw_only=True, slots=True)
class PublishedValue(Keys):
    """What was published for a case, or for a part of it: at most one of `group`, `distance`, `size` and
    `layer`.
    """

    scheme: str
    """The scheme."""

    subflows: int | None = None
    """The number of subflows, if the scheme has several."""

    pattern: str
    """The pattern."""

    variant: str | None = None
    """The variant, if there are any."""

    group: str | None = None
    """Only this group: a part of the workload, a scheme of a mix such as `xmp-2`, or a group named in a
    list of flows.
    """

    distance: str | None = None
    """Only flows over this distance: `inner-rack`, `inter-rack` or `inter-pod`."""

    size: str | None = None
    """Only flows in this size class, such as `up to 10kB` (`tresse explain measurement`)."""

    layer: str | None = None
    """Only the ports of this layer."""

    window: str | None = None
    """Only this window of time, defined in `[measure.windows]`; may be combined with a `group`."""

    subflow: int | None = None
    """Only this subflow, from 0, of the one flow in `group`, in the window."""

    goodput_mean: Rate | None = None
    """Mean goodput of the flows."""

    metrics: Mapping[str, float] | None = None
    """Other metrics, by name (`tresse explain metrics`)."""

    differs: str | None = None
    """Why ours is more than 20 % off, if it is: the mechanism, in one sentence."""


@dataclass(kw_only=True, slots=True)
class Claim(Keys):
    """A claim of the paper: a metric of cases, within bounds, compared with other cases, or in order. A
    claim has exactly one of the forms in `tresse explain claims`. A file may write several claims at once
    with `for_each`, and a claim about several cases with `for_all`.
    """

    id: str | None = None
    """A short name."""

    text: str | SameAs | None = None
    """The claim in words."""

    source: str | None = None
    """Where the paper says it."""

    reading_of: str | None = None
    """The claim that says the same sentence under another reading of what the paper leaves open: its id,
    or, for a claim of another experiment, as in `xmp/table1 xmp2-beats-lia2`.
    """

    metric: AnyMetric | Literal["jct_s"] | str | None = None
    """The metric to compare; `optimum.KEY` is a key of the case's `optimum`, and `jct_s` is for `jumps`."""

    left: Selector | None = None
    """The case to compare."""

    right: Selectors | None = None
    """What to compare it with: a case, or each of several cases."""

    ratio_above: float | str | None = None
    """The claim holds if left / right is above this."""

    ratio_below: float | str | None = None
    """And if it is below this."""

    excess: float | str | None = None
    """The claim holds if left is this share more than right, or less if it is negative, give or take
    `within`: an effect is judged by itself, not by a total of which it is a small part. Not 0.
    """

    within: float | str | None = None
    """With `excess`: the share of it by which ours may differ, above 0 and below 1. Default: 0.2."""

    difference_above: float | str | None = None
    """The claim holds if left - right is above this, in the metric's unit."""

    difference_below: float | str | None = None
    """And if it is below this."""

    of: Selectors | None = None
    """The cases, if the claim does not compare cases with each other."""

    above: float | str | None = None
    """The claim holds if the metric of each case is above this, in the metric's unit."""

    below: float | str | None = None
    """And if it is below this."""

    order: Order | None = None
    """The claim holds if the metric falls, or rises, from each case to the next."""

    slack: float | str | None = None
    """With `order`: a step may go the wrong way by less than this share of the larger value, from 0 to
    less than 0.5, if the last case is beyond the first.
    """

    jumps: Jumps | None = None
    """The claim holds if the job completion times have two jumps this far apart."""

    expected: Expected | None = None
    """The expected verdict. Default: `holds`."""

    because: str | SameAs | None = None
    """Why it is not expected to hold: the mechanism, and the evidence for it, in one sentence."""

    contradicts: str | SameAs | None = None
    """The proof that it contradicts its own paper, with the place in the paper. Such a claim is judged and
    shown, but counted separately.
    """

    at_least: int | str | None = None
    """With `for_all`: the claim holds if it holds in this many cases. Default: in all of them."""

    for_each: Mapping[str, Any] | Sequence[Any] | None = None
    """Lists of values for the placeholders `{name}` in this entry: one claim for each combination."""

    for_all: Mapping[str, Any] | Sequence[Any] | None = None
    """Lists as in `for_each`, but for a single claim, which holds if it holds for each combination."""

    each: Sequence[Claim] | None = None
    """Claims, each for every combination of `for_each`; they inherit the keys of this entry."""


@dataclass(kw_only=True, slots=True)
class SameAs(Keys):
    """`same_as` alone."""

    same_as: str
    """The id of the claim to take it from."""


@dataclass(kw_only=True, slots=True)
class Selector(Keys):
    """Cases, selected by their axes, and a part of each: at most one of `group`, `distance`, `size` and
    `layer`. Axes that are left out may have any value (`tresse explain claims`).
    """

    scheme: str | None = None
    """The scheme; may be left out if there is only one."""

    subflows: int | str | None = None
    """The number of subflows, if the scheme has several."""

    pattern: str | None = None
    """The pattern, if there are several."""

    variant: str | None = None
    """The variant, if there are any."""

    group: str | None = None
    """Only this group: a part of the workload, a scheme of a mix such as `xmp-2`, or a group named in a
    list of flows.
    """

    distance: str | None = None
    """Only flows over this distance: `inner-rack`, `inter-rack` or `inter-pod`."""

    size: str | None = None
    """Only flows in this size class, such as `up to 10kB` (`tresse explain measurement`)."""

    layer: str | None = None
    """Only the ports of this layer."""

    window: str | None = None
    """Only this window of time, defined in `[measure.windows]`; may be combined with a `group`."""

    subflow: int | str | None = None
    """Only this subflow, from 0, of the one flow in `group`, in the window."""


@dataclass(kw_only=True, slots=True)
class Jumps(Keys):
    """Two jumps of a distribution: its two most frequent classes, at least half of `apart` away from each
    other.
    """

    apart: Duration
    """How far apart they are."""

    within: Duration
    """The width of a class, and how far off the distance may be."""


@dataclass(kw_only=True, slots=True)
class ByProfile(Keys):
    """A verdict for each profile."""

    quick: Verdict
    """In the quick profile."""

    full: Verdict
    """In the full one."""


@dataclass(kw_only=True, slots=True)
class Figure(Keys):
    """A figure. What divides it (`x` of bars, `series`, `panels`) is a *dimension*. A dimension is an axis
    of the cases (`scheme`, with its number of subflows; `subflows`, `pattern`, `variant`, or a key with a
    list of values), or divides a case: `group`, `distance`, `size`, `layer`, `window`. `tresse explain
    figures` describes the charts.
    """

    id: str
    """Its name in the paper, such as `fig8`, or a name of your own; unique in the experiment."""

    title: str
    """What it shows, in one line."""

    caption: str | None = None
    """What a reader needs to know to understand it; follows the title in the caption."""

    chart: Chart
    """The kind of chart."""

    y: str | None = None
    """For `time`, `bars`, `matrix`, `lines`, `boxes` and `scatter`: the quantity on the y axis, or in the
    cells.
    """

    x: str | None = None
    """For `cdf`, a quantity; for `bars`, `matrix`, `boxes` and `lines`, a dimension; for `scatter`, a
    metric.
    """

    series: str | None = None
    """The dimension whose values each have a colour. Default: `scheme`; for `time`, the subflows."""

    panels: str | None = None
    """The dimension whose values each have a panel. Default: one panel; for `time`, one for all schemes."""

    where: Mapping[str, Any] | None = None
    """Which cases and parts it shows: the value of a dimension, or a list of them. Default: all."""

    log: Sequence[Direction] | None = None
    """The axes that are logarithmic."""

    x_range: Sequence[float] | None = None
    """The range of the x axis, in the unit at the end of the quantity's name. Default: the range of the
    data.
    """

    y_range: Sequence[float] | None = None
    """The same for the y axis."""

    published: Sequence[Point] | None = None
    """Points that the paper prints and that are not `[published]` values; they are shown next to ours."""


@dataclass(kw_only=True, slots=True)
class Point(Keys):
    """A point that a paper prints."""

    series: str
    """The series that it belongs to: a value of that dimension."""

    panel: str | None = None
    """The panel that it belongs to, if there are several."""

    x: Any
    """Its position: a number, or a value of the dimension."""

    y: float
    """Its value, in the unit of the figure's quantity."""


@dataclass(kw_only=True, slots=True)
class Experiment(Keys):
    """One experiment: a fabric, a transport, and the axes scheme, subflows, pattern and variant."""

    title: str | None = None
    """What it shows, in one line. Default: its file's name."""

    source: str | None = None
    """Where it comes from: the paper, and the place in it."""

    about: str | None = None
    """What a reader should know before running it."""

    rows: Sequence[str] | None = None
    """The tables and figures of the paper that it reproduces, such as `["table1", "fig8"]`; empty if none.
    Default: its file's name.
    """

    replications: Replications | None = None
    """How many seeds to run, unless the command line says otherwise. Default: 1."""

    fidelity: Fidelity | None = None
    """How closely the network is simulated. Default: "packets"."""

    fabric: Fabric
    """The network."""

    changes: Sequence[Change] | None = None
    """Links that change during a run."""

    transport: Transport
    """The transport of all schemes, unless they override it."""

    schemes: Mapping[str, Scheme]
    """The schemes to compare, by name."""

    workloads: Mapping[str, Workload]
    """The workloads, by name: the values of the axis `pattern`."""

    measure: Measure | None = None
    """What to record."""

    variants: Mapping[str, Variant] | None = None
    """The variants, by name: the values of the axis `variant`. If there are any, every case belongs to
    one.
    """

    profile: Profiles | None = None
    """What the profiles change."""

    published: Published | None = None
    """The published numbers."""

    claims: Sequence[Claim] | None = None
    """What the paper claims, checked against the results."""

    figures: Sequence[Figure] | None = None
    """The figures that its page shows."""


HostCpu: TypeAlias = str | Costs
"""What packets cost the cores of a host: a table, or the file that `tresse calibrate` has written,
relative to the experiment's folder.
"""

Workload: TypeAlias = (
    Parts | Permutation | RackToRack | Random | Jobs | Incast | Poisson | Spread | OnOff | Flows | Collective
    | Goal | Chakra
)
"""Who sends how much to whom, when (`tresse list workloads`): one pattern with its own keys, or several
`parts` at the same time.
"""

FlowSize: TypeAlias = Bytes | Sequence[Bytes] | SizeTable
"""The size of a flow."""

DrawTable: TypeAlias = Exponential | Lognormal
"""How times are drawn, by their mean."""

Replications: TypeAlias = int | Until

HostBalancer: TypeAlias = str | Name
"""A host balancer with values for some of its parameters (`tresse list host-balancers`)."""

Selectors: TypeAlias = Selector | Sequence[Selector]

Expected: TypeAlias = Verdict | ByProfile

Draw: TypeAlias = Duration | DrawTable
"""A time, or how times are drawn."""
