//! Proportional rate reduction (RFC 6937): what goes out for each ACK of a recovery.

use tresse_transport::{Config, Recovery, Reduction};
use tresse_units::Time;

use crate::pipe::{Fate, MILLISECOND, Pipe, SECOND, config};

const RTT: Time = MILLISECOND;

fn run(recovery: Recovery, lost: std::ops::Range<u32>) -> Pipe {
    let config = Config { initial_window: 20, recovery, reduction: Reduction::Prr, ..config() };
    Pipe::single(config, 100)
        .data_fate(move |s| if lost.contains(&s.seq) && s.attempt == 1 { Fate::Drop } else { Fate::Pass })
        .run(SECOND)
}

/// What the sender sends for each ACK, from the first on: `R` (again), `N` (new), or nothing.
fn sent(pipe: &Pipe) -> Vec<String> {
    let arrivals = pipe.trace.iter().map(|s| s.now);
    arrivals
        .map(|now| {
            let of_ack = pipe.data.iter().filter(|s| s.now == now);
            of_ack.map(|s| if s.attempt > 1 { 'R' } else { 'N' }).collect()
        })
        .collect()
}

/// RFC 6937 §4, the first example: 20 in flight, the first one is lost, and the window goes to 10. After
/// limited transmit and the retransmission every second ACK releases a segment, until the window is reached.
#[test]
fn the_rfcs_example_of_a_single_loss() {
    for recovery in [Recovery::Sack, Recovery::Rack] {
        let pipe = run(recovery, 0..1);
        let expected = "N N R _ N _ N _ N _ N _ N _ N _ N _".split(' ');
        let expected: Vec<_> = expected.map(|s| if s == "_" { "" } else { s }).collect();
        assert_eq!(sent(&pipe)[..expected.len()], expected, "{recovery:?}");
        assert_eq!(pipe.sender.group()[0].ssthresh, 10);
    }
}

/// RFC 6937 §4, the second example: the first 15 of 20 are lost, so less is in flight than the new window
/// of 10. RACK's first SACK shows all at once. The ACK that shows losses repairs as much as it delivers
/// (packet conservation), and the window fills by slow start, two for an ACK, only when ACKs advance and
/// show no more losses.
#[test]
fn heavy_losses_are_repaired_at_the_pace_of_acks() {
    let pipe = run(Recovery::Rack, 0..15);
    let sent = sent(&pipe);
    assert_eq!(pipe.sender.counters(0).timeouts, 0);
    let until = pipe.trace.iter().position(|s| s.now > 2 * RTT).expect("it takes longer");
    // Five segments arrived; each ACK of the first round that is not cumulative sends one packet.
    assert_eq!(sent[..until].iter().map(String::len).max(), Some(1), "{sent:?}");
    let second = &sent[until..];
    assert!(second.iter().any(|s| s.len() == 2), "{sent:?}");
    assert!(second.iter().all(|s| s.len() <= 2 || !s.contains('R')), "{sent:?}");
}

/// RFC 6937 §3: with any losses, a recovery sends no more than ssthresh / RecoverFS of the delivered data
/// while more than ssthresh is in flight, and afterwards never lets more than ssthresh be in flight.
#[test]
fn a_recovery_keeps_the_proportion() {
    for lost in 1..8 {
        let pipe = run(Recovery::Rack, 3..3 + lost);
        let entry = pipe.trace.iter().find(|s| s.state == tresse_controllers::State::Recovery);
        let entry = entry.expect("it recovers");
        let end = pipe.trace.iter().find(|s| s.now > entry.now && s.state == tresse_controllers::State::Open);
        let (from, to) = (entry.now, end.expect("it ends").now);
        let out = pipe.data.iter().filter(|s| (from..to).contains(&s.now)).count() as u32;
        let acks = pipe.trace.iter().filter(|s| (from..to).contains(&s.now)).count() as u32;
        assert!(out <= acks.div_ceil(2) + lost + 2, "{lost} lost: {out} sent for {acks} ACKs");
    }
}
