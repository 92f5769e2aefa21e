//! What an experiment says of its hosts, and the transport that comes of it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tresse_controllers as controllers;
use tresse_transport as transport;
use tresse_transport::{Config, DelayedAck, Echo, Gro};
use tresse_units::{Bytes, Duration, MICROSECOND, MILLISECOND, Packets, SECOND};

use crate::keys::bounds::LONGEST;
use crate::keys::declared;

/// A transport. In `[transport]` it is that of all schemes: a profile gives every key a value; without one,
/// the keys from `mss` to `quick_acks` have to be there, and what the others describe is not simulated. In a
/// scheme it is what differs from that.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Transport {
    /// Whose transport; every key that is there too, or in `[transport]`, comes before it
    /// (`tresse explain hosts`).
    pub profile: Option<HostProfile>,
    /// Payload of a full segment.
    pub mss: Option<Bytes>,
    /// Headers of a data packet.
    pub header: Option<Bytes>,
    /// Size of an ACK.
    pub ack: Option<Bytes>,
    /// Initial window.
    pub initial_window: Option<Packets>,
    /// The smallest retransmission timeout.
    pub rto_min: Option<Duration>,
    /// The timeout before the first RTT sample.
    pub rto_initial: Option<Duration>,
    /// The largest timeout.
    pub rto_max: Option<Duration>,
    /// How losses are repaired.
    pub recovery: Option<Recovery>,
    /// How the window goes down after a congestion signal.
    pub reduction: Option<Reduction>,
    /// What marks may cut a window to, where the controller's own floor is higher.
    pub floor: Option<Packets>,
    /// Whether the controller may raise the window in the round after a cut for a mark too, in which Linux holds
    /// it; with `reduction = "immediate"` only.
    pub grow_in_cwr: Option<bool>,
    /// Whether ACKs are ECN-capable, as Linux's are where the controller needs ECN: queues that drop what they cannot
    /// mark (`non_ect = "drop"`) let them in.
    pub ect_acks: Option<bool>,
    /// The most segments in flight on a subflow: a receive window that does not change. No limit if it is not said.
    pub receive_window: Option<Packets>,
    /// An ACK for this many packets.
    pub ack_every: Option<Packets>,
    /// Or after this long.
    pub ack_timer: Option<Duration>,
    /// The first segments of a subflow, which are ACKed one by one.
    pub quick_acks: Option<Packets>,
    /// As many again after a pause of more than `rto_min` and after a duplicate.
    pub quick_acks_again: Option<bool>,
    /// Added to the timeouts of RACK-TLP's probes and of its reordering window.
    pub timer_slack: Option<Duration>,
    /// Whether a window is spread over the round trip, as Linux does it: at 200 % of the window a round trip
    /// in slow start, at 120 % later.
    pub pacing: Option<Switch>,
    /// With pacing: the most segments in a burst.
    pub tso: Option<Packets>,
    /// The most segments that the receiver's network card merges; `1pkt` turns it off.
    pub gro: Option<Packets>,
    /// The least time between two polls of the receiver's network card.
    pub gro_interval: Option<Duration>,
    /// Whether a subflow opens with a handshake, of packets of the size of an ACK: data waits a round trip
    /// for the first one's, and joining subflows wait for theirs after that.
    pub handshake: Option<bool>,
    /// After so many timeouts in a row what is in flight on a subflow is sent on the others too, and it gets no
    /// new data until it is heard of again; 0 turns this off.
    pub stale_after: Option<u32>,
    /// On which of several subflows with room the next data goes (`tresse list schedulers`).
    pub scheduler: Option<Scheduler>,
    /// Whether a subflow that stays congested changes the hash by which switches choose its path: `"on"`,
    /// `"off"`, or a table of PLB's parameters (`tresse explain plb`).
    pub plb: Option<Plb>,
}

/// A set of values for the transport's keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HostProfile {
    /// ns-3.14's TCP as XMP's experiments set it: NewReno, an initial window of one packet, cuts at once.
    Ns3,
    /// A Linux host with the fq qdisc: RACK-TLP, PRR, pacing, TSO and GRO.
    Linux,
}

/// How losses are repaired.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Recovery {
    /// No fast retransmit: every loss waits for the timeout.
    GoBackN,
    /// Reno (RFC 5681): the first ACK of new data ends a recovery; a second loss in the window often
    /// needs a timeout.
    Reno,
    /// NewReno (RFC 6582): duplicate ACKs only.
    Newreno,
    /// SACK (RFC 6675), paced by PRR.
    Sack,
    /// RACK-TLP (RFC 8985) on SACK, paced by PRR: losses by time, probes before the timeout.
    Rack,
}

/// How the window goes down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reduction {
    /// At once.
    Immediate,
    /// Over a round, by proportional rate reduction (RFC 6937).
    Prr,
}

/// Where the next data goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Scheduler {
    /// On the subflow with the lowest smoothed RTT.
    LowestRtt,
    /// On the next subflow in turn.
    RoundRobin,
}

