//! Losses: a sender fills a window at once, every tenth segment of it is lost, and receiver and sender repair
//! this. The cost per segment should not depend on the window.

use std::collections::VecDeque;
use std::hint::black_box;
use std::sync::Arc;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use tresse_controllers::{ConfiguredController, find};
use tresse_transport::tcp::{Receiver, Sender};
use tresse_transport::{Ack, Config, Origin, Recovery, Segment};
use tresse_units::{MICROSECOND, Time};

const MSS: u32 = 1460;
/// Each way.
const DELAY: Time = 500 * MICROSECOND;
/// Segments of the first window of which one is lost.
const ONE_IN: u32 = 10;
/// The message, in windows.
const WINDOWS: u32 = 4;

fn config(recovery: Recovery, window: u32) -> Config {
    Config { initial_window: window, recovery, receive_window: window, ..Config::default() }
}

/// A sender and a receiver; packets and ACKs in flight, with their arrival times.
struct Pipe {
    sender: Sender,
    receiver: Receiver,
    window: u32,
    now: Time,
    data: VecDeque<(Time, Segment)>,
    acks: VecDeque<(Time, Ack)>,
}

impl Pipe {
    fn new(recovery: Recovery, window: u32) -> Self {
        let reno = find("reno").expect("built in");
        let reno = Arc::new(ConfiguredController::new(reno, []).expect("its defaults"));
        let config = Arc::new(config(recovery, window));
        let bytes = u64::from(WINDOWS * window) * u64::from(MSS);
        Self {
            sender: Sender::new(Arc::clone(&config), reno, 1, bytes),
            receiver: Receiver::new(config, 1, bytes),
            window,
            now: 0,
            data: VecDeque::new(),
            acks: VecDeque::new(),
        }
    }

    /// Until the message has arrived.
    fn run(mut self) -> Self {
        self.transmit();
        while !self.receiver.messages().complete() {
            let data = self.data.front().map_or(Time::MAX, |(time, _)| *time);
            let acks = self.acks.front().map_or(Time::MAX, |(time, _)| *time);
            let deadline = self.sender.deadline(0);
            self.now = data.min(acks).min(deadline);
            if self.now == data {
                let (_, segment) = self.data.pop_front().expect("it arrives now");
                let acks = self.receiver.handle_data(self.now, 0, &segment, false);
                self.acks.extend(acks.into_iter().flatten().map(|ack| (self.now + DELAY, ack)));
            } else {
                match self.now == acks {
                    true => {
                        let (_, ack) = self.acks.pop_front().expect("it arrives now");
                        self.sender.handle_ack(self.now, 0, &ack);
                    }
                    false => self.sender.handle_timeout(self.now, 0),
                }
                self.transmit();
            }
        }
        self
    }

    fn transmit(&mut self) {
        while let Some(t) = self.sender.poll_transmit(self.now) {
            let segment = *t.segment().expect("a segment");
            if t.origin == Origin::New && segment.seq < self.window && segment.seq % ONE_IN == ONE_IN / 2 {
                continue;
            }
            self.data.push_back((self.now + DELAY, segment));
        }
    }
}

fn losses(c: &mut Criterion) {
    let mut group = c.benchmark_group("a tenth of a window is lost");
    for (name, recovery) in
        [("newreno", Recovery::NewReno), ("sack", Recovery::Sack), ("rack", Recovery::Rack)]
    {
        for window in [10, 100, 1_000, 10_000] {
            group.throughput(Throughput::Elements(u64::from(WINDOWS * window)));
            group.bench_function(format!("{name}, window of {window}"), |b| {
                let pipe = || Pipe::new(recovery, window);
                b.iter_batched(pipe, |pipe| black_box(pipe.run()), BatchSize::SmallInput);
            });
        }
    }
    group.finish();
}

criterion_group!(benches, losses);
criterion_main!(benches);
