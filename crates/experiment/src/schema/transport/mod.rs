//! The keys of `[transport]`, and the transport made from them. A key has its field in [`Transport`], its values in
//! `VALUES`, and its use in [`Transport::config`].

mod check;
mod of_scheme;
mod values;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toml::Table;
use tresse_controllers as controllers;
use tresse_transport::{BufferRule, Config, DelayedAck, Echo, Gro, ReceiveBuffer};
use tresse_units::{Buffer, Bytes, Duration, Packets};

pub use values::{Blocked, Join, Plb, Recovery, Reduction, Rto, Scheduler, Switch, TimeoutCut};

/// The key that is wrong, and why.
type Wrong = (&'static str, String);

/// A transport. `[transport]` applies to all schemes. A profile gives every key a value. Without a profile, these
/// must be given: `mss`, `header`, `ack`, `initial_window`, `rto_min`, `rto_initial`, `rto_max`, `recovery`,
/// `reduction`, `ack_every`, `ack_timer` and `quick_acks`; mechanisms of the other keys are then not simulated. A
/// scheme's own `transport` has the keys in which it differs; with its own `profile`, nothing of `[transport]` applies to
/// the scheme.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Transport {
    /// Whose transport it is. Keys given next to it override its values (`tresse explain hosts`).
    pub profile: Option<HostProfile>,
    /// Payload of a full segment.
    pub mss: Option<Bytes>,
    /// Headers of a data packet.
    pub header: Option<Bytes>,
    /// Size of an ACK.
    pub ack: Option<Bytes>,
    /// Initial window.
    pub initial_window: Option<Packets>,
    /// The slow-start threshold of a new subflow. Default: unlimited.
    pub initial_ssthresh: Option<Packets>,
    /// How the retransmission timeout follows from the RTT: `rfc6298` or `linux`.
    pub rto_rule: Option<Rto>,
    /// The smallest retransmission timeout.
    pub rto_min: Option<Duration>,
    /// The timeout before the first RTT sample.
    pub rto_initial: Option<Duration>,
    /// The largest timeout.
    pub rto_max: Option<Duration>,
    /// What a timeout does to the window: `restart` with one packet, or the same `as-loss`.
    pub timeout: Option<TimeoutCut>,
    /// How losses are repaired.
    pub recovery: Option<Recovery>,
    /// How the window is reduced after a congestion signal.
    pub reduction: Option<Reduction>,
    /// The smallest window to which marks may cut, instead of the controller's own floor. Default: the controller's
    /// floor.
    pub floor: Option<Packets>,
    /// Whether the controller may raise the window even in the round after a cut for a mark, in which Linux keeps
    /// it constant; only with `reduction = "immediate"`.
    pub grow_in_cwr: Option<bool>,
    /// Whether ACKs are ECN-capable, as in Linux if the controller needs ECN: queues that drop what they cannot
    /// mark (`non_ect = "drop"`) let them in.
    pub ect_acks: Option<bool>,
    /// The maximum number of segments in flight on a subflow: a constant receive window. Default: unlimited.
    pub receive_window: Option<Packets>,
    /// The receive buffer of a whole connection, in bytes of payload: new data may be in flight, on all subflows together,
    /// up to this much beyond the first data that is missing. Or "linux": it begins with 80 KiB and grows with what arrives
    /// in a round trip, up to 3840 KiB, as with Linux's `tcp_rmem` of 128 KiB and 6 MiB; "linux 1MB" grows up to 1 MB.
    /// Default: unlimited.
    pub receive_buffer: Option<Buffer>,
    /// With `receive_buffer`: what the sender does while data on one subflow keeps the others from sending. Default:
    /// `wait`.
    pub blocked: Option<Blocked>,
    /// With `host_queue = "fq"`: a subflow waits when this much of its packets waits in its host's port, at least one
    /// packet. For TCP, what takes 1 ms at its pacing rate is enough, as in Linux.
    pub port_limit: Option<Bytes>,
    /// The receiver sends one ACK for this many packets.
    pub ack_every: Option<Packets>,
    /// The longest time until the receiver sends an ACK.
    pub ack_timer: Option<Duration>,
    /// How many of the first segments of a subflow are ACKed one by one.
    pub quick_acks: Option<Packets>,
    /// Whether the same number is ACKed one by one again after a pause of more than `rto_min` and after a
    /// duplicate.
    pub quick_acks_again: Option<bool>,
    /// Added to the timeouts of RACK-TLP's probes and of its reordering window.
    pub timer_slack: Option<Duration>,
    /// Whether a window is spread over the round trip, as in Linux: at 200 % of the window per round trip
    /// in slow start, at 120 % later.
    pub pacing: Option<Switch>,
    /// With pacing: the maximum number of segments in a burst.
    pub tso: Option<Packets>,
    /// The maximum number of segments that the receiver's network card merges; `1pkt` turns it off.
    pub gro: Option<Packets>,
    /// The minimum time between two polls of the receiver's network card.
    pub gro_interval: Option<Duration>,
    /// Whether a subflow opens with a handshake, with packets of the size of an ACK: data waits one round trip
    /// for the first subflow's, and joining subflows then wait for theirs.
    pub handshake: Option<bool>,
    /// With `handshake`: whether the other subflows join when the first is `established`, or at its `first-ack`.
    pub join: Option<Join>,
    /// After this many timeouts in a row, the data in flight on a subflow is also sent on the others, and the
    /// subflow gets no new data until an ACK arrives for it; 0 turns this off.
    pub stale_after: Option<u32>,
    /// How the subflow that gets the next data is chosen (`tresse list schedulers`).
    pub scheduler: Option<Scheduler>,
    /// With `scheduler = "linux"`: what a segment counts when a subflow's send buffer grows to two windows.
    pub send_segment: Option<Bytes>,
    /// Whether a subflow that stays congested changes the hash by which switches choose its path: `"on"`,
    /// `"off"`, or a table of PLB's parameters (`tresse explain plb`).
    pub plb: Option<Plb>,
}