/// Whether and how a subflow changes its hash.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "\"on\", \"off\", or a table such as { rehash_rounds = 6 }")]
pub enum Plb {
    /// With Linux's parameters, or not at all.
    Switch(Switch),
    /// With these values for some of its parameters.
    Parameters(
        #[schemars(with = "serde_json::Map<String, serde_json::Value>")] BTreeMap<String, toml::Value>,
    ),
}

/// Whether something is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Switch {
    /// It is not.
    Off,
    /// It is.
    On,
}

impl HostProfile {
    /// The transport, but for what a scheme decides.
    fn config(self) -> Config {
        match self {
            Self::Ns3 => Config {
                mss: 1460,
                header: 40,
                ack: 40,
                handshake: false,
                stale_after: 0,
                initial_window: 1,
                rto_min: 200 * MILLISECOND,
                rto_initial: SECOND,
                rto_max: 60 * SECOND,
                timer_slack: 0,
                recovery: transport::Recovery::NewReno,
                reduction: transport::Reduction::Immediate,
                floor: None,
                grow_in_cwr: false,
                receive_window: controllers::CWND_LIMIT - 1,
                scheduler: transport::Scheduler::LowestRtt,
                ecn: false,
                ect_acks: false,
                echo: Echo::Dctcp,
                pacing: false,
                tso: 44,
                plb: None,
                delayed_ack: DelayedAck { every: 2, timer: 40 * MILLISECOND, quick: 16, quick_again: false },
                gro: Gro::OFF,
            },
            Self::Linux => Config {
                // Timestamps take 12 bytes of every segment (RFC 7323).
                mss: 1448,
                header: 52,
                ack: 52,
                handshake: true,
                stale_after: 4,
                initial_window: 10,
                rto_max: 120 * SECOND,
                // Two ticks at 250 Hz.
                timer_slack: 8 * MILLISECOND,
                recovery: transport::Recovery::Rack,
                reduction: transport::Reduction::Prr,
                pacing: true,
                // 64 kB, for both.
                tso: 45,
                gro: Gro { segments: 45, interval: 50 * MICROSECOND },
                delayed_ack: DelayedAck { quick_again: true, ..Self::Ns3.config().delayed_ack },
                ..Self::Ns3.config()
            },
        }
    }
}

/// The size that is given or the profile's; none if no packet can have it.
fn size(given: Option<Bytes>, base: u32) -> Option<u32> {
    u32::try_from(given.map_or(u64::from(base), |b| b.0)).ok().filter(|&bytes| bytes <= 65_535)
}

impl Transport {
    /// The transport, but for what a scheme decides: ECN and its echo.
    ///
    /// # Errors
    /// The key that is wrong, and why.
    pub fn config(&self) -> Result<Config, (&'static str, String)> {
        if self.profile.is_none() {
            self.check_that_all_is_there()?;
        }
        let base = self.profile.unwrap_or(HostProfile::Ns3).config();
        let packet = || ("mss", "a packet has 1 to 65535 bytes, headers included".to_owned());
        let time = |given: Option<Duration>, base| given.map_or(base, |d| d.0);
        let count = |given: Option<Packets>, base| given.map_or(base, |n| n.0);
        let config = Config {
            mss: size(self.mss, base.mss).filter(|&bytes| bytes > 0).ok_or_else(packet)?,
            header: size(self.header, base.header).ok_or_else(packet)?,
            ack: size(self.ack, base.ack)
                .filter(|&bytes| bytes > 0)
                .ok_or_else(|| ("ack", "an ACK has 1 to 65535 bytes".to_owned()))?,
            initial_window: count(self.initial_window, base.initial_window),
            rto_min: time(self.rto_min, base.rto_min),
            rto_initial: time(self.rto_initial, base.rto_initial),
            rto_max: time(self.rto_max, base.rto_max),
            timer_slack: time(self.timer_slack, base.timer_slack),
            recovery: self.recovery.map_or(base.recovery, Recovery::of_transport),
            reduction: self.reduction.map_or(base.reduction, Reduction::of_transport),
            floor: self.floor.map(|floor| floor.0).or(base.floor),
            grow_in_cwr: self.grow_in_cwr.unwrap_or(base.grow_in_cwr),
            ect_acks: self.ect_acks.unwrap_or(base.ect_acks),
            receive_window: count(self.receive_window, base.receive_window),
            handshake: self.handshake.unwrap_or(base.handshake),
            stale_after: self.stale_after.unwrap_or(base.stale_after),
            scheduler: self.scheduler.map_or(base.scheduler, Scheduler::of_transport),
            plb: self.plb.as_ref().map(Plb::of_transport).transpose().map_err(|e| ("plb", e))?.flatten(),
            pacing: self.pacing.map_or(base.pacing, |p| p == Switch::On),
            tso: count(self.tso, base.tso),
            delayed_ack: DelayedAck {
                every: count(self.ack_every, base.delayed_ack.every),
                timer: time(self.ack_timer, base.delayed_ack.timer),
                quick: count(self.quick_acks, base.delayed_ack.quick),
                quick_again: self.quick_acks_again.unwrap_or(base.delayed_ack.quick_again),
            },
            gro: Gro {
                segments: count(self.gro, base.gro.segments),
                interval: time(self.gro_interval, base.gro.interval),
            },
            ..base
        };
        check(&config)?;
        Ok(config)
    }

