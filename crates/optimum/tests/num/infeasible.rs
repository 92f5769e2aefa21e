//! Minimum rates that do not fit are told with the links and flows that clash.

use crate::common::{alpha, problem};
use tresse_optimum::infeasible::Infeasible;
use tresse_optimum::problem::Problem;
use tresse_optimum::solve::{OptimumError, solve};

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
         carry 100: at most 90.9091 % of every minimum rate can be had"
    );
    p.flows[1].min_rate = 40.0;
    assert!(
        solve(&p).is_err_and(|e| !matches!(e, OptimumError::Infeasible(_))),
        "the third flow gets nothing"
    );
    p.flows[1].min_rate = 39.0;
    assert!(solve(&p).is_ok());
}

#[test]
fn a_cut_of_two_links() {
    // Two flows over either of two links; a third one elsewhere has nothing to do with it.
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
    // The proof holds whatever weights it has: it needs more than there is, in the part's ratio.
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