/// A set of values for the transport's keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HostProfile {
    /// ns-3.14's TCP with XMP's RTOmin: NewReno, an initial window of one packet, two packets per ACK, immediate
    /// cuts.
    Ns3,
    /// ns-2's TCP with its own defaults, and SACK: an ACK for every packet, a receive window of 20 packets.
    Ns2,
    /// A Linux host with the fq qdisc: RACK-TLP, PRR, pacing, TSO and GRO.
    Linux,
    /// A network card that sprays packets over many paths, as in Ultra Ethernet; not TCP (`tresse explain spray`).
    Spray,
}

/// The values of keys that are not given.
const VALUES: &str = r#"
# With a profile that does not say otherwise, and without one: a key that is missing here must then be given.
[any]
grow_in_cwr = false
ect_acks = false
quick_acks_again = false
timer_slack = "0s"
pacing = "off"
tso = "44pkt"
gro = "1pkt"
gro_interval = "0s"
handshake = false
join = "established"
rto_rule = "rfc6298"
timeout = "restart"
stale_after = 0
scheduler = "lowest-rtt"
send_segment = "4352B"    # per_mss in tcp_sndbuf_expand, in a kernel as Debian builds it; 2304B if its headers are shorter
port_limit = "1MiB"       # Linux's tcp_limit_output_bytes

[ns3]
mss = "1460B"
header = "40B"
ack = "40B"
initial_window = "1pkt"
rto_min = "200ms"
rto_initial = "1s"
rto_max = "60s"
recovery = "newreno"
reduction = "immediate"
ack_every = "2pkt"
ack_timer = "40ms"
quick_acks = "16pkt"

[ns2]
# tcl/lib/ns-default.tcl of ns-2.3x: Agent/TCP and Agent/TCPSink.
mss = "1000B"             # packetSize_
header = "40B"            # tcpip_base_hdr_size_
ack = "40B"               # of the sink, packetSize_
initial_window = "2pkt"   # windowInit_, with windowInitOption_ 1
receive_window = "20pkt"  # window_
rto_min = "200ms"         # minrto_
rto_initial = "3s"        # rtxcur_init_
rto_max = "60s"           # maxrto_
recovery = "sack"         # of Tahoe, Reno, Newreno, Sack1 ... a script has to name one
reduction = "immediate"   # slowdown() in tcp.cc
ack_every = "1pkt"        # Agent/TCPSink; segsperack_ of FullTcp
ack_timer = "100ms"       # interval_ of the DelAck sinks
quick_acks = "0pkt"
handshake = true          # syn_ with delay_growth_: a packet of headers goes first, alone

[linux]
# Timestamps take 12 bytes of every segment (RFC 7323).
mss = "1448B"
header = "52B"
ack = "52B"
initial_window = "10pkt"
rto_rule = "linux"
rto_min = "200ms"
rto_initial = "1s"
rto_max = "120s"
recovery = "rack"
reduction = "prr"
ack_every = "2pkt"
ack_timer = "40ms"
quick_acks = "16pkt"
quick_acks_again = true
# Two ticks at 250 Hz.
timer_slack = "8ms"
pacing = "on"
# 64 kB, for both.
tso = "45pkt"
gro = "45pkt"
gro_interval = "50us"
handshake = true
join = "first-ack"
stale_after = 4

# A packet of 4150 bytes with a header of 64, an ACK for four packets, and a timer of at least 100 us: uet-htsim's.
# `recovery`, `reduction` and `quick_acks` are of TCP, and mean nothing.
[spray]
mss = "4086B"
header = "64B"
ack = "64B"
initial_window = "10pkt"
rto_min = "100us"
rto_initial = "1ms"
rto_max = "100ms"
recovery = "sack"
reduction = "immediate"
ack_every = "4pkt"
ack_timer = "20us"
quick_acks = "0pkt"
# A network card takes packets from memory as it sends them; eight, so that each of eight ports may have one.
port_limit = "33200B"
"#;

