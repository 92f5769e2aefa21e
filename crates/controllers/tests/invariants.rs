//! What holds for every built-in controller, whatever it computes. A new controller is tested by
//! being there.

mod host;

use std::sync::Arc;

use host::{Call, Event, Hook, calls, config, events, logarithmic, make};
use proptest::prelude::*;
use tresse_controllers::trace::{self, Script};
use tresse_controllers::{
    Ack, CWND_LIMIT, Cause, Controller, Group, INFINITE_SSTHRESH, MAX_SUBFLOWS, SRTT_LEAST, SRTT_LIMIT,
    Scheme, built_in, find,
};

/// Controllers of which one `grow` may add more packets than the ACK delivered, and why.
const LEAPS: [(&str, &str); 1] =
    [("xmp", "eq. (9) earns T_r/min T packets a round and path; with equal RTTs it never leaps")];

/// Controllers of which `grow` may lower the window, and why.
const FALLS: [(&str, &str); 1] =
    [("olia", "a negative alpha takes packets from the largest windows when better paths have smaller ones")];

/// The largest window of the contract.
const WIDEST: u32 = CWND_LIMIT - 1;

/// More packets than a subflow gets in a lifetime of test ACKs, to tell increases apart.
const BURST: u32 = 10_000;

fn group(controller: Controller, count: usize, initial_window: u32) -> Group {
    let scheme = Scheme::new(controller, []).expect("defaults lie in their ranges");
    Group::new(Arc::new(scheme), count, initial_window)
}

fn named(name: &str) -> Controller {
    find(name).expect("it is built in")
}

/// Subflows in congestion avoidance, one for each (window, RTT), after their first round.
fn running(controller: Controller, subflows: &[(u32, u32)]) -> Group {
    let mut group = group(controller, subflows.len(), 10);
    for (i, &(window, rtt)) in subflows.iter().enumerate() {
        (group[i].cwnd, group[i].ssthresh) = (window, INFINITE_SSTHRESH);
        (group[i].srtt, group[i].min_rtt) = (rtt, rtt);
        group.ack(i, &Ack { delivered: 1, marked: 0, rtt, new_round: 1, ..Ack::default() });
        group[i].ssthresh = 1;
    }
    group
}

/// Whether `name` is among the declared `exceptions`.
fn excepted(exceptions: &[(&str, &str)], name: &str) -> bool {
    exceptions.iter().any(|&(excepted, _)| excepted == name)
}

/// What every subflow gains by an ACK of many packets at a round's end.
fn gains(group: &mut Group) -> Vec<i64> {
    (0..group.len())
        .map(|i| {
            let window = group[i].cwnd;
            let ack = Ack { delivered: BURST, marked: 0, rtt: group[i].srtt, new_round: 1, ..Ack::default() };
            group.ack(i, &ack);
            group.grow(i, &ack);
            let gain = i64::from(group[i].cwnd) - i64::from(window);
            group[i].cwnd = window;
            gain
        })
        .collect()
}

/// Up to `most` pairs of a window and an RTT.
fn subflows(most: usize) -> impl Strategy<Value = Vec<(u32, u32)>> {
    let one = (logarithmic(2, WIDEST), logarithmic(host::SHORTEST_RTT, host::LONGEST_RTT));
    prop::collection::vec(one, 1..=most)
}

/// Makes `call` and checks what it may do to the own subflow.
fn make_checked(group: &mut Group, call: &Call) -> Result<(), TestCaseError> {
    let controller = group.scheme().controller();
    let (name, floor) = (controller.name(), controller.min_cwnd());
    let before = group[call.subflow].cwnd;
    let returned = make(group, call);
    let after = group[call.subflow].cwnd;
    match call.hook {
        Hook::Ack(_) => prop_assert_eq!(after, before, "{}: `ack` moves the window", name),
        Hook::Grow(ack) => {
            prop_assert!(
                after >= before || excepted(&FALLS, name),
                "{name}, {call:?}: from {before} down to {after}"
            );
            prop_assert!(
                after.saturating_sub(before) <= ack.delivered || excepted(&LEAPS, name),
                "{name}, {call:?}: from {before} to {after}"
            );
        }
        Hook::Congestion(_) => {
            let returned = returned.expect("`congestion` was asked");
            prop_assert!(
                before < floor || (floor..=before).contains(&returned),
                "{name}, {call:?}: {before} became {returned}; the floor is {floor}"
            );
        }
        Hook::Timeout | Hook::Window(..) => {}
    }
    Ok(())
}

