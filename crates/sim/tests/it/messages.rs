//! Connections that stay: what the second message finds, and that each arrives whole and in its turn.

use tresse_sim::{FlowRecord, Step, World};
use tresse_units::{MICROSECOND, MILLISECOND, SECOND, Stream};

use crate::common::{Acking, Bottleneck, GIGABIT, MSS, Net, UNBOUNDED, flow, run_until, scheme, sprayed};

fn net() -> Net {
    Net::new(200 * MICROSECOND, &[Bottleneck::marking(GIGABIT, 10), Bottleneck::marking(GIGABIT, 10)], 1)
}

fn next(world: &mut World) -> FlowRecord {
    match world.advance(100 * SECOND, UNBOUNDED) {
        Step::Finished(record) => record,
        step => panic!("a message arrives: {step:?}"),
    }
}

#[test]
fn the_next_message_finds_the_window_of_the_one_before() {
    let net = net();
    let mut world = net.world();
    let spec = flow(0, &scheme("dctcp", &[]), Acking::Each, 300_000, vec![net.path(0, 0)]);
    let mut fresh = net.world();
    fresh.start(spec.clone());
    let alone = next(&mut fresh);
    world.start_lasting(spec);
    let first = next(&mut world);
    assert_eq!(first, alone, "the first one is as one of a connection of its own");
    // It has to do with the window, not with the time between the two.
    run_until(&mut world, 50 * MILLISECOND);
    assert_eq!((world.live(), world.in_flight()), (0, 0));
    world.append(0, 7, 300_000);
    let second = next(&mut world);
    assert_eq!(
        (second.id, second.start, second.bytes, second.complete),
        (7, 50 * MILLISECOND, 300_000, true)
    );
    let [one, two] = [&first, &second].map(|r| r.end - r.start);
    // 300 kB take 2.5 ms at 1 Gbit/s; slow start from 1 packet has 4 RTTs more.
    assert!(two + 2 * 200 * MICROSECOND < one, "{two} after {one}");
    assert_eq!(second.counters.sent, 300_000u64.div_ceil(MSS.into()));
}

#[test]
fn a_message_is_as_long_as_it_is() {
    let net = net();
    let mut world = net.world();
    let sizes = [1, 1459, 1460, 1461, 20_000, 3, 100_001];
    world.start_lasting(flow(
        0,
        &scheme("xmp", &[]),
        Acking::Each,
        sizes[0],
        vec![net.path(0, 0), net.path(0, 1)],
    ));
    (1..).zip(&sizes[1..]).for_each(|(id, &bytes)| world.append(0, id, bytes));
    assert_eq!(world.live(), sizes.len());
    for (id, &bytes) in (0..).zip(&sizes) {
        let record = next(&mut world);
        assert_eq!((record.id, record.bytes, record.complete), (id, bytes, true));
    }
    run_until(&mut world, 100 * SECOND);
    assert_eq!(world.delivered_bytes(), sizes.iter().sum::<u64>(), "nothing is filled up");
    assert_eq!((world.live(), world.in_flight()), (0, 0));
}

#[test]
fn what_is_given_up_is_told_with_what_has_arrived() {
    let net = net();
    let mut world = net.world();
    world.start_lasting(flow(0, &scheme("dctcp", &[]), Acking::Each, 1_000_000, vec![net.path(0, 0)]));
    world.append(0, 1, 1_000_000);
    run_until(&mut world, 5 * MILLISECOND);
    let first = world.stop(0);
    assert!(!first.complete && (1..1_000_000).contains(&first.bytes), "{first:?}");
    let second = next(&mut world);
    assert_eq!((second.id, second.bytes, second.complete), (1, 1_000_000, true));
}

/// Messages that come while others are under way, of TCP and of what is sprayed, over lossy queues.
#[test]
fn messages_arrive_in_their_order_whatever_is_lost() {
    let mut again = 0;
    for seed in 0..60 {
        let random = &mut Stream::new(seed, "messages", 0);
        let links = [Bottleneck::drop_tail(GIGABIT, 3 + random.below(10)), Bottleneck::drop_tail(GIGABIT, 5)];
        let net = Net::new(200 * MICROSECOND, &links, 1);
        let mut world = net.world();
        let mut sizes: Vec<u64> = Vec::new();
        let mut arrived = 0;
        let draw = |random: &mut Stream| [1, 5_000, 200_000][random.below(3) as usize] + random.below(4_000);
        while arrived < 30 {
            if sizes.len() < 30 && random.below(3) == 0 {
                let (id, bytes) = (sizes.len() as u64, draw(random));
                sizes.push(bytes);
                if id > 0 {
                    world.append(0, id, bytes);
                } else {
                    let paths = vec![net.path(0, 0), net.path(0, 1)];
                    let mut spec = flow(0, &scheme("lia", &[]), Acking::Delayed, bytes, paths);
                    spec.config.rto_min = 10 * MILLISECOND;
                    let spec = if seed % 2 == 0 { spec } else { sprayed(spec, random) };
                    world.start_lasting(spec);
                }
            }
            let until = world.now() + random.below(MILLISECOND);
            if let Step::Finished(record) = world.advance(until, UNBOUNDED) {
                assert_eq!((record.id, record.bytes), (arrived, sizes[arrived as usize]), "seed {seed}");
                assert!(record.complete);
                again += record.counters.retransmissions;
                arrived += 1;
            }
            let p = world.packets();
            assert_eq!(p.sent, p.delivered + p.dropped + world.in_flight() as u64);
        }
        assert_eq!(world.live(), 0);
    }
    assert!(again > 100, "{again} retransmissions");
}
