//! XMP moves traffic off the path that others use (rate compensation, XMP §5.1).
//!
//! Two links; connection 0 has a subflow on each, connection 1 one subflow on link 0. The optimum gives
//! both connections a link: at equal RTTs both subflows of connection 0 expect the congestion U'(y) of
//! its whole rate y (XMP eq. (7)), connection 1 that of its own rate, and link 0 has one congestion.
//! So the rates are equal, and connection 0 has nothing on link 0.
//!
//! It never comes to nothing. Below 2 beta packets a cut is one packet, whatever the window, so the
//! subflow no longer gives way in proportion to its rate: of the BDP + K packets of link 0 it may keep
//! up to 2 beta, 8 here. (Its floor is 2.)

use tresse_units::{MICROSECOND, MILLISECOND, SECOND};

use crate::common::{
    Acking, Bottleneck, ENDLESS, GIGABIT, Net, flow, mean, run_until, scheme, shares, some_of,
};

/// What each subflow has of its link: connection 0 on link 0, on link 1, connection 1 on link 0.
#[derive(Debug, Clone, Copy)]
struct Shares {
    shared: f64,
    own: f64,
    competitor: f64,
}

/// Before the competitor, with it, and after it.
/// The competitor starts `offset` after a round moment.
fn measure(rtt_us: u64, k: u64, acking: Acking, offset: u64) -> [Shares; 3] {
    let link = Bottleneck::marking(GIGABIT, k);
    let net = Net::new(rtt_us * MICROSECOND, &[link; 2], 2);
    let xmp = scheme("xmp", &[]);
    let mut world = net.world();
    world.start(flow(0, &xmp, acking, ENDLESS, vec![net.path(0, 0), net.path(0, 1)]));
    let settle = 100 * MILLISECOND;
    let look = |world: &mut tresse_sim::World, subflows: &[(u64, usize)]| {
        let start = world.now() + settle;
        run_until(world, start);
        let s = shares(world, &link, subflows, start + 500 * MILLISECOND);
        Shares { shared: s[0], own: s[1], competitor: s.get(2).copied().unwrap_or(0.0) }
    };
    let before = look(&mut world, &[(0, 0), (0, 1)]);
    let late = world.now() + offset;
    run_until(&mut world, late);
    // As many bytes as fill link 0 for a second: longer than the look at it.
    world.start(flow(1, &xmp, acking, GIGABIT / 8, vec![net.path(1, 0)]));
    let during = look(&mut world, &[(0, 0), (0, 1), (1, 0)]);
    let until = world.now() + 2 * SECOND;
    assert_eq!(run_until(&mut world, until).len(), 1, "the competitor has finished");
    let after = look(&mut world, &[(0, 0), (0, 1)]);
    [before, during, after]
}

/// RTT and K, which satisfy eq. (1), so that links are full.
const LINKS: [(u64, u64); 5] = [(100, 10), (225, 10), (225, 20), (400, 12), (400, 20)];

#[test]
fn xmp_leaves_a_shared_link_to_its_competitor() {
    for (rtt_us, k) in LINKS {
        let [before, during, after] = measure(rtt_us, k, Acking::Each, 0);
        println!("{rtt_us} us, K = {k}: {during:.3?}");
        // A link that is alone with one subflow is full, for K satisfies eq. (1).
        for alone in [&before, &after] {
            assert!(alone.shared > 0.99 && alone.own > 0.99, "{rtt_us} us, K = {k}: {alone:?}");
        }
        let bdp = (rtt_us * MICROSECOND) as f64 / Bottleneck::marking(GIGABIT, k).packet_time() as f64;
        let floor = 8.0 / (bdp + k as f64);
        // Without coupling it would have half of the link; half of that is "clearly less".
        assert!(during.shared < floor.min(0.25), "{rtt_us} us, K = {k}: {during:?}, floor {floor:.3}");
        assert!(during.own > 0.99, "{rtt_us} us, K = {k}: {during:?}");
        assert!(during.shared + during.competitor > 0.99, "{rtt_us} us, K = {k}: {during:?}");
    }
}

/// With delayed ACKs the traffic shifts less, but it shifts, and no link is idle for it. Packets then
/// come in pairs and windows of ten packets may lock to each other, so a single offset may be anything
/// (0.55 of the link was seen): judged by the mean over offsets.
#[test]
fn xmp_shifts_with_delayed_acks_too() {
    for (rtt_us, k) in LINKS {
        let offsets = some_of(&[0, 1, 2, 3, 4, 5, 6, 7].map(|i| i * rtt_us * MICROSECOND / 8));
        let during = |offset| measure(rtt_us, k, Acking::Delayed, offset)[1];
        let all: Vec<Shares> = offsets.into_iter().map(during).collect();
        let shared: Vec<f64> = all.iter().map(|s| s.shared).collect();
        println!("{rtt_us} us, K = {k}, delayed ACKs: {:.3}, {shared:.3?}", mean(&shared));
        assert!(mean(&shared) < 0.45, "{rtt_us} us, K = {k}: {shared:.3?}");
        for s in &all {
            assert!(s.shared + s.own + s.competitor > 1.97, "{rtt_us} us, K = {k}: {s:?}");
        }
    }
}
