//! The promises of every path manager, over random scripts; `Host` checks most of them after every call.

use proptest::prelude::*;
use tresse_path_manager::{Ack, Action, ConfiguredManager, Memory, Opening, PathChoice, Priority, Sent, all};
use tresse_units::{NEVER, Range, Time, Value, Whole};

use super::common::{Host, US};

#[derive(Debug, Clone)]
enum Step {
    Establish(usize),
    Gone(usize),
    Sent { subflow: usize, packets: u64, retransmissions: u64 },
    Acked { subflow: usize, outstanding: u64, marked: u64, srtt: Time },
    Timeout,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0usize..70).prop_map(Step::Establish),
        1 => (0usize..70).prop_map(Step::Gone),
        6 => (0usize..70, 0u64..30, 0u64..30).prop_map(|(subflow, packets, lost)| Step::Sent {
            subflow, packets, retransmissions: lost.min(packets),
        }),
        6 => (0usize..70, 0u64..3, 0u64..5, prop_oneof![Just(0), Just(Time::MAX), 1..1000 * US]).prop_map(
            |(subflow, outstanding, marked, srtt)| Step::Acked { subflow, outstanding, marked, srtt },
        ),
        1 => Just(Step::Timeout),
    ]
}

/// A path manager with values at the ends of their ranges, or their defaults.
fn any_scheme() -> impl Strategy<Value = ConfiguredManager> {
    (0..all().len(), prop::collection::vec(0u8..4, 8)).prop_map(|(which, picks)| {
        let declaration = &all()[which];
        let mut settings = vec![];
        for (p, pick) in declaration.parameters.iter().zip(picks) {
            let value = match (p.range, pick) {
                (Range::Whole(Whole { min, .. }), 0) => Value::Whole(min),
                (Range::Whole(Whole { max, .. }), 1) => Value::Whole(max),
                (Range::Choice(words), pick) => {
                    Value::Choice(words[usize::from(pick) % words.len()].to_owned())
                }
                (Range::List { min, max, .. }, _) => Value::List(vec![max, min]),
                (range, _) => range.default(),
            };
            settings.push((p.name, value));
        }
        ConfiguredManager::new(declaration, settings).expect("the values are in their ranges")
    })
}

fn any_opening() -> impl Strategy<Value = Opening> {
    let now = prop_oneof![Just(0), 0..SECOND, Just(NEVER / 2)];
    (now, 1u16..5, 1u16..5, 1u16..100, any::<u64>())
        .prop_map(|(now, locals, remotes, paths, stream)| Opening { now, locals, remotes, paths, stream })
}

const SECOND: Time = 1_000_000 * US;

type Script = Vec<(Time, Step)>;

fn play(scheme: &ConfiguredManager, opening: &Opening, script: &Script) -> Vec<(Time, Action)> {
    let mut memory = Memory::default();
    let mut host = Host::new(scheme, opening, &mut memory);
    let mut now = opening.now;
    for (wait, step) in script {
        now += wait;
        let own = |subflow: &usize| subflow % host.subflows.len();
        match step {
            Step::Establish(subflow) => {
                let subflow = own(subflow);
                host.establish(now, &mut memory, subflow);
            }
            Step::Gone(subflow) => {
                let subflow = own(subflow);
                host.gone(now, &mut memory, subflow);
            }
            &Step::Sent { subflow, packets, retransmissions } => {
                let subflow = own(&subflow);
                let new_bytes = (packets - retransmissions) * 1460;
                host.send(now, &mut memory, Sent { subflow, packets, retransmissions, new_bytes });
            }
            &Step::Acked { subflow, outstanding, marked, srtt } => {
                let subflow = own(&subflow);
                host.ack(now, &mut memory, Ack { subflow, outstanding, marked, srtt });
            }
            Step::Timeout => {
                host.timeout(now, &mut memory);
            }
        }
        // No subflow is both: one that is paused for its path is on a SLOW one.
        for s in host.subflows.iter().filter(|s| s.priority == Priority::Slow && !s.closed) {
            let slow = (0..opening.paths).filter(|&path| memory.is_slow(path));
            let paths: Vec<_> = slow.map(PathChoice::Port).collect();
            assert!(paths.contains(&s.path), "{s:?} rests on a FAST path");
        }
    }
    host.log
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn promises_hold_and_the_same_script_has_the_same_answers(
        scheme in any_scheme(),
        opening in any_opening(),
        script in prop::collection::vec((0..300 * US, step()), 0..80),
    ) {
        let log = play(&scheme, &opening, &script);
        prop_assert_eq!(play(&scheme, &opening, &script), log);
    }

    /// Events on closed subflows have no effect.
    #[test]
    fn a_connection_that_is_gone_stays_quiet(
        scheme in any_scheme(),
        opening in any_opening(),
        script in prop::collection::vec((0..300 * US, step()), 0..30),
    ) {
        let mut memory = Memory::default();
        let mut host = Host::connected(&scheme, &opening, &mut memory);
        for subflow in 0..host.subflows.len() {
            host.gone(opening.now, &mut memory, subflow);
        }
        let before = host.log.len();
        let mut now = opening.now;
        for (wait, step) in script {
            now += wait;
            match step {
                Step::Sent { packets, .. } => {
                    let sent = Sent { subflow: 0, packets, retransmissions: 0, new_bytes: 0 };
                    host.send(now, &mut memory, sent);
                }
                Step::Acked { marked, outstanding, srtt, .. } => {
                    host.ack(now, &mut memory, Ack { subflow: 0, outstanding, marked, srtt });
                }
                Step::Establish(_) => {
                    host.establish(now, &mut memory, 0);
                }
                Step::Gone(_) | Step::Timeout => {
                    host.timeout(now, &mut memory);
                }
            }
            prop_assert_eq!((host.log.len(), host.deadline()), (before, NEVER));
        }
    }
}
