//! A coupled controller with one subflow.

use std::sync::Arc;

use proptest::prelude::*;
use tresse_controllers::trace::{Event, Script, play};
use tresse_controllers::{ConfiguredController, find};

use crate::host::{config, logarithmic};

fn event() -> impl Strategy<Value = Event> {
    let ack =
        (1..=20u32, prop::bool::weighted(0.02), prop::option::weighted(0.2, logarithmic(40, 8_000_000)));
    prop_oneof![
        400 => ack.prop_map(|(packets, marked, rtt)| Event::Ack {
            packets,
            marked: marked.into(),
            rtt,
            limited: true,
            subflow: 0,
        }),
        3 => Just(Event::Loss { subflow: 0 }),
        1 => Just(Event::Timeout { subflow: 0 }),
        1 => Just(Event::Local { subflow: 0 }),
    ]
}

proptest! {
    #![proptest_config(config(200))]

    /// To the packet and the ACK: a quotient whose last digit is rounded away brings each packet one ACK later. BALIA
    /// until a window of 1 is cut, of which its own floor leaves 1 and Reno's makes 2.
    #[test]
    fn one_subflow_is_exactly_reno(events in prop::collection::vec(event(), 1..600), initial in 2..=64u32) {
        let script = Script { subflows: 1, events };
        let windows = |name| {
            let controller = find(name).expect("it is built in");
            let scheme = ConfiguredController::new(controller, []).expect("defaults lie in their ranges");
            play(Arc::new(scheme), &script, initial)
        };
        let reno = windows("reno");
        for name in ["balia", "coupled_t31", "lia", "olia", "semicoupled"] {
            let own = windows(name);
            let floors = reno.windows(2).position(|w| w[0].cwnd == 1 && w[1].event != "ack");
            let until = if name == "balia" { floors.map_or(reno.len(), |k| k + 1) } else { reno.len() };
            let apart = own.iter().zip(&reno).take(until).position(|(a, b)| a != b);
            prop_assert_eq!(apart.map(|k| (own[k], reno[k])), None, "{}", name);
        }
    }
}
