//! The same script, the same windows: the eBPF build against the native one, line by line.

use std::sync::Arc;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestRunner};
use tresse_controllers::ConfiguredController;
use tresse_controllers::check::random_settings;
use tresse_controllers::trace::{Event, Script, play};
use tresse_linux::trace::Player;

use super::{controllers, kernel_is_here, scheme};

/// Random scripts for each controller.
const SCRIPTS: u32 = 1000;

/// Random scripts for each end of each parameter's range, and for each random combination of all.
const SCRIPTS_AT_ENDS: u32 = 30;

/// Whether `make test-all` asks.
fn all() -> bool {
    std::env::var_os("TRESSE_TEST_ALL").is_some()
}

/// So many of them; a tenth, unless it is `make test-all` that asks.
fn some(scripts: u32) -> u32 {
    if all() { scripts } else { scripts / 10 }
}

/// From a few packets to many, evenly over the magnitudes.
fn magnitude(largest_bits: u32) -> impl Strategy<Value = u32> {
    (0..largest_bits).prop_flat_map(|bits| (1u32 << bits)..(2u32 << bits))
}

/// How many of an ACK's `packets` are marked: mostly none, so that windows can grow; or some; or all.
fn marked(packets: u32) -> impl Strategy<Value = u32> {
    prop_oneof![16 => Just(0), 1 => 1..=packets, 1 => Just(packets)]
}

/// The subflow is drawn from 64 and folded into the existing ones.
fn event() -> impl Strategy<Value = Event> {
    let subflow = 0..64usize;
    prop_oneof![
        24 => (
            magnitude(12).prop_flat_map(|packets| (Just(packets), marked(packets))),
            proptest::option::weighted(0.3, magnitude(26)),
            proptest::bool::weighted(0.95),
            subflow.clone(),
        )
            .prop_map(|((packets, marked), rtt, limited, subflow)| {
                Event::Ack { packets, marked, rtt, limited, subflow }
            }),
        1 => (magnitude(19), proptest::option::of(magnitude(19)), subflow.clone())
            .prop_map(|(cwnd, ssthresh, subflow)| Event::Window { cwnd, ssthresh, subflow }),
        2 => subflow.clone().prop_map(|subflow| Event::Loss { subflow }),
        2 => subflow.clone().prop_map(|subflow| Event::Timeout { subflow }),
        2 => subflow.clone().prop_map(|subflow| Event::Local { subflow }),
        2 => (any::<bool>(), subflow.clone())
            .prop_map(|(congested, subflow)| Event::NextHop { congested, subflow }),
        2 => (magnitude(24), subflow).prop_map(|(us, subflow)| Event::Wait { us: us.into(), subflow }),
    ]
}

fn script() -> impl Strategy<Value = (Script, u32)> {
    let count = prop_oneof![4 => 1..=8usize, 1 => 9..=64usize];
    (count, vec(event(), 1..80), magnitude(19)).prop_map(|(count, mut events, initial_window)| {
        for event in &mut events {
            *event = event.on(event.subflow() % count);
        }
        (Script { subflows: count, events }, initial_window)
    })
}

/// Plays `scripts` random scripts in both hosts. Returns how many steps differed from the one before, to show
/// that the scripts had an effect.
fn compare(scheme: ConfiguredController, scripts: u32) -> usize {
    let name = scheme.controller().name();
    let mut player = Player::new(&scheme).expect("the verifier takes it");
    let scheme = Arc::new(scheme);
    let moves = std::cell::Cell::new(0);
    let config = Config {
        cases: scripts,
        rng_seed: RngSeed::Fixed(7),
        failure_persistence: None,
        ..Config::default()
    };
    let player = std::cell::RefCell::new(&mut player);
    TestRunner::new(config)
        .run(&script(), |(script, initial_window)| {
            let native = play(scheme.clone(), &script, initial_window);
            let kernel = player.borrow_mut().play(&script, initial_window);
            moves.set(moves.get() + native.windows(2).filter(|w| w[0].cwnd != w[1].cwnd).count());
            prop_assert_eq!(native, kernel);
            Ok(())
        })
        .unwrap_or_else(|error| panic!("{name}: {error}"));
    moves.get()
}

#[test]
fn both_builds_of_every_controller_agree() {
    if !kernel_is_here() {
        return;
    }
    on_two_threads(controllers(), |controller| {
        let moves = compare(scheme(controller), some(SCRIPTS));
        assert!(moves > some(10_000) as usize, "{}: the windows moved only {moves} times", controller.name());
    });
}

/// Parameters reach the eBPF build: at the ends of their ranges, and all of them anywhere, both builds agree.
#[test]
fn both_builds_agree_on_parameters() {
    if !kernel_is_here() {
        return;
    }
    on_two_threads(controllers(), |controller| {
        for (i, p) in controller.parameters().into_iter().enumerate() {
            let ends = [p.range.min, p.range.max];
            // One end of each, in turn, unless all are asked for: every value is a program for the verifier.
            for value in if all() { &ends[..] } else { &ends[i % 2..][..1] } {
                let scheme =
                    ConfiguredController::new(controller, [(p.name, *value)]).expect("it lies in the range");
                compare(scheme, some(SCRIPTS_AT_ENDS));
            }
        }
        for settings in random_settings(controller).into_iter().step_by(if all() { 1 } else { 2 }) {
            let scheme = ConfiguredController::new(controller, settings).expect("they lie in the ranges");
            compare(scheme, some(SCRIPTS_AT_ENDS));
        }
    });
}

/// Does `work` for each of `items`, on two threads.
fn on_two_threads<T: Send>(items: Vec<T>, work: impl Fn(T) + Sync) {
    let items = std::sync::Mutex::new(items.into_iter());
    let next = || items.lock().expect("nobody panics with it").next();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(item) = next() {
                    work(item);
                }
            });
        }
    });
}
