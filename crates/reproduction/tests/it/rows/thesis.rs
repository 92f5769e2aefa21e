//! The thesis's chapters 3 and 4: a multipath flow with its own link and one that it shares with TCP.

use tresse_units::{SECOND, Time};

use crate::rows::common::{Row, full, seen};

/// Each row, the hosts that send over both paths and over one, and C1 and C2, Mbps.
type Setup = (&'static str, &'static [&'static str], &'static [&'static str], [u64; 2]);

const FIVE: [&[&str]; 2] =
    [&["S1.1", "S1.2", "S1.3", "S1.4", "S1.5"], &["S2.1", "S2.2", "S2.3", "S2.4", "S2.5"]];

const SETUPS: [Setup; 8] = [
    ("holnet/fig3.3", &["S1"], &["S2"], [1024, 1024]),
    ("holnet/table3.2", FIVE[0], FIVE[1], [1024, 1024]),
    ("holnet/fig3.4", &["S1"], &["S2"], [1024, 1024]),
    ("holnet/fig3.5", &["S1"], &["S2"], [1024, 1024]),
    ("holnet/fig3.6", &["S1"], &["S2"], [1024, 1024]),
    ("holnet/fig4.3", &["S2"], &["S1"], [1024, 1024]),
    ("holnet/fig4.4", &["S2"], &["S1"], [8, 1024]),
    ("holnet/fig4.5", &["S2"], &["S1"], [1024, 1024]),
];

/// x11 has the private link, with C1, and x12 and x2 share the other, with C2; RTTs are the default of 100 us
/// per link.
#[test]
fn every_set_up_has_a_private_and_a_shared_path() {
    for (name, multipath, single, [c1, c2]) in SETUPS {
        let row = full(name);
        assert_eq!(row.plan.fabric().hosts() as usize, multipath.len() + single.len() + 1, "{name}");
        for from in multipath {
            let mut routes: Vec<_> =
                row.named(from, "D").iter().map(|r| (row.passes(r)[0], row.rates(r)[1])).collect();
            routes.sort_unstable();
            assert_eq!(routes, [("a", c1), ("b", c2)], "{name}");
            assert_eq!(row.rtt_us_of(&row.named(from, "D")[0]), 400.0);
        }
        for from in single {
            let routes = row.named(from, "D");
            assert_eq!((routes.len(), row.passes(&routes[0])[0]), (1, "b"), "{name}");
        }
    }
}

/// All flows are infinite, start together, and continue to the end: for 10 s at least, or 20 s where links
/// change.
#[test]
fn flows_start_together_and_have_no_end() {
    for (name, multipath, single, _) in SETUPS {
        let row = full(name);
        for case in &row.plan.cases {
            let seen = seen(&case.parts[0], SECOND, |_| Time::MAX);
            assert!(seen.starts.iter().all(|(at, s)| *at == 0 && s.bytes.is_none()), "{name}");
            let (d, from) = (row.host("D"), seen.starts.iter().map(|(_, s)| s.from).collect::<Vec<_>>());
            assert!(seen.starts.iter().all(|(_, s)| s.to == d));
            let wanted: Vec<u32> = multipath.iter().chain(single).map(|host| row.host(host)).collect();
            assert_eq!(from, wanted, "{name}");
            let [own, tcp] = &case.bound_schemes[..] else { panic!("{name}: two bound_schemes") };
            assert_eq!((own.subflows, tcp.subflows, &*tcp.scheme), (Some(2), Some(1), "tcp"));
            let changes = row.experiment().changes.len() as u64;
            assert!(case.duration >= Some((10 + 5 * changes) * SECOND), "{name}");
        }
    }
}

/// The private link has 8 Mbps for 7 s, from 5 s on in chapter 3 and from 6 s on in chapter 4.
#[test]
fn the_private_link_falls_to_8_mbps_for_7_seconds() {
    for (name, from) in [("holnet/fig3.4", 5), ("holnet/fig3.6", 5), ("holnet/fig4.5", 6)] {
        let row = full(name);
        let changes = row.experiment().changes.iter().map(|c| {
            let link = c.link.clone().expect("a link").join(" ");
            (c.at.0 / SECOND, link, c.rate.map(|r| r.0 / 1_000_000))
        });
        let wanted = [(from, "a D".to_owned(), Some(8)), (from + 7, "a D".to_owned(), Some(1024))];
        assert_eq!(changes.collect::<Vec<_>>(), wanted, "{name}");
    }
}

/// The first scheme of each case: its controller and, if given, the parameter.
fn schemes(row: &Row, parameter: &str) -> Vec<(String, Option<u64>)> {
    let of = |case: &tresse_experiment::Case| {
        let controllers = &case.bound_schemes[0].controllers;
        let declared = controllers.controller().parameters();
        let value = declared.iter().position(|p| p.name == parameter).map(|i| controllers.values()[i]);
        (controllers.controller().name().to_owned(), value)
    };
    row.plan.cases.iter().map(of).collect()
}

/// Each figure has the schemes of its panels.
#[test]
fn the_schemes_are_those_of_the_panels() {
    let of = |name: &str, value| (name.to_owned(), value);
    let family = [
        of("lia", None),
        of("olia", None),
        of("balia", None),
        of("eutcp1", None),
        of("eutcp", Some(1050)),
        of("eutcp", Some(1100)),
    ];
    for name in ["holnet/fig3.3", "holnet/table3.2", "holnet/fig3.4"] {
        let found = schemes(full(name), "gamma");
        assert!(family.iter().all(|scheme| found.contains(scheme)), "{name}: {found:?}");
    }
    let rules = [1, 2, 3].map(|rule| of("wutcp", Some(rule)));
    let found = schemes(full("holnet/fig3.5"), "rule");
    assert!(rules.iter().all(|scheme| found.contains(scheme)), "{found:?}");
    assert_eq!(schemes(full("holnet/fig3.6"), "gamma"), [of("wutcp", None), of("eutcp", Some(1050))]);
    let half = [
        of("lia", None),
        of("balia", None),
        of("emptcp", None),
        of("wmptcp", Some(500)),
        of("hmptcp", Some(500)),
    ];
    for name in ["holnet/fig4.3", "holnet/fig4.4", "holnet/fig4.5"] {
        assert_eq!(schemes(full(name), "omega_1"), half, "{name}");
    }
}
