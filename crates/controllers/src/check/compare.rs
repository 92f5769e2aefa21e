//! Comparisons of two plays.

use std::sync::Arc;

use super::{Found, INITIAL_WINDOW, Invariant};
use crate::trace::{DEFAULT_RTT, Event, Script, Step, play};
use crate::{Claim, ConfiguredController, SRTT_LIMIT, find};

/// The same script twice.
pub(super) fn determinism(scheme: &Arc<ConfiguredController>, script: &Script) -> Result<(), Found> {
    let (first, second) = (windows(scheme, script), windows(scheme, script));
    differing(&first, &second).map_or(Ok(()), |k| {
        let (a, b) = (&first[k], &second[k]);
        Err(Found {
            invariant: Invariant::Determinism,
            message: format!(
                "played twice, event {} leaves subflow {} at {} packets ({}), then at {} ({})",
                k + 1,
                a.subflow,
                a.cwnd,
                beside(scheme, a),
                b.cwnd,
                beside(scheme, b)
            ),
            events: k + 1,
            other: None,
        })
    })
}

/// The subflows in the opposite order.
pub(super) fn permutation(scheme: &Arc<ConfiguredController>, script: &Script) -> Result<(), Found> {
    if script.subflows < 2 {
        return Ok(());
    }
    let last = script.subflows - 1;
    let events = script.events.iter().map(|event| event.on(last - event.subflow())).collect();
    let other = Script { subflows: script.subflows, events };
    let (straight, reversed) = (windows(scheme, script), windows(scheme, &other));
    differing(&straight, &reversed).map_or(Ok(()), |k| {
        let (a, b) = (&straight[k], &reversed[k]);
        Err(Found {
            invariant: Invariant::Permutation,
            message: format!(
                "event {} leaves subflow {} at {} packets, but at {} where it is subflow {}",
                k + 1,
                a.subflow,
                a.cwnd,
                b.cwnd,
                b.subflow
            ),
            events: k + 1,
            other: Some(other),
        })
    })
}

/// Every time multiplied by one factor. A gain may differ by the packet that is just whole or not, and
/// by 1/1000: the resolution of fixed-point rates. Gains are compared where all windows were alike.
pub(super) fn rtt_ratios(scheme: &Arc<ConfiguredController>, script: &Script) -> Result<(), Found> {
    if !scheme.controller().claims().contains(&Claim::RttRatios) {
        return Ok(());
    }
    let Some(longest) = longest_rtt(script) else { return Ok(()) };
    let factor = (SRTT_LIMIT - 1) / longest;
    let mut last = vec![None; script.subflows];
    let scaled = |event: &Event| match *event {
        Event::Ack { packets, marked, rtt, limited, subflow } => {
            let sample = rtt.or(last[subflow]).unwrap_or(DEFAULT_RTT);
            last[subflow] = Some(sample);
            Event::Ack { packets, marked, rtt: Some(sample * factor), limited, subflow }
        }
        Event::Wait { us, subflow } => Event::Wait { us: us * u64::from(factor), subflow },
        event => event,
    };
    let other = Script { subflows: script.subflows, events: script.events.iter().map(scaled).collect() };
    let (plain, slow) = (windows(scheme, script), windows(scheme, &other));
    let mut before = vec![INITIAL_WINDOW; script.subflows];
    let mut alike = vec![true; script.subflows];
    for (k, (a, b)) in plain.iter().zip(&slow).enumerate() {
        let i = a.subflow;
        let gain = |step: &Step| i64::from(step.cwnd) - i64::from(before[i]);
        let (gain, other_gain) = (gain(a), gain(b));
        let comparable = alike.iter().all(|&alike| alike);
        before[i] = a.cwnd;
        alike[i] = (a.cwnd, a.ssthresh) == (b.cwnd, b.ssthresh);
        if comparable && (gain - other_gain).abs() > 1 + gain.abs() / 1000 {
            return Err(Found {
                invariant: Invariant::RttRatios,
                message: format!(
                    "event {} adds {gain} packets to subflow {}, but {other_gain} with RTTs {factor} times as long",
                    k + 1,
                    a.subflow
                ),
                events: k + 1,
                other: Some(other),
            });
        }
    }
    Ok(())
}

