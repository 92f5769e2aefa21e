//! A port: a packet arrives, and the port computes when it will be at the far end.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use tresse_fabric::{Ecn, Loss, NonEct, Port, PortConfig, Processing, Threshold};
use tresse_units::{MICROSECOND, Time};

const CONFIG: PortConfig = PortConfig {
    rate: 1_000_000_000,
    delay: 20 * MICROSECOND,
    limit: Threshold::UNLIMITED,
    mark: Threshold::UNLIMITED,
    non_ect: NonEct::Queue,
    drop_until: None,
    processing: Processing::NONE,
    red: None,
    loss: Loss::NONE,
};
const BYTES: u32 = 1500;
/// A packet's time on the wire.
const PACKET: Time = 12 * MICROSECOND;

fn port(c: &mut Criterion) {
    let mut group = c.benchmark_group("port");
    group.throughput(Throughput::Elements(1));
    let (limit, mark) = (Threshold::packets(100), Threshold::packets(10));
    // The length of the queue in front of packets that arrive as fast as they leave.
    for (name, standing) in [("idle", 0), ("a queue below the threshold", 5), ("a queue that marks", 20)] {
        group.bench_function(format!("admit, {name}"), |b| {
            let mut port = Port::new(PortConfig { limit, mark, ..CONFIG });
            for _ in 0..standing {
                port.admit(0, BYTES, &mut { Ecn::Ect });
            }
            let mut now = 0;
            b.iter(|| {
                now += PACKET;
                let mut ecn = Ecn::Ect;
                black_box((port.admit(now, BYTES, &mut ecn), ecn))
            });
        });
    }
    group.finish();
}

criterion_group!(benches, port);
criterion_main!(benches);
