//! A host as small as the contract of `controller.h` allows, for tests.
//!
//! Random events become hook calls *before* any controller sees them, so a controller and a model
//! of it can be given exactly the same calls. Rounds and the ends of reductions are drawn too, and
//! not derived from windows: this reaches more orders of events than any real host would.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use tresse_controllers::{Ack, CWND_LIMIT, Cause, Group, MAX_SUBFLOWS, State};

/// 5 us in 1/8 us: the RTT of two hosts below one switch.
pub const SHORTEST_RTT: u32 = 40;
/// 1 s in 1/8 us.
pub const LONGEST_RTT: u32 = 8_000_000;

/// What happens to one subflow.
#[derive(Debug, Clone, Copy)]
pub enum Event {
    /// An ACK arrives.
    Ack {
        /// Packets delivered.
        delivered: u32,
        /// How many of them were marked.
        marked: u32,
        /// The smoothed RTT from now on, 1/8 us; none = as before.
        rtt: Option<u32>,
        /// A round begins with it.
        new_round: bool,
        /// It ends a reduction, if there is one.
        ends_reduction: bool,
    },
    /// Three duplicate ACKs.
    Loss,
    /// The retransmission timer fires.
    Timeout,
    /// The test sets the window, to reach sizes to which growth alone would take too long.
    Window {
        /// The window, packets.
        cwnd: u32,
        /// The slow-start threshold, packets.
        ssthresh: u32,
    },
}

/// One call of a hook, with what the host shows to the controller at that moment.
#[derive(Debug, Clone, Copy)]
pub struct Call {
    /// The subflow.
    pub subflow: usize,
    /// Its smoothed RTT, 1/8 us.
    pub rtt: u32,
    /// Its state.
    pub state: State,
    /// The hook.
    pub hook: Hook,
}

/// A hook and its argument.
#[derive(Debug, Clone, Copy)]
pub enum Hook {
    /// `ack`
    Ack(Ack),
    /// `grow`
    Grow(Ack),
    /// `congestion`
    Congestion(Cause),
    /// `timeout`
    Timeout,
    /// No hook: the test sets window and threshold.
    Window(u32, u32),
}

/// The calls that a host makes when `events` happen to `count` subflows. Each subflow begins with
/// an unmarked ACK that starts a round, so that every one has an RTT and has told its siblings.
pub fn calls(count: usize, events: &[(usize, Event)]) -> Vec<Call> {
    let mut calls = Vec::new();
    let mut rtts = vec![SHORTEST_RTT; count];
    let mut states = vec![State::Open; count];
    let mut rounds = vec![false; count];
    let mut clocks = vec![0; count];
    let first = Event::Ack { delivered: 1, marked: 0, rtt: None, new_round: true, ends_reduction: false };
    let opening = (0..count).map(|i| (i, first));
    for (i, event) in opening.chain(events.iter().map(|&(i, event)| (i % count, event))) {
        let mut call = |rtt: u32, state: State, hook: Hook| calls.push(Call { subflow: i, rtt, state, hook });
        let state = &mut states[i];
        match event {
            Event::Ack { delivered, marked, rtt, new_round, ends_reduction } => {
                rtts[i] = rtt.unwrap_or(rtts[i]);
                rounds[i] |= new_round;
                // Eight ACKs an RTT.
                clocks[i] += u64::from(rtts[i]);
                let now = clocks[i] / 64;
                let ack = Ack { delivered, marked, rtt: rtts[i], new_round: new_round.into(), now };
                call(rtts[i], *state, Hook::Ack(ack));
                if ends_reduction {
                    *state = State::Open;
                }
                if marked > 0 && *state < State::Cwr {
                    call(rtts[i], *state, Hook::Congestion(Cause::Mark));
                    *state = State::Cwr;
                } else if !matches!(*state, State::Cwr | State::Recovery) {
                    let new_round = std::mem::take(&mut rounds[i]).into();
                    call(rtts[i], *state, Hook::Grow(Ack { new_round, ..ack }));
                }
            }
            Event::Loss => {
                if *state < State::Cwr {
                    call(rtts[i], *state, Hook::Congestion(Cause::Loss));
                }
                if *state <= State::Cwr {
                    *state = State::Recovery;
                }
            }
            Event::Timeout => {
                if *state != State::Loss {
                    call(rtts[i], *state, Hook::Congestion(Cause::Loss));
                }
                *state = State::Loss;
                call(rtts[i], *state, Hook::Timeout);
            }
            Event::Window { cwnd, ssthresh } => call(rtts[i], *state, Hook::Window(cwnd, ssthresh)),
        }
    }
    calls
}

