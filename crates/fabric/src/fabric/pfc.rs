//! Priority flow control (IEEE 802.1Qbb): a switch that holds too much data from a link pauses the port at
//! the link's other end.
//!
//! A switch counts, for each link into it, the bytes of packets that came over it and have not left the
//! switch again: those waiting in any port, and those in transmission. Above XOFF it sends a pause frame
//! back; at XON or below, it sends a frame that ends the pause. The paused port finishes its packet. Its last
//! class, which goes before all others, is neither paused nor counted. Frames say pause or continue, without
//! the timer of the standard, and take no time from packets.

use serde::{Deserialize, Serialize};
use tresse_units::{BitsPerSecond, NEVER, SECOND, Time};

use super::Fabric;
use crate::carried::Moving;

/// The size of a pause frame on the wire, bytes: the shortest possible frame.
pub const PAUSE_FRAME: u32 = 64;

/// A link under flow control: the port that sends on it leads to a switch, which may pause it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PfcConfig {
    /// The port that is paused.
    pub port: u32,
    /// The port of the same link in the other direction, over which the switch sends pause frames.
    pub twin: u32,
    /// The switch pauses the port when it holds more bytes from it than this.
    pub xoff: u64,
    /// It ends the pause when it holds no more bytes than this; at most `xoff`.
    pub xon: u64,
    /// The room beyond `xoff`, bytes: see [`headroom`].
    pub headroom: u64,
    /// From the arrival of a pause frame until the port obeys.
    pub reaction: Time,
}

/// The headroom of a link, bytes, so that nothing is lost: what may arrive after XOFF is exceeded.
///
/// As IEEE 802.1Q (annex on buffer requirements for PFC; Cisco's "D-…" terms; Guo et al., SIGCOMM 2016, §2)
/// sums it up: a packet that the switch has just begun to send before its pause frame, that frame, the
/// propagation there and back, the reaction, and a packet that the paused port has just begun. The standard's
/// interface delays are left out, because no port here has any. One more packet is added, the one that
/// exceeds XOFF, because a packet counts as a whole when it has arrived. With `packet` the bytes of the
/// largest packet and the rates of both directions,
///
/// ```text
/// rate x (delay + delay back + reaction + (packet + 64 B) / rate back) + 2 packets
/// ```
pub fn headroom(rate: BitsPerSecond, delays: Time, reaction: Time, back: BitsPerSecond, packet: u32) -> u64 {
    let waits = u128::from(packet + PAUSE_FRAME) * u128::from(8 * SECOND);
    let time = u128::from(delays) + u128::from(reaction) + waits.div_ceil(u128::from(back.max(1)));
    let bytes = (time * u128::from(rate)).div_ceil(u128::from(8 * SECOND));
    u64::try_from(bytes).unwrap_or(u64::MAX).saturating_add(2 * u64::from(packet))
}

/// The effects of flow control on a port.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PfcCounters {
    /// How often it was paused.
    pub pauses: u64,
    /// For how long, ps.
    pub paused: Time,
    /// Packets that it dropped because the headroom of the link over which they came was used up.
    pub overflows: u64,
}

/// Flow control on the links of a fabric.
#[derive(Debug)]
pub(super) struct Pfc {
    /// By port, the state that the switch at its far end keeps about it.
    pub links: Vec<Link>,
    /// By port.
    pub ports: Vec<PauseState>,
    /// By packet, the port that it left last, until it begins to leave the next one.
    came: Vec<u32>,
}

/// A switch's state of a link into it.
#[derive(Debug, Clone)]
pub(super) struct Link {
    pub twin: u32,
    pub xoff: u64,
    pub xon: u64,
    /// The most bytes that it holds.
    pub room: u64,
    pub reaction: Time,
    pub held: u64,
    /// The last frame said pause.
    pub stopped: bool,
    /// When the last frame has left.
    pub sent: Time,
    /// When it takes effect.
    pub heard: Time,
}

/// A port's own state.
#[derive(Debug, Clone)]
pub(super) struct PauseState {
    /// It belongs to a switch, and counts.
    pub counts: bool,
    /// The packet in transmission: where it came from, and its bytes.
    pub sending: Option<(u32, u32)>,
    /// When its pause began; [`NEVER`] if it is not paused.
    pub since: Time,
    /// Frames that arrive before then were on their way when the link failed.
    pub deaf_until: Time,
    pub counters: PfcCounters,
}

impl PauseState {
    /// It continues.
    pub fn end_pause(&mut self, now: Time) {
        self.counters.paused += now.saturating_sub(self.since);
        self.since = NEVER;
    }
}

