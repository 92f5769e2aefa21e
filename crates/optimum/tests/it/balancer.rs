//! HOLNET's controllers behind its in-network balancer (THESIS eq. (2.15)-(2.18), Table 2.1).

use tresse_optimum::fluid::{Balancer, Connection, Feedback, Fluid, Link, Signal, State};

use crate::networks::{MBPS, connection, named, near, network, path, settle};

const BALANCER: Balancer =
    Balancer { node: 1, feedback: Feedback::Backward, r_max: 1.5, r_min: 0.1, gain: 1.0 };

/// Link 0 is the host's, the node chooses the second link of each path.
fn balanced(paths: &[&[usize]], feedback: Feedback) -> Connection {
    let paths = paths.iter().map(|links| path(links, 0.16)).collect();
    Connection {
        balancer: Some(Balancer { feedback, ..BALANCER }),
        ..connection(named("holnet_uta", 1), paths)
    }
}

fn settled(capacities: &[u64], connections: Vec<Connection>) -> State {
    let links = capacities.iter().map(|c| Link::Capacity(c * MBPS)).collect();
    settle(network(Signal::PerRound, links, connections))
}

#[test]
fn shares_follow_the_capacities_of_the_ports() {
    for (first, second) in [(500, 500), (600, 400), (900, 100)] {
        let c = balanced(&[&[0, 1], &[0, 2]], Feedback::Backward);
        let state = settled(&[10_000, first, second], vec![c]);
        near(state.rates_bps[0][0], (first * MBPS) as f64, 1e-5, "the first port");
        near(state.rates_bps[0][1], (second * MBPS) as f64, 1e-5, "the second port");
    }
}

#[test]
fn a_connection_that_its_host_limits_is_not_limited_by_the_node() {
    let state = settled(&[300, 600, 600], vec![balanced(&[&[0, 1], &[0, 2]], Feedback::Backward)]);
    near(state.connection_rates_bps()[0], 300e6, 1e-5, "the host's link");
    near(state.rates_bps[0][0], 150e6, 1e-5, "equal ports, equal shares");
}

#[test]
fn four_ports_are_all_used() {
    let capacities = [10_000, 100, 200, 300, 400];
    let c = balanced(&[&[0, 1], &[0, 2], &[0, 3], &[0, 4]], Feedback::Backward);
    let state = settled(&capacities, vec![c]);
    for (load, capacity) in state.loads_bps.iter().zip(capacities).skip(1) {
        near(*load, (capacity * MBPS) as f64, 1e-4, "a port");
    }
}

#[test]
fn what_lies_beyond_the_next_hop_is_heard_only_if_it_is_reported() {
    // The links 3 and 4 are one hop beyond the node's ports.
    let paths: [&[usize]; 2] = [&[0, 1, 3], &[0, 2, 4]];
    let capacities = [2_000, 1_000, 1_000, 300, 700];
    let state = settled(&capacities, vec![balanced(&paths, Feedback::Backward)]);
    near(state.rates_bps[0][0], 300e6, 1e-4, "the first next hop");
    near(state.rates_bps[0][1], 700e6, 1e-4, "the second next hop");

    let links = capacities.map(|c| Link::Capacity(c * MBPS)).to_vec();
    let deaf = network(Signal::PerRound, links, vec![balanced(&paths, Feedback::OneHop)]);
    let state = Fluid::new(deaf).unwrap().advance(1.0, 1).unwrap().remove(0);
    assert!(state.connection_rates_bps()[0] > 1_200e6, "the source cannot hear of it: {state:?}");
}

#[test]
fn two_balanced_connections_share_evenly() {
    let paths: [&[usize]; 2] = [&[0, 2], &[0, 3]];
    let others: [&[usize]; 2] = [&[1, 2], &[1, 3]];
    let both = vec![balanced(&paths, Feedback::Backward), balanced(&others, Feedback::Backward)];
    let state = settled(&[10_000, 10_000, 600, 300], both);
    near(state.connection_rates_bps()[0], 450e6, 1e-4, "half of all");
}

#[test]
fn only_holnets_single_rate_controllers_go_with_a_balancer() {
    let c = Connection { scheme: named("lia", 2), ..balanced(&[&[0, 1], &[0, 2]], Feedback::Backward) };
    let links = vec![Link::Capacity(MBPS); 3];
    let error = Fluid::new(network(Signal::PerRound, links, vec![c])).unwrap_err();
    assert_eq!(error.to_string(), "connection 0: expected HOLNET's CC or UTA with its balancer");
}