proptest! {
    #![proptest_config(config(256))]

    #[test]
    fn windows_move_as_the_contract_says(
        count in 1..=8usize,
        initial in logarithmic(2, 1000),
        events in events(300),
    ) {
        for controller in built_in() {
            let mut group = group(controller, count, initial);
            for call in calls(count, &events) {
                make_checked(&mut group, &call)?;
            }
        }
    }

    /// The corners of the contract: overflow would show as a window that falls or leaps.
    #[test]
    fn the_largest_and_smallest_values_are_safe(
        count in prop::sample::select(vec![1, 2, MAX_SUBFLOWS]),
        mut events in events(300),
        corners in prop::collection::vec(
            (
                prop::sample::select(vec![1, 2, 3, WIDEST - 1, WIDEST]),
                prop::sample::select(vec![SRTT_LEAST, SRTT_LEAST + 1, SRTT_LIMIT - 2, SRTT_LIMIT - 1]),
            ),
            300,
        ),
    ) {
        for ((_, event), (packets, time)) in events.iter_mut().zip(corners) {
            match event {
                Event::Ack { delivered, rtt, .. } => {
                    (*delivered, *rtt) = (packets.max(*delivered), Some(time));
                }
                Event::Window { cwnd, ssthresh } => (*cwnd, *ssthresh) = (packets, packets),
                Event::Loss | Event::Timeout => {}
            }
        }
        for controller in built_in() {
            let mut group = group(controller, count, 2);
            for call in calls(count, &events) {
                make_checked(&mut group, &call)?;
            }
        }
    }

    /// With equal RTTs nobody leaps, whatever the windows are.
    #[test]
    fn with_equal_rtts_growth_is_at_most_what_was_delivered(
        windows in prop::collection::vec(logarithmic(2, WIDEST), 1..=MAX_SUBFLOWS),
        rtt in logarithmic(SRTT_LEAST, SRTT_LIMIT - 1),
    ) {
        let subflows: Vec<_> = windows.into_iter().map(|w| (w, rtt)).collect();
        for controller in built_in() {
            let mut group = running(controller, &subflows);
            for i in 0..group.len() {
                let window = group[i].cwnd;
                let ack = Ack { delivered: 1, marked: 0, rtt, new_round: 1, ..Ack::default() };
                group.ack(i, &ack);
                group.grow(i, &ack);
                prop_assert!(group[i].cwnd <= window + 1, "{controller:?}, {subflows:?}");
            }
        }
    }

    /// Every cause, at every window from the floor up.
    #[test]
    fn a_cut_stays_between_the_floor_and_the_window(
        window in logarithmic(2, WIDEST),
        ssthresh in logarithmic(2, INFINITE_SSTHRESH),
        (delivered, marked) in (1..=100u32, 0..=100u32),
    ) {
        for controller in built_in() {
            let floor = controller.min_cwnd();
            for cause in [Cause::Mark, Cause::Loss, Cause::Local] {
                let mut group = running(controller, &[(window.max(floor), 800)]);
                group[0].ssthresh = ssthresh;
                let marked = marked.min(delivered);
                for new_round in [0, 1] {
                    group.ack(0, &Ack { delivered, marked, rtt: 800, new_round, ..Ack::default() });
                }
                let cut = group.congestion(0, cause).expect("cut");
                prop_assert!(
                    (floor..=window.max(floor)).contains(&cut),
                    "{controller:?}, {cause:?}: {window} became {cut}"
                );
            }
        }
    }

    /// "It writes its own subflow and nothing else": the rule on which the kernel's side depends.
    #[test]
    fn siblings_are_left_alone(events in events(40)) {
        let count = 3;
        for controller in built_in() {
            let mut group = group(controller, count, 10);
            for call in calls(count, &events) {
                let siblings = |group: &Group| {
                    let others = (0..count).filter(|&i| i != call.subflow);
                    others.map(|i| format!("{:?}", group[i])).collect::<Vec<_>>()
                };
                let before = siblings(&group);
                make(&mut group, &call);
                prop_assert_eq!(before, siblings(&group), "{:?}, {:?}", controller, call);
            }
        }
    }

    /// RFC 6356 §3, the second term of the minimum: on no path more than a TCP would take there.
    #[test]
    fn lia_never_grows_faster_than_reno(subflows in subflows(8)) {
        let lia = gains(&mut running(named("lia"), &subflows));
        let reno = gains(&mut running(named("reno"), &subflows));
        for (lia, reno) in lia.into_iter().zip(reno) {
            prop_assert!(lia <= reno, "{subflows:?}: {lia} packets; Reno gains {reno}");
        }
    }

    /// A subflow's number means nothing.
    #[test]
    fn permuted_subflows_give_permuted_windows(
        places in (2..=8usize).prop_flat_map(|n| Just((0..n).collect::<Vec<_>>()).prop_shuffle()),
        events in events(300),
    ) {
        for controller in built_in() {
            let mut straight = group(controller, places.len(), 10);
            let mut permuted = group(controller, places.len(), 10);
            for call in calls(places.len(), &events) {
                make(&mut straight, &call);
                make(&mut permuted, &Call { subflow: places[call.subflow], ..call });
                let (a, b) = (&straight[call.subflow], &permuted[places[call.subflow]]);
                prop_assert_eq!((a.cwnd, a.ssthresh), (b.cwnd, b.ssthresh), "{:?}", controller);
            }
        }
    }

    /// The coupled increases depend on ratios of RTTs alone. The fixed-point form moves the gain by
    /// its resolution, at most 1/1000 (XMP's rates in Q32 at 1 s and 2 packets), and by the packet
    /// that may just be whole or not.
    #[test]
    fn a_common_factor_of_all_rtts_changes_nothing(
        subflows in subflows(8),
        longest in logarithmic(1000, SRTT_LIMIT - 1),
    ) {
        let now = subflows.iter().map(|&(_, rtt)| rtt).max().expect("there is one");
        let factor = (longest / now).max(1);
        let scaled: Vec<_> = subflows.iter().map(|&(w, rtt)| (w, rtt * factor)).collect();
        for name in built_in().iter().filter(|c| c.coupled()).map(Controller::name) {
            let plain = gains(&mut running(named(name), &subflows));
            let scaled = gains(&mut running(named(name), &scaled));
            for (a, b) in plain.into_iter().zip(scaled) {
                prop_assert!(
                    (a - b).abs() <= 1 + a.abs() / 1000,
                    "{name}, {subflows:?}: {a} packets, and {b} with RTTs {factor} times as long"
                );
            }
        }
    }

    /// No controller has a memory outside of its group.
    #[test]
    fn the_same_script_gives_the_same_steps(count in 1..=4usize, events in events(200)) {
        let script = script(count, &events);
        for controller in built_in() {
            let scheme = Arc::new(Scheme::new(controller, []).expect("defaults lie in their ranges"));
            let first = trace::play(Arc::clone(&scheme), &script, 10);
            prop_assert_eq!(first, trace::play(scheme, &script, 10));
        }
    }
}

/// What of `events` a script can say.
fn script(count: usize, events: &[(usize, Event)]) -> Script {
    let events = events.iter().filter_map(|&(i, event)| {
        let subflow = i % count;
        match event {
            Event::Ack { delivered, marked, rtt, .. } => {
                Some(trace::Event::Ack { packets: delivered, marked, rtt, subflow })
            }
            Event::Loss => Some(trace::Event::Loss { subflow }),
            Event::Timeout => Some(trace::Event::Timeout { subflow }),
            Event::Window { .. } => None,
        }
    });
    Script { subflows: count, events: events.collect() }
}