    fn check_that_all_is_there(&self) -> Result<(), (&'static str, String)> {
        let keys = [
            ("mss", self.mss.is_some()),
            ("header", self.header.is_some()),
            ("ack", self.ack.is_some()),
            ("initial_window", self.initial_window.is_some()),
            ("rto_min", self.rto_min.is_some()),
            ("rto_initial", self.rto_initial.is_some()),
            ("rto_max", self.rto_max.is_some()),
            ("recovery", self.recovery.is_some()),
            ("reduction", self.reduction.is_some()),
            ("ack_every", self.ack_every.is_some()),
            ("ack_timer", self.ack_timer.is_some()),
            ("quick_acks", self.quick_acks.is_some()),
        ];
        match keys.iter().find(|(_, there)| !there) {
            Some(&(key, _)) => Err((
                key,
                "it has no value\n\nhint: a profile has one for every key: profile = \"ns3\" or \"linux\""
                    .into(),
            )),
            None => Ok(()),
        }
    }
}

fn check(config: &Config) -> Result<(), (&'static str, String)> {
    if config.mss + config.header > 65_535 {
        return Err(("mss", "a packet has 1 to 65535 bytes, headers included".into()));
    }
    if config.initial_window == 0 || config.initial_window >= controllers::CWND_LIMIT {
        return Err(("initial_window", format!("1 to {} packets", controllers::CWND_LIMIT - 1)));
    }
    if config.floor == Some(0) {
        return Err(("floor", "at least 1 packet".into()));
    }
    if config.receive_window < config.initial_window || config.receive_window >= controllers::CWND_LIMIT {
        let most = controllers::CWND_LIMIT - 1;
        return Err(("receive_window", format!("at least initial_window and at most {most} packets")));
    }
    if config.grow_in_cwr && config.reduction == transport::Reduction::Prr {
        return Err((
            "grow_in_cwr",
            "PRR decides the window in that round: reduction = \"immediate\"".into(),
        ));
    }
    for (key, timeout) in [("rto_min", config.rto_min), ("rto_initial", config.rto_initial)] {
        if timeout == 0 || timeout > config.rto_max {
            let timeout = Duration(timeout);
            return Err((key, format!("{timeout}: a timeout is above 0 and not above rto_max")));
        }
    }
    if config.rto_max > LONGEST {
        return Err(("rto_max", "at most 1000s".into()));
    }
    if config.delayed_ack.every == 0 {
        return Err(("ack_every", "an ACK for at least 1 packet".into()));
    }
    if config.delayed_ack.timer == 0 || config.delayed_ack.timer > LONGEST {
        return Err(("ack_timer", "above 0 and at most 1000s".into()));
    }
    if config.timer_slack > LONGEST {
        return Err(("timer_slack", "at most 1000s".into()));
    }
    for (key, segments) in [("tso", config.tso), ("gro", config.gro.segments)] {
        if segments == 0 {
            return Err((key, "at least 1pkt, which turns it off".into()));
        }
    }
    if config.gro.interval > LONGEST {
        return Err(("gro_interval", "at most 1000s".into()));
    }
    Ok(())
}

impl Recovery {
    fn of_transport(self) -> transport::Recovery {
        match self {
            Self::GoBackN => transport::Recovery::GoBackN,
            Self::Reno => transport::Recovery::Reno,
            Self::Newreno => transport::Recovery::NewReno,
            Self::Sack => transport::Recovery::Sack,
            Self::Rack => transport::Recovery::Rack,
        }
    }
}

impl Scheduler {
    fn of_transport(self) -> transport::Scheduler {
        match self {
            Self::LowestRtt => transport::Scheduler::LowestRtt,
            Self::RoundRobin => transport::Scheduler::RoundRobin,
        }
    }
}

impl Plb {
    /// The simulator gives each connection a seed.
    fn of_transport(&self) -> Result<Option<transport::Plb>, String> {
        let settings = match self {
            Self::Switch(Switch::Off) => return Ok(None),
            Self::Switch(Switch::On) => &BTreeMap::new(),
            Self::Parameters(settings) => settings,
        };
        let declaration = tresse_fabric::balancers::find("plb").expect("it is declared");
        let values = declared::values(declaration.name, declaration.parameters, settings).map_err(|(_, e)| e)?;
        let whole = |name| values.whole(name) as u32;
        Ok(Some(transport::Plb {
            cong_thresh: whole("cong_thresh"),
            rehash_rounds: whole("rehash_rounds"),
            idle_rehash_rounds: whole("idle_rehash_rounds"),
            suspend: values.whole("suspend_rto") * SECOND,
            seed: 0,
        }))
    }
}

impl Reduction {
    fn of_transport(self) -> transport::Reduction {
        match self {
            Self::Immediate => transport::Reduction::Immediate,
            Self::Prr => transport::Reduction::Prr,
        }
    }
}