/// RTTs that change must be at least this, 1/8 us (2 ms): the host rounds a smoothed RTT that moves, by up to 16/8 us
/// in total, and that must be within the resolution.
const LEAST_MOVING_RTT: u32 = 16_000;

/// The longest RTT of a script; `None` if rounding could make a difference.
fn longest_rtt(script: &Script) -> Option<u32> {
    let mut last = vec![None; script.subflows];
    let (mut shortest, mut longest, mut moves) = (u32::MAX, 0, false);
    for event in &script.events {
        if let Event::Ack { rtt, subflow, .. } = *event {
            let sample = rtt.or(last[subflow]).unwrap_or(DEFAULT_RTT);
            moves |= last[subflow].is_some_and(|last| last != sample);
            (shortest, longest) = (shortest.min(sample), longest.max(sample));
            last[subflow] = Some(sample);
        }
    }
    let longest = if longest == 0 { DEFAULT_RTT } else { longest };
    (!moves || shortest >= LEAST_MOVING_RTT).then_some(longest)
}

/// The most packets that an ACK delivers where windows that differ a little stay together: one for many
/// more than a window would take the difference for the whole of its increase.
const SMALL_ACK: u32 = 4;

/// One subflow beside the controller that it is said to be then. From equal windows a gain or a cut may
/// differ as in [`rtt_ratios`]. In the long run the windows may differ by 2 packets (one that is just whole
/// or not, and one that a cut rounds away or not) and by 1/100, as long as ACKs are small and both are in
/// the same state: a reduction of one packet more ends one packet later.
pub(super) fn single(scheme: &Arc<ConfiguredController>, script: &Script) -> Result<(), Found> {
    let name = scheme.controller().single().filter(|_| script.subflows == 1);
    let Some(named) = name.and_then(find) else { return Ok(()) };
    let named = Arc::new(ConfiguredController::new(named, []).expect("defaults lie in their ranges"));
    let (own, other) = (windows(scheme, script), windows(&named, script));
    let mut alike = true;
    let mut before = INITIAL_WINDOW;
    let mut together = true;
    for (k, (a, b)) in own.iter().zip(&other).enumerate() {
        match script.events[k] {
            // Whether a window set below its threshold slow-starts again is the controller's own affair.
            Event::Window { .. } if a.cwnd < a.ssthresh => return Ok(()),
            Event::Window { .. } => together = true,
            Event::Ack { packets, .. } => together &= packets <= SMALL_ACK,
            _ => {}
        }
        let same_event = (a.event, a.state) == (b.event, b.state);
        together &= same_event;
        let apart = a.cwnd.abs_diff(b.cwnd);
        let at_once = alike && same_event && apart > 1 + a.cwnd.abs_diff(before) / 1000;
        if at_once || (together && apart > 2 + a.cwnd.max(b.cwnd) / 100) {
            return Err(Found {
                invariant: Invariant::Single,
                message: format!(
                    "event {} leaves the only subflow at {} packets, {} at {}",
                    k + 1,
                    a.cwnd,
                    named.controller().name(),
                    b.cwnd
                ),
                events: k + 1,
                other: None,
            });
        }
        alike = (a.cwnd, a.ssthresh, a.state) == (b.cwnd, b.ssthresh, b.state);
        before = a.cwnd;
    }
    Ok(())
}

fn windows(scheme: &Arc<ConfiguredController>, script: &Script) -> Vec<Step> {
    play(Arc::clone(scheme), script, INITIAL_WINDOW)
}

/// The other compared values of a step, in words.
fn beside(scheme: &Arc<ConfiguredController>, step: &Step) -> String {
    match scheme.controller().reports() {
        true => format!("pace {}", step.pace),
        false => format!("ssthresh {}", step.ssthresh),
    }
}

/// The first step after which windows, thresholds or paces differ.
fn differing(a: &[Step], b: &[Step]) -> Option<usize> {
    a.iter().zip(b).position(|(a, b)| (a.cwnd, a.ssthresh, a.pace) != (b.cwnd, b.ssthresh, b.pace))
}