impl Pfc {
    fn new(ports: usize, configs: &[PfcConfig]) -> Self {
        // No switch counts packets from a link without flow control.
        let none = Link {
            twin: u32::MAX,
            xoff: u64::MAX,
            xon: u64::MAX,
            room: u64::MAX,
            reaction: 0,
            held: 0,
            stopped: false,
            sent: 0,
            heard: 0,
        };
        let own = PauseState {
            counts: false,
            sending: None,
            since: NEVER,
            deaf_until: 0,
            counters: PfcCounters::default(),
        };
        let mut pfc = Self { links: vec![none; ports], ports: vec![own; ports], came: Vec::new() };
        for config in configs {
            let PfcConfig { port, twin, xoff, xon, headroom, reaction } = *config;
            assert!(xon <= xoff, "a pause ends at or below where it begins");
            let link = &mut pfc.links[port as usize];
            *link = Link { twin, xoff, xon, room: xoff.saturating_add(headroom), reaction, ..link.clone() };
            pfc.ports[twin as usize].counts = true;
        }
        pfc
    }

    /// The link over which a packet that enters `port` came, if its switch counts it.
    pub fn ingress(&self, port: u32, packet: &Moving) -> Option<u32> {
        // The last class is never paused.
        (self.ports[port as usize].counts && packet.carried.header.service() == 0)
            .then(|| self.came.get(packet.id as usize).copied())
            .flatten()
    }

    /// Whether the headroom is used up for a packet that enters `port`: it is counted then.
    pub fn refuses(&mut self, port: u32, packet: &Moving) -> bool {
        let Some(ingress) = self.ingress(port, packet) else { return false };
        let link = &self.links[ingress as usize];
        let refuses = link.held + u64::from(packet.carried.header.bytes()) > link.room;
        self.ports[port as usize].counters.overflows += u64::from(refuses);
        refuses
    }

    /// A packet begins to leave `port`.
    fn begin(&mut self, port: u32, packet: &Moving) {
        self.ports[port as usize].sending =
            self.ingress(port, packet).map(|from| (from, packet.carried.header.bytes().into()));
        self.place(packet.id, port);
    }

    /// The last port that a packet left is `port`.
    pub fn place(&mut self, id: u32, port: u32) {
        let id = id as usize;
        if id >= self.came.len() {
            self.came.resize(id + 1, u32::MAX);
        }
        self.came[id] = port;
    }
}

impl<P: Copy> Fabric<P> {
    /// Puts links under flow control. Their ports, and all of the switches that they lead to, are queued ones of two
    /// classes of which the last goes first.
    ///
    /// # Panics
    /// If one of them is not, or is in a shared buffer, or XON is above XOFF.
    #[must_use]
    pub fn with_pfc(mut self, configs: &[PfcConfig]) -> Self {
        assert!(self.sites.ports == 0, "ports that pause each other are of one site");
        for port in configs.iter().flat_map(|config| [config.port, config.twin]) {
            let queued = self.ports[port as usize].queued().expect("flow control needs queued ports");
            self.queued_ports[queued].obey();
        }
        self.pfc = Some(Box::new(Pfc::new(self.ports.len(), configs)));
        self
    }

    /// The effects of flow control on a port until now.
    pub fn pfc_counters(&self, port: u32) -> PfcCounters {
        let Some(pfc) = &self.pfc else { return PfcCounters::default() };
        let own = &pfc.ports[port as usize];
        let rest = self.now.saturating_sub(own.since);
        PfcCounters { paused: own.counters.paused + rest, ..own.counters }
    }

    /// Bytes from a port that the switch at its far end holds, for measurements.
    pub fn held(&self, port: u32) -> u64 {
        self.pfc.as_ref().map_or(0, |pfc| pfc.links[port as usize].held)
    }

    /// A queued port has let a packet in, which is in transmission at once if it has `begun`.
    pub(super) fn count_in(&mut self, port: u32, packet: &Moving, begun: bool) {
        let Some(pfc) = &mut self.pfc else { return };
        let ingress = pfc.ingress(port, packet);
        if begun {
            pfc.begin(port, packet);
        }
        let Some(ingress) = ingress else { return };
        let link = &mut pfc.links[ingress as usize];
        link.held += u64::from(packet.carried.header.bytes());
        if link.held > link.xoff && !link.stopped {
            self.send_frame(ingress, true);
        }
    }

    /// The packet in transmission has left a queued port.
    pub(super) fn count_out(&mut self, port: u32) {
        let Some(pfc) = &mut self.pfc else { return };
        if let Some((ingress, bytes)) = pfc.ports[port as usize].sending.take() {
            self.release(ingress, bytes);
        }
    }

    /// A packet begins to leave a queued port in which it has waited.
    pub(super) fn count_begin(&mut self, port: u32, packet: &Moving) {
        if let Some(pfc) = &mut self.pfc {
            pfc.begin(port, packet);
        }
    }

    /// The switch at the far end of `ingress` no longer holds these bytes, which came from there.
    pub(super) fn release(&mut self, ingress: u32, bytes: u32) {
        let Some(pfc) = &mut self.pfc else { return };
        let link = &mut pfc.links[ingress as usize];
        link.held -= u64::from(bytes);
        if link.stopped && link.held <= link.xon {
            self.send_frame(ingress, false);
        }
    }
}
