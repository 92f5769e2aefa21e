//! What a handshake costs, to the picosecond, and what a subflow that falls silent does to a message.

use tresse_fabric::{Fabric, QueuedPortConfig};
use tresse_sim::{FlowSpec, World};
use tresse_transport::Join;
use tresse_units::{MICROSECOND, MILLISECOND, SECOND, Time};

use crate::common::{Acking, Bottleneck, GIGABIT, HEADER, MSS, Net, PACKET, flow, run_until, scheme};

fn net(senders: u32) -> Net {
    Net::new(200 * MICROSECOND, &[Bottleneck::drop_tail(GIGABIT, 100); 2], senders)
}

/// One message over a path of each link in `links`, with handshakes.
fn spec(net: &Net, links: &[u32], segments: u32) -> FlowSpec {
    let paths = links.iter().map(|&link| net.path(0, link)).collect();
    let mut spec = flow(0, &scheme("reno", &[]), Acking::Each, u64::from(segments * MSS), paths);
    spec.config.handshake = true;
    spec
}

/// A round trip of two small packets.
fn small_rtt(net: &Net, link: u32) -> Time {
    let path = net.path(0, link);
    net.latency(&path.there, HEADER) + net.latency(&path.back, HEADER)
}

#[test]
fn the_first_data_leaves_after_one_round_trip() {
    let net = net(1);
    let mut world = net.world();
    world.start(spec(&net, &[0], 1));
    let record = run_until(&mut world, SECOND)[0];
    assert_eq!(record.end, small_rtt(&net, 0) + net.latency(&net.path(0, 0).there, PACKET));
    let p = world.packets();
    assert_eq!(p.sent, 3, "SYN, SYN/ACK, data: {p:?}");
}

/// The second subflow's SYN leaves when the first is established, and its data two round trips later; or all this when
/// the first data has been ACKed.
#[test]
fn a_subflow_that_joins_sends_after_two_round_trips_more() {
    let net = net(1);
    let path = net.path(0, 0);
    let first_ack = net.latency(&path.there, PACKET) + net.latency(&path.back, HEADER);
    for join in [Join::Established, Join::FirstAck] {
        opens_at(&net, join, 3 * small_rtt(&net, 0) + if join == Join::FirstAck { first_ack } else { 0 });
    }
}

/// The second subflow may send at `joined`, and not before.
fn opens_at(net: &Net, join: Join, joined: Time) {
    assert_eq!(small_rtt(net, 0), small_rtt(net, 1));
    for (time, established) in [(joined - 1, false), (joined, true)] {
        let mut world = net.world();
        let mut own = spec(net, &[0, 1], 10_000);
        own.config.join = join;
        world.start(own);
        // The sender's own port carries data too, for which the handshake's packets may wait.
        let waited = 2 * net.latency(&net.path(0, 1).there[..1], PACKET);
        run_until(&mut world, time + if established { waited } else { 0 });
        let sender = world.sender(0).expect("it has not ended");
        assert_eq!(sender.is_open(1), established, "{join:?}, at {time}");
        assert_eq!(sender.counters(1).sent > 0, established);
    }
}

/// Queued ports, so that links can fail.
fn with_links(net: &Net) -> World {
    let queued_ports: Vec<_> = (0..).zip(&net.ports).map(|(p, c)| (p, QueuedPortConfig::plain(c))).collect();
    World::on(Fabric::new(&net.ports, 2, 1).with_queued_ports(&queued_ports, &[]))
}

#[test]
fn a_lost_syn_is_sent_again_after_the_initial_timeout_which_doubles() {
    let net = net(1);
    let mut world = with_links(&net);
    world.set_link(Net::bottleneck(0), false);
    world.start(spec(&net, &[0], 1));
    // Sent at 0, 1 s, 3 s: the third gets through.
    run_until(&mut world, 2 * SECOND);
    world.set_link(Net::bottleneck(0), true);
    let record = run_until(&mut world, 10 * SECOND)[0];
    let data = net.latency(&net.path(0, 0).there, PACKET);
    assert_eq!(record.end, 3 * SECOND + small_rtt(&net, 0) + data);
}

/// The answer to a joining subflow's ACK is lost: the ACK is sent again, and the subflow comes to be.
#[test]
fn a_joining_subflow_insists_on_the_answer_to_its_ack() {
    let net = net(1);
    let mut world = with_links(&net);
    world.start(spec(&net, &[0, 1], 100_000));
    run_until(&mut world, 2 * small_rtt(&net, 0) + 10 * MICROSECOND);
    world.set_link(Net::bottleneck(1), false);
    run_until(&mut world, 100 * MILLISECOND);
    assert!(!world.sender(0).expect("it lives").is_open(1));
    world.set_link(Net::bottleneck(1), true);
    // Its RTT is known from the SYN, so the smallest timeout is enough.
    run_until(&mut world, 200 * MILLISECOND + 4 * small_rtt(&net, 0));
    assert!(world.sender(0).expect("it lives").is_open(1));
}

/// On a short message over many subflows the handshakes decide: it ends before most of them have come to be.
#[test]
fn a_short_message_ends_before_its_later_subflows_begin() {
    let net = Net::new(200 * MICROSECOND, &[Bottleneck::drop_tail(GIGABIT, 100); 20], 1);
    let links: Vec<u32> = (0..20).collect();
    let fct = |handshake| {
        let mut world = net.world();
        let mut spec = spec(&net, &links, 40);
        (spec.config.handshake, spec.config.initial_window) = (handshake, 2);
        world.start(spec);
        let record = run_until(&mut world, SECOND)[0];
        (record.end, record.counters.sent)
    };
    let (without, with) = (fct(false), fct(true));
    assert_eq!((without.1, with.1), (40, 40));
    // Without, forty segments fill twenty windows of two at once. With, the first subflow starts a round trip
    // later and the others two more, when it has sent 2 + 4 + 8 of them.
    let rtt = small_rtt(&net, 0);
    assert!(with.0 > without.0 + 2 * rtt && with.0 < without.0 + 4 * rtt, "{with:?} after {without:?}");
}

#[test]
fn what_is_on_a_path_that_failed_is_sent_on_another() {
    let net = net(1);
    let end = |stale_after| {
        let mut world = with_links(&net);
        let mut spec = spec(&net, &[0, 1], 5000);
        spec.config.stale_after = stale_after;
        world.start(spec);
        run_until(&mut world, 10 * MILLISECOND);
        world.set_link(Net::bottleneck(1), false);
        let records = run_until(&mut world, 10 * SECOND);
        records.first().map(|r| (r.end, r.counters))
    };
    assert_eq!(end(0), None, "the message waits for the path");
    let (time, counters) = end(2).expect("the message arrives on the other path");
    assert!(counters.reinjections > 0 && counters.timeouts >= 2, "{counters:?}");
    // Two timeouts of 200 and 400 ms; the link needs 60 ms for the message.
    assert!((600 * MILLISECOND..800 * MILLISECOND).contains(&time), "{time}");
}
