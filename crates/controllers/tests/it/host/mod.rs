//! A host as small as the contract of `controller.h` allows, for tests.
//!
//! Random events become hook calls, of which only whether a mark was ignored depends on the controller: so
//! a controller and a model of it can be given exactly the same calls. Rounds and the ends of reductions
//! are drawn too, and not derived from windows: this reaches more orders of events than any real host would.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use tresse_controllers::{Ack, CWND_LIMIT, Cause, Group, MAX_SUBFLOWS, State};

/// 5 us in 1/8 us: the RTT of two hosts below one switch.
pub const SHORTEST_RTT: u32 = 40;
/// 1 s in 1/8 us.
pub const LONGEST_RTT: u32 = 8_000_000;
/// The payload of a full packet at first, bytes.
const MSS: u32 = 1460;

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
        /// The payload of a full packet from now on, bytes; none = as before.
        mss: Option<u32>,
        /// The window, and not the application, is the limit.
        limited: bool,
        /// A round begins with it.
        new_round: bool,
        /// It ends a reduction, if there is one.
        ends_reduction: bool,
    },
    /// Three duplicate ACKs.
    Loss,
    /// A drop in the host's own queue.
    Local,
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
    /// The payload of its full packets, bytes.
    pub mss: u32,
    /// Its window, and not the application, is the limit.
    pub limited: bool,
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

/// The host's part of one subflow.
#[derive(Clone)]
struct Own {
    rtt: u32,
    mss: u32,
    limited: bool,
    state: State,
    /// A round has begun since the last `grow`.
    round: bool,
    clock: u64,
}

/// Makes the calls that a host makes when `events` happen to `count` subflows; `answered` makes a call and
/// says whether it was a congestion to which the controller answered with a window: an ignored mark is none.
/// Each subflow begins with an unmarked ACK that starts a round, so that every one has an RTT and has told
/// its siblings.
///
/// # Errors
/// The first of `answered`.
pub fn happen<E>(
    count: usize,
    events: &[(usize, Event)],
    mut answered: impl FnMut(&Call) -> Result<bool, E>,
) -> Result<(), E> {
    let new = Own { rtt: SHORTEST_RTT, mss: MSS, limited: true, state: State::Open, round: false, clock: 0 };
    let mut subflows = vec![new; count];
    let first = Event::Ack {
        delivered: 1,
        marked: 0,
        rtt: None,
        mss: None,
        limited: true,
        new_round: true,
        ends_reduction: false,
    };
    let opening = (0..count).map(|i| (i, first));
    for (i, event) in opening.chain(events.iter().map(|&(i, event)| (i % count, event))) {
        let own = &mut subflows[i];
        let mut call = |own: &Own, hook: Hook| {
            let &Own { rtt, mss, limited, state, .. } = own;
            answered(&Call { subflow: i, rtt, mss, limited, state, hook })
        };
        match event {
            Event::Ack { delivered, marked, rtt, mss, limited, new_round, ends_reduction } => {
                own.rtt = rtt.unwrap_or(own.rtt);
                own.mss = mss.unwrap_or(own.mss);
                own.limited = limited;
                own.round |= new_round;
                // Eight ACKs an RTT.
                own.clock += u64::from(own.rtt);
                let now = own.clock / 64;
                let ack = Ack { delivered, marked, rtt: own.rtt, new_round: new_round.into(), now };
                call(own, Hook::Ack(ack))?;
                if ends_reduction {
                    own.state = State::Open;
                }
                if marked > 0 && own.state < State::Cwr && call(own, Hook::Congestion(Cause::Mark))? {
                    own.state = State::Cwr;
                } else if limited && !matches!(own.state, State::Cwr | State::Recovery) {
                    let new_round = std::mem::take(&mut own.round).into();
                    call(own, Hook::Grow(Ack { new_round, ..ack }))?;
                }
            }
            Event::Loss => {
                if own.state < State::Cwr {
                    call(own, Hook::Congestion(Cause::Loss))?;
                }
                if own.state <= State::Cwr {
                    own.state = State::Recovery;
                }
            }
            Event::Local => {
                if own.state < State::Cwr && call(own, Hook::Congestion(Cause::Local))? {
                    own.state = State::Cwr;
                }
            }
            Event::Timeout => {
                if own.state != State::Loss {
                    call(own, Hook::Congestion(Cause::Loss))?;
                }
                own.state = State::Loss;
                call(own, Hook::Timeout)?;
            }
            Event::Window { cwnd, ssthresh } => {
                call(own, Hook::Window(cwnd, ssthresh))?;
            }
        }
    }
    Ok(())
}

/// The calls for controllers that ignore no mark: the same for each.
pub fn calls(count: usize, events: &[(usize, Event)]) -> Vec<Call> {
    let mut calls = Vec::new();
    let all_answered = |call: &Call| {
        calls.push(*call);
        Ok::<_, std::convert::Infallible>(true)
    };
    let Ok(()) = happen(count, events, all_answered);
    calls
}

/// Shows what the host knows of the subflow to the controller, as a host does before it makes `call`.
pub fn show(group: &mut Group, call: &Call) {
    let s = &mut group[call.subflow];
    s.state = call.state;
    s.srtt = call.rtt;
    s.mss = call.mss;
    s.cwnd_limited = call.limited.into();
    s.min_rtt = if s.min_rtt == 0 { call.rtt } else { s.min_rtt.min(call.rtt) };
    s.in_flight = if call.limited { s.cwnd } else { s.cwnd / 2 };
}

/// Makes `call` on `group`; what `congestion` returned, if it was asked and ignored no mark.
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
        // From IPv6's least MTU to a jumbo frame.
        prop::option::weighted(0.02, 1220..=8948u32),
        prop::bool::weighted(0.9),
        prop::bool::weighted(0.3),
        prop::bool::weighted(0.3),
    )
        .prop_map(|(delivered, marked, rtt, mss, limited, new_round, ends_reduction)| Event::Ack {
            delivered,
            marked: marked.unwrap_or(0).min(delivered),
            rtt,
            mss,
            limited,
            new_round,
            ends_reduction,
        });
    let window = (logarithmic(2, 100_000), logarithmic(2, 100_000))
        .prop_map(|(cwnd, ssthresh)| Event::Window { cwnd, ssthresh });
    prop_oneof![
        90 => ack,
        2 => Just(Event::Loss),
        1 => Just(Event::Local),
        1 => Just(Event::Timeout),
        5 => window,
    ]
}

/// A whole number between `low` and `high`, each order of magnitude as likely as the others.
pub fn logarithmic(low: u32, high: u32) -> impl Strategy<Value = u32> {
    (f64::from(low).ln()..=f64::from(high).ln()).prop_map(move |x| (x.exp().round() as u32).clamp(low, high))
}

/// `cases` random cases in `make test-all`, else a quarter of them; the same ones in every run unless `PROPTEST_RNG_SEED`
/// asks for others.
pub fn config(cases: u32) -> ProptestConfig {
    let cases = if std::env::var_os("TRESSE_TEST_ALL").is_some() { cases } else { cases / 4 };
    let from_environment = ProptestConfig::default();
    let rng_seed = match from_environment.rng_seed {
        RngSeed::Random => RngSeed::Fixed(1),
        fixed => fixed,
    };
    ProptestConfig { cases, rng_seed, failure_persistence: None, ..from_environment }
}
