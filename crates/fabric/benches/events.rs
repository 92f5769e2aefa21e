//! The event queue: takes out one event, and puts in another at a later time.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use tresse_fabric::{Event, EventQueue, Ties};
use tresse_units::{MICROSECOND, NEVER, SECOND, SplitMix, Time};

/// About as many events as are pending in a permutation over the fat tree of k = 8, and of k = 16.
const FILLS: [u32; 2] = [2_000, 20_000];
/// How long an event is pending at most.
const HORIZON: Time = 40 * MICROSECOND;

fn events(c: &mut Criterion) {
    let mut group = c.benchmark_group("event queue");
    group.throughput(Throughput::Elements(1));
    for fill in FILLS {
        let mut random = SplitMix::new(1);
        let rate = f64::from(fill) * (SECOND / HORIZON) as f64 * 2.0;
        let mut queue = EventQueue::new(rate, HORIZON, Ties::new(1));
        for entity in 0..fill {
            queue.push(Event { time: random.below(HORIZON), entity, id: entity });
        }
        group.bench_function(format!("pop and push, {fill} events"), |b| {
            b.iter(|| {
                let event = queue.pop_until(NEVER).expect("as many are pushed as are popped");
                queue.push(Event { time: event.time + 1 + random.below(HORIZON), ..event });
                black_box(event)
            });
        });
    }
    group.finish();
}

criterion_group!(benches, events);
criterion_main!(benches);
