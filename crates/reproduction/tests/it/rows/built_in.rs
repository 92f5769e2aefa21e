//! Rows that are built-in experiments: MPTCP_OPN's motivation study, and vMCC's path-sharing detection.

use std::collections::BTreeSet;

use tresse_experiment::{Profile, find};
use tresse_units::{SECOND, Time};

use crate::rows::common::{Row, seen};

fn built_in(name: &str) -> Row {
    Row::new(find(name).expect("built in"), Profile::Full, &[], &[])
}

/// "The number of available paths between any pair of hosts is 20. The link bandwidth and round trip time are 1Gbps and
/// 100us ... there are 50 hosts, each of which sends one MPTCP flow to one receiver under the other ToRs", of 400 to 800
/// packets, with 1 to 20 subflows, 20 times.
#[test]
fn the_motivation_study_of_opn_has_50_flows_over_20_paths() {
    for (name, packets) in
        [("opn/fig2", &[400, 500, 600, 700, 800][..]), ("opn/fig3", &[800]), ("opn/fig4", &[800])]
    {
        let row = built_in(name);
        let routes = row.routes(0, 50);
        assert_eq!((routes.len(), row.rates(&routes[0]), row.rtt_us(0, 50).0), (20, vec![1000; 4], 100.0));
        let first = &row.plan.cases[0].scheme;
        let light =
            |c: &tresse_experiment::Case| c.label().ends_with("20-hosts") || c.label().ends_with("rto-10ms");
        let of_first =
            |c: &&tresse_experiment::Case| c.scheme == *first && c.subflows == Some(20) && !light(c);
        let sizes = row.plan.cases.iter().filter(of_first).map(|case| {
            let seen = seen(&case.parts[0], Time::MAX - 1, |_| SECOND);
            assert_eq!((seen.starts.len(), seen.most_at_a_time(|s| s.from)), (20 * 50, 1), "{name}");
            assert_eq!(seen.most_at_a_time(|s| s.to), 1);
            assert!(seen.starts.iter().all(|(_, s)| s.from < 50 && s.to >= 50));
            seen.starts[0].1.bytes.unwrap_or(0) / 1460
        });
        let sizes = sizes.collect::<Vec<_>>();
        assert_eq!(sizes, packets, "{name}");
        let counts: BTreeSet<_> = row.plan.cases.iter().map(|c| c.subflows).collect();
        assert!(counts.into_iter().eq((1..=20).map(Some)), "{name}");
    }
}

/// 1, 2, 5 and 10 connections of each machine with two subflows; half of the machines have both on one path; the thresholds
/// of Tables III and IV.
#[test]
fn path_sharing_of_vmcc_has_1_to_10_connections_half_of_which_share() {
    let row = built_in("vmcc/table3");
    let shares = |machine: u32| {
        let routes = row.routes(machine, machine + 12);
        row.passes(&routes[0])[0] == row.passes(&routes[1])[0]
    };
    assert_eq!((0..12).filter(|machine| shares(*machine)).count(), 6);
    let connections = row.plan.cases.iter().filter(|c| c.scheme == "table4").map(|case| {
        let seen = seen(&case.parts[0], SECOND / 2, |_| SECOND);
        assert_eq!(case.subflows, Some(2));
        seen.starts.len() / 12
    });
    assert_eq!(connections.collect::<Vec<_>>(), [1, 2, 5, 10]);
    let thresholds = |scheme: &str| {
        let manager = row.experiment().schemes[scheme].path_manager.clone().expect("it has one");
        ["gamma", "theta", "delta"].map(|name| manager.parameters[name].as_integer())
    };
    assert_eq!(thresholds("table3"), [10, 3, 10].map(Some));
    assert_eq!(thresholds("table4"), [10, 5, 14].map(Some));
}
