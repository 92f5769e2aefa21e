//! Minimum rates that do not fit are reported with the links and flows that clash.

use tresse_optimum::infeasible::Infeasible;
use tresse_optimum::problem::{Bounded, Pooling, Problem};
use tresse_optimum::solve::{OptimumError, solve};
use tresse_optimum::utility::Utility;

use super::common::{alpha, near, problem};

fn clash(p: &Problem) -> Infeasible {
    match solve(p) {
        Err(OptimumError::Infeasible(clash)) => *clash,
        other => panic!("{other:?}"),
    }
}

#[test]
fn one_link() {
    let mut p = problem(&[100.0, 10.0], [(); 3].map(|()| (alpha(1.0), vec![vec![0]])));
    (p.flows[0].min_rate, p.flows[1].min_rate) = (60.0, 50.0);
    let told = solve(&p).unwrap_err().to_string();
    assert_eq!(
        told,
        "the minimum rates of flows `flow 0` (60), `flow 1` (50) need 110 of link `link 0` (100), which can \
         carry 100: at most 90.9091 % of them is possible"
    );
    // They fit, but log 0 is minus infinity.
    p.flows[1].min_rate = 40.0;
    let told = solve(&p).unwrap_err().to_string();
    assert_eq!(
        told,
        "the minimum rates of flows `flow 0` (60), `flow 1` (40) need 100 of link `link 0` (100), which can \
         carry 100: nothing is left for flow `flow 2`"
    );
    p.flows[1].min_rate = 39.0;
    assert!(solve(&p).is_ok());
}

#[test]
fn a_minimum_of_each_path_needs_them_all() {
    let mut p = problem(&[100.0, 10.0], [(alpha(1.0), vec![vec![0], vec![0, 1]])]);
    p.flows[0].min_rate = 9.0;
    assert!(solve(&p).is_ok());
    p.flows[0].min_rate = 11.0;
    assert!(solve(&p).is_ok(), "the first path may carry the total");
    p.flows[0].bounded = Bounded::EachPath;
    let told = clash(&p);
    assert_eq!((told.links.len(), told.links[0].name.as_str()), (1, "link 1"));
    p.links[1].capacity = 100.0;
    p.flows[0].min_rate = 60.0;
    let told = clash(&p);
    assert_eq!((told.links.len(), told.links[0].name.as_str()), (1, "link 0"));
    near(told.needed, 120.0, 1e-9);
}

#[test]
fn a_cut_of_two_links() {
    // Two flows over either of two links; a third one elsewhere is unrelated.
    let ways = || (alpha(1.0), vec![vec![0, 2], vec![1, 3]]);
    let mut p = problem(&[30.0, 50.0, 200.0, 200.0, 9.0], [ways(), ways(), (alpha(1.0), vec![vec![4]])]);
    p.flows.iter_mut().for_each(|f| f.min_rate = 8.0);
    assert!(solve(&p).is_ok());
    (p.flows[0].min_rate, p.flows[1].min_rate) = (45.0, 55.0);
    let clash = clash(&p);
    assert_eq!(
        clash.links.iter().map(|l| (l.name.as_str(), l.count)).collect::<Vec<_>>(),
        [("link 0", 1.0), ("link 1", 1.0)]
    );
    assert_eq!(clash.flows.iter().map(|f| f.0.as_str()).collect::<Vec<_>>(), ["flow 0", "flow 1"]);
    assert!((clash.part - 0.8).abs() < 1e-6, "{}", clash.part);
    assert!((clash.needed - 100.0).abs() < 1e-3 && (clash.available - 80.0).abs() < 1e-3, "{clash:?}");
}

#[test]
fn links_that_count_differently() {
    // Flow 0 crosses link 0 once, or links 1 and 2; flow 1 link 1, flow 2 link 2. The detour costs both.
    let paths = [vec![vec![0], vec![1, 2]], vec![vec![1]], vec![vec![2]]];
    let mut p = problem(&[10.0, 10.0, 10.0], paths.map(|paths| (alpha(1.0), paths)));
    p.flows.iter_mut().zip([16.0, 6.0, 6.0]).for_each(|(f, least)| f.min_rate = least);
    let clash = clash(&p);
    // The proof holds with any weights: it needs more than is available, in the ratio of the part.
    assert!(clash.needed > clash.available, "{clash:?}");
    assert!((clash.available / clash.needed - clash.part).abs() < 1e-4, "{clash:?}");
}

