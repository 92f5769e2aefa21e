//! Sprayed connections: their packets are divided over all paths, and their controller hears of the fate of every packet.
//!
//! There is one window over all paths. What is lost is sent again when a packet's own timer expires; until then it counts
//! as in flight, and the other packets go on. A batch's ACKs are reported in a few groups, of each the marked packets apart.

use std::collections::VecDeque;

use tresse_controllers::Report;
use tresse_transport::Config;
use tresse_transport::spray::Round;
use tresse_units::{MICROSECOND, Time};

use crate::connection::{Batch, Connection, Way};
use crate::events::Kind;
use crate::links::Links;
use crate::sending::Place;

/// The groups in which the ACKs of a batch are reported.
const GROUPS: u32 = 8;

/// What a sprayed connection knows.
#[derive(Debug)]
pub(crate) struct Sprayed {
    /// The round trip of a full packet on empty links, ns; the rate of the host's links, Mbit/s.
    base_rtt: u32,
    line_rate: u32,
    /// Where a round of the controller ends.
    round: Round,
    /// Bytes/us; 0: none.
    pace: u32,
    /// When it was last told something, ps.
    clock: Time,
    /// Lost packets, and when their timers expire.
    lost: VecDeque<(Time, u32)>,
}

impl Sprayed {
    /// On this way, before anything is sent.
    pub fn new(way: &Way, links: &Links, full: f64) -> Self {
        let rtt = way.empty(links, full) + way.base[1];
        let first = way.links.iter().enumerate().take_while(|(place, _)| way.hop(*place) == 0);
        let rate: u64 = first.map(|(_, &link)| links.record(link).nominal / 1_000_000).sum();
        Self {
            base_rtt: ((rtt / 1000.0) as u32).max(1),
            line_rate: u32::try_from(rate).unwrap_or(u32::MAX).max(1),
            round: Round::default(),
            pace: 0,
            clock: 0,
            lost: VecDeque::new(),
        }
    }

    /// The time between two packets that its pace leaves, ps.
    pub fn gap(&self, config: &Config) -> f64 {
        let bytes = f64::from(config.mss + config.header);
        if self.pace > 0 { bytes * MICROSECOND as f64 / f64::from(self.pace) } else { 0.0 }
    }

    fn nothing(&self, limited: bool) -> Report {
        Report {
            base_rtt: self.base_rtt,
            line_rate: self.line_rate,
            app_limited: (!limited).into(),
            now: self.clock / 1000,
            ..Report::default()
        }
    }
}

impl Connection {
    /// Its only subflow is open: the controller hears of the path.
    pub fn begin_spraying(&mut self, own: Sprayed) {
        let report = own.nothing(true);
        self.sprayed = Some(Box::new(own));
        if self.group.scheme().controller().reports() {
            let pace = self.group.report(0, &report, &[]);
            self.sprayed.as_mut().expect("it is sprayed").pace = pace;
        }
    }

    /// The controller hears of `report`, whose RTT is `rtt`, ps.
    fn steer(&mut self, report: &Report, rtt: f64) {
        let Some(own) = &mut self.sprayed else { return };
        let s = &mut self.subflows[0];
        let (sent, in_flight) = ((s.counters.sent + s.counters.retransmissions) as u32, s.in_flight);
        let una = sent.saturating_sub(in_flight);
        let eighths = |ps: f64| (ps * 8.0 / MICROSECOND as f64) as u32;
        let subflow = &mut self.group[0];
        subflow.srtt = eighths(s.rtt.smoothed).max(1);
        let least = if subflow.min_rtt == 0 { u32::MAX } else { subflow.min_rtt };
        subflow.min_rtt = if rtt > 0.0 { least.min(eighths(rtt).max(1)) } else { subflow.min_rtt };
        subflow.in_flight = in_flight;
        subflow.cwnd_limited = u8::from(report.app_limited == 0);
        if own.round.is_over(una) {
            s.counters.rounds += 1;
            s.counters.windows += u64::from(subflow.cwnd);
        }
        if self.group.scheme().controller().reports() {
            own.pace = self.group.report(0, report, &[]);
            own.round.begin_if_over(una, sent);
        } else {
            own.round.steer(report, eighths(rtt), [una, sent], &mut self.group, &mut s.counters);
        }
        self.group[0].cwnd = self.group[0].cwnd.min(self.config.receive_window);
    }
}

impl Place<'_> {
    /// The first ACK of a batch of a sprayed connection: its controller hears of all of it.
    pub fn hear_sprayed(&mut self, c: &mut Connection, batch: &Batch) {
        let (arrived, before) = (batch.packets - batch.lost, c.group[0].cwnd);
        if batch.lost > 0 {
            self.lose_sprayed(c, batch.lost);
        }
        let limited = c.subflows[0].limited;
        let marked: u32 = batch.marked.iter().sum::<u32>().min(arrived);
        let groups = arrived.min(GROUPS);
        for group in 0..groups {
            let part = |all: u32| all * (group + 1) / groups - all * group / groups;
            let (packets, marked) = (part(arrived), part(marked).min(part(arrived)));
            let place = (f64::from(group) + 0.5) / f64::from(groups);
            let rtt = batch.rtt + batch.growth * place;
            let heard = self.now + (batch.gap * f64::from(arrived) * place) as Time;
            for (delivered, marked) in [(packets - marked, 0), (marked, marked)] {
                if delivered == 0 {
                    continue;
                }
                let s = &mut c.subflows[0];
                s.in_flight -= delivered;
                s.rtt.sample(rtt);
                let Some(own) = &mut c.sprayed else { return };
                own.clock = own.clock.max(heard);
                let rate = c.wire * 8.0 / batch.gap.max(1.0) * 1e6;
                let report = Report {
                    delivered,
                    marked,
                    rtt: (rtt / 1000.0) as u32,
                    rate: rate as u32,
                    ..own.nothing(limited)
                };
                c.steer(&report, rtt);
            }
        }
        let s = &mut c.subflows[0];
        s.echo.cut = (1.0 - f64::from(c.group[0].cwnd) / f64::from(before)).max(0.0);
    }

    /// Packets of a batch were lost: they count as in flight until their timers expire.
    fn lose_sprayed(&mut self, c: &mut Connection, lost: u32) {
        let rto = self.timeout_after(c);
        let s = &c.subflows[0];
        let (due, timer) = ((s.last_sent + rto).max(self.now), s.repair.timer);
        if let Some(own) = &mut c.sprayed {
            own.lost.push_back((due, lost));
        }
        self.plan(c, due, Kind::Timeout(timer));
    }

    /// A timer of lost packets has expired, if it was not moved. Returns how many packets are sent.
    pub fn timeout_sprayed(&mut self, c: &mut Connection) -> u32 {
        let Some(own) = &mut c.sprayed else { return 0 };
        let mut lost = 0;
        while let Some(&(due, packets)) = own.lost.front()
            && due <= self.now
        {
            lost += packets;
            own.lost.pop_front();
        }
        if lost == 0 {
            return 0;
        }
        own.clock = own.clock.max(self.now);
        let s = &mut c.subflows[0];
        s.counters.timeouts += 1;
        s.repair.backoff += 1;
        s.repair.resend += lost;
        s.in_flight -= lost;
        s.leaving.gap = 0.0;
        let report = Report { lost, ..own.nothing(s.limited) };
        c.steer(&report, 0.0);
        self.send(c)
    }
}
