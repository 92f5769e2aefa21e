//! The agenda in the order of time: takes out one event, and puts in another at a later time.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use tresse_fabric::{Agenda, Event, Sites, Ties};
use tresse_units::{MICROSECOND, NEVER, SplitMix, Time};

/// About as many events as are pending in a permutation over the fat tree of k = 8, and of k = 16.
const FILLS: [u32; 2] = [2_000, 20_000];
/// How long an event is pending at most.
const HORIZON: Time = 40 * MICROSECOND;

fn events(c: &mut Criterion) {
    let mut group = c.benchmark_group("agenda");
    group.throughput(Throughput::Elements(1));
    for fill in FILLS {
        let mut random = SplitMix::new(1);
        let mut queue = Agenda::new(&Sites::one(1), HORIZON, Ties::new(1));
        for entity in 0..fill {
            queue.push(Event { time: random.below(HORIZON), entity, id: entity }, 0);
        }
        group.bench_function(format!("pop and push, {fill} events"), |b| {
            b.iter(|| {
                let event = queue.pop_until(NEVER).expect("as many are pushed as are popped");
                queue.push(Event { time: event.time + 1 + random.below(HORIZON), ..event }, 0);
                black_box(event)
            });
        });
    }
    group.finish();
}

criterion_group!(benches, events);
criterion_main!(benches);