#[test]
fn a_hard_class_counts_too_and_equal_flows_are_all_named() {
    let mut p = problem(&[100.0], [(); 12].map(|()| (alpha(1.0), vec![vec![0]])));
    p.flows.iter_mut().for_each(|f| (f.min_rate, f.max_rate) = (10.0, 10.0));
    let clash = clash(&p);
    assert_eq!(clash.flows.len(), 12);
    assert!(clash.to_string().contains("`flow 7` (10) and 4 more need 120 of link"), "{clash}");
    p.flows.truncate(9);
    assert!(solve(&p).is_ok());
}

/// Two unrelated clashes: one of them is reported, without mention of the other, or of a flow that could give
/// way.
#[test]
fn one_of_two_independent_clashes_is_told() {
    let flows = [vec![vec![0]], vec![vec![0, 2]], vec![vec![1]], vec![vec![1, 2]], vec![vec![2]]];
    let mut p = problem(&[10.0, 20.0, 500.0], flows.map(|paths| (alpha(1.0), paths)));
    p.flows.iter_mut().zip([8.0, 7.0, 15.0, 12.0, 3.0]).for_each(|(f, least)| f.min_rate = least);
    let clash = clash(&p);
    let names: Vec<_> = clash.flows.iter().map(|f| f.0.as_str()).collect();
    let links: Vec<_> = clash.links.iter().map(|l| l.name.as_str()).collect();
    match links[..] {
        ["link 0"] => assert_eq!((names, clash.needed), (vec!["flow 0", "flow 1"], 15.0)),
        ["link 1"] => assert_eq!((names, clash.needed), (vec!["flow 2", "flow 3"], 27.0)),
        _ => panic!("{clash:?}"),
    }
    assert!((clash.available / clash.needed - clash.part).abs() < 1e-6, "{clash:?}");
}

/// Every flow alone needs too much of the links at its ends, over any path: one of each is reported.
#[test]
fn a_host_that_promises_more_than_its_own_link_carries() {
    let ring = |i: usize| (alpha(1.0), vec![vec![i, 8, (i + 1) % 8], vec![i, 9, (i + 1) % 8]]);
    let mut p = problem(&[[1e9; 8].as_slice(), &[4e9; 2]].concat(), std::array::from_fn::<_, 8, _>(ring));
    p.flows.iter_mut().for_each(|f| f.min_rate = 1.2e9);
    let told = clash(&p).with_rates(&|rate| format!("{} Mbit/s", rate / 1e6));
    assert!(told.starts_with("the minimum rate of flow `flow "), "{told}");
    assert!(told.contains("(1200 Mbit/s) needs 1200 Mbit/s of link `link "), "{told}");
    assert!(told.ends_with("which can carry 1000 Mbit/s: at most 83.3333 % of it is possible"), "{told}");
}

/// Paths that count separately each need something, unless their marginal utility at 0 is finite.
#[test]
fn minima_that_leave_a_path_nothing() {
    let paths = [vec![vec![0]], vec![vec![0], vec![1]]];
    let mut p = problem(&[10.0, 10.0], paths.map(|paths| (alpha(1.0), paths)));
    p.flows[0].min_rate = 10.0;
    assert!(solve(&p).is_ok(), "the second flow has another path");
    p.flows[1].pooling = Pooling::Separate;
    let clash = clash(&p);
    assert_eq!((clash.starved, clash.part), (vec!["flow 1".to_owned()], 1.0));
    assert_eq!(clash.links.iter().map(|l| l.name.as_str()).collect::<Vec<_>>(), ["link 0"]);
    p.flows[1].utility = Utility::Bos { scale: 1.0 };
    assert!(solve(&p).is_ok());
}