impl HostProfile {
    /// Whether its hosts have a queue for each subflow by default.
    pub(crate) fn has_fair_hosts(self) -> bool {
        matches!(self, Self::Linux | Self::Spray)
    }

    /// Its name in [`VALUES`].
    fn name(self) -> &'static str {
        match self {
            Self::Ns3 => "ns3",
            Self::Ns2 => "ns2",
            Self::Linux => "linux",
            Self::Spray => "spray",
        }
    }
}

impl Transport {
    /// The transport, except for what a scheme decides: ECN and its echo.
    ///
    /// # Errors
    /// The key that is wrong, and why.
    pub fn config(&self) -> Result<Config, Wrong> {
        let keys = self.with_values();
        macro_rules! value {
            ($key:ident) => {
                keys.$key.ok_or_else(|| (stringify!($key), MISSING.to_owned()))?
            };
        }
        // More than any packet has is refused below.
        let size = |bytes: Bytes| u32::try_from(bytes.0).unwrap_or(u32::MAX);
        let config = Config {
            mss: size(value!(mss)),
            header: size(value!(header)),
            ack: size(value!(ack)),
            initial_window: value!(initial_window).0,
            initial_ssthresh: keys.initial_ssthresh.map_or(controllers::INFINITE_SSTHRESH, |window| window.0),
            rto_rule: value!(rto_rule).into(),
            rto_min: value!(rto_min).0,
            rto_initial: value!(rto_initial).0,
            rto_max: value!(rto_max).0,
            timeout_cut: value!(timeout).into(),
            recovery: value!(recovery).into(),
            reduction: value!(reduction).into(),
            delayed_ack: DelayedAck {
                every: value!(ack_every).0,
                timer: value!(ack_timer).0,
                quick: value!(quick_acks).0,
                quick_again: value!(quick_acks_again),
            },
            floor: keys.floor.map(|floor| floor.0),
            grow_in_cwr: value!(grow_in_cwr),
            ect_acks: value!(ect_acks),
            receive_window: keys.receive_window.map_or(controllers::CWND_LIMIT - 1, |window| window.0),
            receive_buffer: keys.buffer()?,
            port_limit: value!(port_limit).0,
            timer_slack: value!(timer_slack).0,
            pacing: value!(pacing) == Switch::On,
            tso: value!(tso).0,
            gro: Gro { segments: value!(gro).0, interval: value!(gro_interval).0 },
            handshake: value!(handshake),
            join: value!(join).into(),
            stale_after: value!(stale_after),
            scheduler: value!(scheduler).into(),
            send_segment: value!(send_segment).0,
            plb: keys.plb.as_ref().map(Plb::of_transport).transpose().map_err(|e| ("plb", e))?.flatten(),
            ecn: false,
            echo: Echo::Dctcp,
        };
        check::check(&config, self.is_sprayed(None))?;
        Ok(config)
    }

    fn buffer(&self) -> Result<Option<ReceiveBuffer>, Wrong> {
        let Some(buffer) = self.receive_buffer else {
            return match self.blocked {
                None => Ok(None),
                Some(_) => Err((
                    "blocked",
                    "nothing is blocked without a receive_buffer: set it next to this".into(),
                )),
            };
        };
        let blocked = self.blocked.unwrap_or(Blocked::Wait).into();
        Ok(Some(match buffer {
            Buffer::Linux(most) => ReceiveBuffer::linux(most.map(|most| most.0), blocked),
            Buffer::Fixed(Bytes(bytes)) => ReceiveBuffer { bytes, rule: BufferRule::Fixed, blocked },
        }))
    }

    /// Whether packets are sprayed, for a scheme whose own keys are `own`.
    pub(crate) fn is_sprayed(&self, own: Option<&Self>) -> bool {
        own.and_then(|own| own.profile).or(self.profile) == Some(HostProfile::Spray)
    }

    /// The value of every key that has one, given explicitly or by the profile.
    pub(crate) fn values(&self) -> Table {
        self.with_values().table()
    }

    /// These keys, on top of the values of the profile.
    fn with_values(&self) -> Self {
        let values: BTreeMap<String, Self> = toml::from_str(VALUES).expect("the keys of a transport");
        let profile = self.profile.map(|profile| &values[profile.name()]);
        profile.map_or(self.clone(), |profile| self.over(profile)).over(&values["any"])
    }

    /// These keys, and those of `below` that are not among them.
    fn over(&self, below: &Self) -> Self {
        let mut keys = below.table();
        keys.extend(self.table());
        keys.try_into().expect("both are of a transport's keys")
    }

    /// The keys that are given.
    fn table(&self) -> Table {
        Table::try_from(self).expect("keys are plain data")
    }
}

/// The message for a required key that is missing.
const MISSING: &str = "it has no value\n\nhint: a profile has one for every key: profile = \"ns3\", \"ns2\", \"linux\" or \"spray\"";