/// Shows the subflow's state and RTT to the controller, as a host does before it makes `call`.
pub fn show(group: &mut Group, call: &Call) {
    let s = &mut group[call.subflow];
    s.state = call.state;
    s.srtt = call.rtt;
    s.min_rtt = if s.min_rtt == 0 { call.rtt } else { s.min_rtt.min(call.rtt) };
    s.in_flight = s.cwnd;
}

/// Makes `call` on `group`; what `congestion` returned, if it was asked.
pub fn make(group: &mut Group, call: &Call) -> Option<u32> {
    show(group, call);
    let i = call.subflow;
    match call.hook {
        Hook::Ack(ack) => group.ack(i, &ack),
        Hook::Grow(ack) => {
            group.grow(i, &ack);
            group[i].cwnd = group[i].cwnd.min(CWND_LIMIT - 1);
        }
        Hook::Congestion(cause) => {
            let window = group.congestion(i, cause)?;
            group[i].ssthresh = window;
            group[i].cwnd = group[i].cwnd.min(window);
            return Some(window);
        }
        Hook::Timeout => {
            group.timeout(i);
            group[i].cwnd = 1;
        }
        Hook::Window(cwnd, ssthresh) => {
            group[i].cwnd = cwnd;
            group[i].ssthresh = ssthresh;
        }
    }
    None
}

/// Up to `most` events, each for one of the subflows (its number is taken modulo their count).
pub fn events(most: usize) -> impl Strategy<Value = Vec<(usize, Event)>> {
    prop::collection::vec((0..MAX_SUBFLOWS, event()), 1..most)
}

/// Mostly unmarked ACKs, so that windows have time to grow between two cuts.
fn event() -> impl Strategy<Value = Event> {
    let ack = (
        1..=4u32,
        prop::option::weighted(0.1, 1..=4u32),
        prop::option::weighted(0.2, logarithmic(SHORTEST_RTT, LONGEST_RTT)),
        prop::bool::weighted(0.3),
        prop::bool::weighted(0.3),
    )
        .prop_map(|(delivered, marked, rtt, new_round, ends_reduction)| Event::Ack {
            delivered,
            marked: marked.unwrap_or(0).min(delivered),
            rtt,
            new_round,
            ends_reduction,
        });
    let window = (logarithmic(2, 100_000), logarithmic(2, 100_000))
        .prop_map(|(cwnd, ssthresh)| Event::Window { cwnd, ssthresh });
    prop_oneof![90 => ack, 2 => Just(Event::Loss), 1 => Just(Event::Timeout), 5 => window]
}

/// A whole number between `low` and `high`, each order of magnitude as likely as the others.
pub fn logarithmic(low: u32, high: u32) -> impl Strategy<Value = u32> {
    (f64::from(low).ln()..=f64::from(high).ln()).prop_map(move |x| (x.exp().round() as u32).clamp(low, high))
}

/// `cases` random cases, the same ones in every run unless `PROPTEST_RNG_SEED` asks for others.
pub fn config(cases: u32) -> ProptestConfig {
    let from_environment = ProptestConfig::default();
    let rng_seed = match from_environment.rng_seed {
        RngSeed::Random => RngSeed::Fixed(1),
        fixed => fixed,
    };
    ProptestConfig { cases, rng_seed, failure_persistence: None, ..from_environment }
}
