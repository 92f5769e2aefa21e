//! An ACK: a sender and its controllers handle it, and the segment for which it makes room is sent.

use std::collections::VecDeque;
use std::hint::black_box;
use std::sync::Arc;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use tresse_controllers::{ConfiguredController, find};
use tresse_transport::tcp::Sender;
use tresse_transport::{Ack, Config, Segment};
use tresse_units::MICROSECOND;

/// The most segments in flight per subflow.
const WINDOW: u32 = 64;

fn config() -> Config {
    Config { initial_window: WINDOW, ecn: true, ..Config::default() }
}

fn ack(c: &mut Criterion) {
    let mut group = c.benchmark_group("ack");
    group.throughput(Throughput::Elements(1));
    for (name, subflows) in [("reno", 1), ("dctcp", 1), ("bos", 1), ("xmp", 2), ("olia", 8)] {
        let scheme =
            Arc::new(ConfiguredController::new(find(name).expect("built in"), []).expect("its defaults"));
        let mut sender = Sender::new(config(), scheme, subflows, u64::MAX >> 24);
        let mut now = 0;
        let mut sent = VecDeque::new();
        while let Some(t) = sender.poll_transmit(now) {
            sent.push_back((t.subflow, *t.segment().expect("a segment")));
        }
        group.bench_function(format!("{name}, {subflows} subflows"), |b| {
            b.iter(|| {
                now += MICROSECOND;
                let (subflow, Segment { stamp, seq, dsn, .. }) =
                    sent.pop_front().expect("something is in flight");
                // Every 32nd is marked, so that windows do not grow forever.
                let ce = u8::from(seq % 32 == 0);
                let ack = Ack { stamp, seq: seq + 1, dsn: dsn + 1, ce, ..Ack::default() };
                sender.handle_ack(now, subflow, black_box(&ack));
                while let Some(t) = sender.poll_transmit(now) {
                    sent.push_back((t.subflow, *t.segment().expect("a segment")));
                }
            });
        });
    }
    group.finish();
}

criterion_group!(benches, ack);
criterion_main!(benches);
