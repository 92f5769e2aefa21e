//! The network by rounds.

use tresse_fabric::{Histogram, PfcCounters};
use tresse_rounds::Rounds;
use tresse_sim::{Ahead, FlowRecord, FlowSpec, Mechanisms};
use tresse_units::{BitsPerSecond, MICROSECOND, Time};

use super::{Network, OpenSubflow, PortNow, SubflowNow};

/// A plan with what rounds cannot simulate is refused (`tresse_experiment::plan`).
const REFUSED: &str = "refused before the run";

impl Network for Rounds {
    fn now(&self) -> Time {
        self.now()
    }

    fn advance(&mut self, until: Time, budget: u64) -> Ahead {
        self.advance(until, budget).into()
    }

    fn start(&mut self, spec: FlowSpec) {
        self.start(spec);
    }

    fn start_lasting(&mut self, spec: FlowSpec) {
        self.start_lasting(spec);
    }

    fn append(&mut self, connection: u64, id: u64, bytes: u64) {
        self.append(connection, id, bytes);
    }

    fn start_unwritten(&mut self, _: FlowSpec) {
        unreachable!("{REFUSED}")
    }

    fn write(&mut self, _: u64, _: u64) {
        unreachable!("{REFUSED}")
    }

    fn start_datagrams(&mut self, _: FlowSpec) {
        unreachable!("{REFUSED}")
    }

    fn send_datagram(&mut self, _: u64, _: u32) {
        unreachable!("{REFUSED}")
    }

    fn stop(&mut self, id: u64) -> FlowRecord {
        self.stop(id)
    }

    fn delivered(&self, id: u64) -> u64 {
        self.delivered(id)
    }

    fn received(&self, _: u64) -> Option<u64> {
        None
    }

    fn subflows(&self, id: u64) -> Vec<SubflowNow> {
        let one = |s: tresse_rounds::SubflowState| SubflowNow {
            arrived: s.arrived,
            counters: s.counters,
            open: s.open.map(|own| OpenSubflow {
                cwnd: own.cwnd,
                srtt: (own.srtt > 0).then(|| u64::from(own.srtt) * (MICROSECOND / 8)),
                state: own.state,
            }),
            path: s.path.map(<[u32]>::to_vec),
        };
        self.subflows(id).into_iter().map(one).collect()
    }

    fn delivered_bytes(&self) -> u64 {
        self.delivered_bytes()
    }

    fn hops(&self) -> u64 {
        self.hops()
    }

    fn ports(&self) -> Vec<PortNow> {
        let one = |(rate, counters, busy)| PortNow { rate, counters, busy, pfc: PfcCounters::default() };
        self.links().into_iter().map(one).collect()
    }

    fn waiting(&self, port: u32) -> u64 {
        self.waiting(port)
    }

    fn mechanisms(&self) -> Mechanisms {
        self.mechanisms()
    }

    fn rtts(&self) -> Vec<Histogram> {
        self.rtts()
    }

    fn set_rate(&mut self, port: u32, rate: BitsPerSecond) {
        self.set_rate(port, rate);
    }

    fn set_link(&mut self, port: u32, up: bool) {
        self.set_link(port, up);
    }

    fn reroute(&mut self) {
        self.reroute();
    }
}
