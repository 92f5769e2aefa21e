//! Every form of claim with every verdict, and the intervals.

use serde_json::json;
use tresse_reproduction::{Publication, comparison};
use tresse_results::record::claim::FormName;
use tresse_results::record::claim::Verdict::{self, DoesNotHold, Holds, Inconclusive};

use super::{case, claim, measured, run_json};
use crate::OWNERS;

/// Verdict, value and interval for XMP-2 and DCTCP with these goodputs under each seed.
fn found(keys: &str, xmp: &[f64], dctcp: &[f64]) -> (Verdict, Option<f64>, Option<f64>) {
    let cases = [
        measured("xmp-2 permutation", "goodput_mean_bps", xmp),
        measured("dctcp permutation", "goodput_mean_bps", dctcp),
    ];
    let claim = claim(&format!("metric = \"goodput_mean_bps\"\n{keys}"), &cases).expect("both were run");
    let holds = match claim.verdict {
        Holds => Some(true),
        Inconclusive => None,
        DoesNotHold => Some(false),
    };
    assert_eq!(claim.holds, holds);
    (claim.verdict, claim.value, claim.ci95)
}

const SIDES: &str = "left = { scheme = \"xmp\", subflows = 2 }\nright = { scheme = \"dctcp\" }\n";

#[test]
fn one_seed_shows_no_hundredth_of_a_per_cent() {
    let keys = format!("{SIDES}ratio_above = 1.0");
    for (ratio, verdict) in
        [(1.000_05, Inconclusive), (1.000_2, Holds), (1.0, DoesNotHold), (0.999_95, DoesNotHold)]
    {
        assert_eq!(found(&keys, &[ratio], &[1.0]).0, verdict, "{ratio}");
    }
    assert_eq!(found(&keys, &[1.000_05, 1.000_06, 1.000_05], &[1.0; 3]).0, Holds, "seeds agree");
    let order = "of = [{ scheme = \"dctcp\" }, { scheme = \"xmp\", subflows = 2 }]\norder = \"falling\"";
    for (next, verdict) in [(0.999_95, Inconclusive), (0.999_8, Holds)] {
        assert_eq!(found(order, &[next], &[1.0]).0, verdict, "{next}");
    }
}

#[test]
fn a_mechanism_that_did_nothing_decides_nothing() {
    let judged = |goodput: f64, counts: &[(&str, u32)]| {
        let mut cases = [
            measured("xmp-2 permutation", "goodput_mean_bps", &[goodput]),
            measured("dctcp permutation", "goodput_mean_bps", &[1.0]),
        ];
        for (metric, count) in counts {
            cases[0]["metrics"][metric] = (*count).into();
        }
        let keys = format!("metric = \"goodput_mean_bps\"\n{SIDES}ratio_above = 1.5");
        claim(&keys, &cases).expect("both were run")
    };
    for counts in [&[][..], &[("share_moves", 1)], &[("path_shifts", 1), ("tuned_flows", 0)]] {
        assert_eq!(judged(2.0, counts).verdict, Holds, "{counts:?}");
        assert_eq!(judged(1.0, counts).verdict, DoesNotHold, "{counts:?}");
    }
    for counts in [&[("share_moves", 0)][..], &[("path_shifts", 0), ("tuned_flows", 0)]] {
        for goodput in [2.0, 1.0] {
            let own = judged(goodput, counts);
            assert_eq!(
                (own.verdict, own.holds, own.value),
                (Inconclusive, None, Some(goodput)),
                "{counts:?}"
            );
            assert!(own.why.is_some_and(|why| why.starts_with("inert: in xmp-2 permutation ")), "{counts:?}");
        }
    }
}

/// A subflow that never converges has no convergence time: were the few that do the whole, a scheme would look faster the
/// fewer they are.
#[test]
fn a_statistic_of_a_minority_decides_nothing() {
    let judged = |metric: &str, [left_out, all]: [&str; 2], counts: [u32; 2]| {
        let mut cases =
            [measured("xmp-2 permutation", metric, &[2.0]), measured("dctcp permutation", metric, &[1.0])];
        cases[1]["metrics"][left_out] = counts[0].into();
        cases[1]["metrics"][all] = counts[1].into();
        claim(&format!("metric = \"{metric}\"\n{SIDES}ratio_above = 1.5"), &cases).expect("both were run")
    };
    let convergence = ("convergence_mean_s", ["unconverged", "convergences"]);
    let completion = ("fct_p99_s", ["unfinished_flows", "flows"]);
    let of_slice = ("web.fct_p99_s", ["web.unfinished_flows", "web.flows"]);
    for (metric, counts) in [convergence, completion, of_slice] {
        assert_eq!(judged(metric, counts, [36, 72]).verdict, Holds, "half of them are no minority");
        let own = judged(metric, counts, [37, 72]);
        assert_eq!((own.verdict, own.holds, own.value), (Inconclusive, None, Some(2.0)), "{metric}");
        let why = own.why.unwrap_or_default();
        assert!(why.contains("of dctcp-1 permutation is that of a minority, 35 of 72"), "{why}");
    }
    let of_one = "metric = \"fct_mean_s\"\nof = { scheme = \"xmp\" }\nabove = 1.0";
    let mut case = measured("xmp-2 permutation", "fct_mean_s", &[2.0]);
    (case["metrics"]["unfinished_flows"], case["metrics"]["flows"]) = (json!(3), json!(4));
    assert_eq!(claim(of_one, &[case]).expect("it was run").verdict, Inconclusive);
}

#[test]
fn a_claim_may_be_about_a_slice() {
    let cases = [
        measured("xmp-2 permutation", "small-web.fct_p99_s", &[1.0]),
        measured("dctcp permutation", "small-web.fct_p99_s", &[3.0]),
    ];
    let claim = |bound| {
        let keys = format!("metric = \"small-web.fct_p99_s\"\n{SIDES}ratio_below = {bound}");
        claim(&keys, &cases).expect("both were run").verdict
    };
    assert_eq!((claim(0.5), claim(0.3)), (Holds, DoesNotHold));
}

#[test]
fn with_one_seed_the_value_decides() {
    for (keys, xmp, dctcp, verdict, value) in [
        ("ratio_above = 1.13", 1.2, 1.0, Holds, 1.2),
        ("ratio_above = 1.13", 1.1, 1.0, DoesNotHold, 1.1),
        ("ratio_above = 2.0", 2.0, 1.0, DoesNotHold, 2.0),
        ("ratio_below = 1.13", 1.1, 1.0, Holds, 1.1),
        ("ratio_below = 1.13", 1.2, 1.0, DoesNotHold, 1.2),
        ("ratio_above = 0.9\nratio_below = 1.15", 1.0, 1.0, Holds, 1.0),
        ("ratio_above = 0.9\nratio_below = 1.15", 0.5, 1.0, DoesNotHold, 0.5),
        ("ratio_above = 0.9\nratio_below = 1.15", 2.0, 1.0, DoesNotHold, 2.0),
        // 13 % more, give or take a fifth of that: no effect is never enough, nor twice the effect.
        ("excess = 0.13", 1.13, 1.0, Holds, 1.13),
        ("excess = 0.13", 1.11, 1.0, Holds, 1.11),
        ("excess = 0.13", 1.0, 1.0, DoesNotHold, 1.0),
        ("excess = 0.13", 1.17, 1.0, DoesNotHold, 1.17),
        ("excess = 0.13\nwithin = 0.5", 1.17, 1.0, Holds, 1.17),
        ("excess = -0.5", 0.55, 1.0, Holds, 0.55),
        ("excess = -0.5", 0.65, 1.0, DoesNotHold, 0.65),
        ("excess = -0.5", 1.5, 1.0, DoesNotHold, 1.5),
        ("difference_above = 1.0", 4.5, 3.0, Holds, 1.5),
        ("difference_above = 1.0", 3.5, 3.0, DoesNotHold, 0.5),
        ("difference_below = 0", 3.5, 3.0, DoesNotHold, 0.5),
        ("difference_above = -1.0\ndifference_below = 1.0", 3.0, 3.5, Holds, -0.5),
    ] {
        let found = found(&format!("{SIDES}{keys}"), &[xmp], &[dctcp]);
        assert_eq!(found, (verdict, Some(value), None), "{keys}: {xmp} {dctcp}");
    }
    for (keys, xmp, verdict) in [
        ("above = 0.9", 1.0, Holds),
        ("above = 0.9", 0.9, DoesNotHold),
        ("below = 0.9", 0.5, Holds),
        ("below = 0.9", 1.0, DoesNotHold),
        ("above = 0.4\nbelow = 0.6", 0.5, Holds),
        ("above = 0.4\nbelow = 0.6", 0.7, DoesNotHold),
    ] {
        let found = found(&format!("of = {{ scheme = \"xmp\" }}\n{keys}"), &[xmp], &[9.0]);
        assert_eq!(found, (verdict, Some(xmp), None), "{keys}: {xmp}");
    }
}

#[test]
fn steps_are_shares_of_the_greater_value() {
    let of = "of = [{ scheme = \"dctcp\" }, { scheme = \"xmp\" }]\n";
    for (keys, dctcp, xmp, verdict, value) in [
        ("order = \"rising\"", 3.0, 4.0, Holds, 0.25),
        ("order = \"rising\"", 4.0, 3.0, DoesNotHold, -0.25),
        ("order = \"falling\"", 4.0, 3.0, Holds, -0.25),
        ("order = \"falling\"", 3.0, 4.0, DoesNotHold, 0.25),
        ("order = \"falling\"", 3.0, 3.0, DoesNotHold, 0.0),
        // With slack, the last must still be beyond the first.
        ("order = \"falling\"\nslack = 0.02", 100.0, 99.0, Holds, -0.01),
        ("order = \"falling\"\nslack = 0.02", 3.0, 3.0, DoesNotHold, 0.0),
        ("order = \"falling\"\nslack = 0.02", 99.0, 100.0, DoesNotHold, 0.01),
        ("order = \"rising\"\nslack = 0.02", 100.0, 99.0, DoesNotHold, -0.01),
        ("order = \"rising\"", 0.0, 5.0, Holds, 1.0),
        ("order = \"falling\"", 0.0, 0.0, DoesNotHold, 0.0),
    ] {
        let found = found(&format!("{of}{keys}"), &[xmp], &[dctcp]);
        assert_eq!(found, (verdict, Some(value), None), "{keys}: {dctcp} {xmp}");
    }
    // Of several steps the worst one is shown.
    let cases = [1.0, 4.0, 3.0].iter().zip(["dctcp permutation", "xmp-2 permutation", "xmp-4 permutation"]);
    let cases: Vec<_> = cases.map(|(value, label)| measured(label, "fct_mean_s", &[*value])).collect();
    let keys = "metric = \"fct_mean_s\"\norder = \"rising\"\nof = [{ scheme = \"dctcp\" }, { scheme = \"xmp\", \
                subflows = 2 }, { scheme = \"xmp\", subflows = 4 }]";
    let claim = claim(keys, &cases).expect("all were run");
    assert_eq!((claim.verdict, claim.value, claim.form), (DoesNotHold, Some(-0.25), FormName::Order));
    assert_eq!(claim.of.as_deref(), Some("xmp-4 permutation against xmp-2 permutation"));
}

#[test]
fn with_slack_a_step_may_go_the_wrong_way_but_not_all_of_them() {
    let of = "metric = \"fct_mean_s\"\nof = [{ scheme = \"dctcp\" }, { scheme = \"xmp\", subflows = 2 }, { scheme = \
              \"xmp\", subflows = 4 }]\norder = \"rising\"\nslack = 0.02";
    let found = |values: [f64; 3]| {
        let labels = ["dctcp permutation", "xmp-2 permutation", "xmp-4 permutation"];
        let cases = labels.iter().zip(values).map(|(label, value)| measured(label, "fct_mean_s", &[value]));
        let claim = claim(of, &cases.collect::<Vec<_>>()).expect("all were run");
        (claim.verdict, claim.cases.expect("two steps, and both together").hold)
    };
    assert_eq!(found([100.0, 99.0, 110.0]), (Holds, 3));
    assert_eq!(found([100.0, 97.0, 110.0]), (DoesNotHold, 2));
    assert_eq!(found([100.0, 100.0, 100.0]), (DoesNotHold, 2), "nothing rises");
    assert_eq!(found([100.0, 99.0, 98.0]), (DoesNotHold, 2), "it falls");
}

#[test]
fn values_are_paired_by_seed() {
    let keys = format!("{SIDES}ratio_above = 1.9");
    // The workload of a seed makes both large or small: the ratio is 2 under each.
    assert_eq!(found(&keys, &[2.0, 20.0, 200.0], &[1.0, 10.0, 100.0]), (Holds, Some(2.0), Some(0.0)));
    // 1.9, 2.0 and 2.1: half the interval is 4.303 * 0.1 / sqrt(3) = 0.248.
    let (verdict, value, ci95) = found(&keys, &[1.9, 2.0, 2.1], &[1.0; 3]);
    let width = 4.303 * 0.1 / 3f64.sqrt();
    assert_eq!(verdict, Inconclusive);
    assert!((value.expect("a value") - 2.0).abs() < 1e-12 && (ci95.expect("a width") - width).abs() < 1e-9);
    for (bound, verdict) in [(1.7, Holds), (1.8, Inconclusive), (2.2, Inconclusive), (2.3, DoesNotHold)] {
        let keys = format!("{SIDES}ratio_above = {bound}");
        assert_eq!(found(&keys, &[1.9, 2.0, 2.1], &[1.0; 3]).0, verdict, "above {bound}");
        let keys = format!("of = {{ scheme = \"xmp\" }}\nabove = {bound}");
        assert_eq!(found(&keys, &[1.9, 2.0, 2.1], &[1.0; 3]).0, verdict, "by itself above {bound}");
    }
    // A band with one side met and the other unclear.
    let keys = format!("{SIDES}ratio_above = 1.0\nratio_below = 2.1");
    assert_eq!(found(&keys, &[1.9, 2.0, 2.1], &[1.0; 3]).0, Inconclusive);
    let keys = format!("{SIDES}difference_above = 0.5");
    assert_eq!(found(&keys, &[2.0, 12.0], &[1.0, 11.0]), (Holds, Some(1.0), Some(0.0)));
    let keys = "of = [{ scheme = \"dctcp\" }, { scheme = \"xmp\" }]\norder = \"rising\"";
    assert_eq!(found(keys, &[2.0, 1.0], &[1.0, 2.0]).0, Inconclusive, "one seed says this, one that");
}

#[test]
fn counts_are_those_of_a_seed() {
    let mut one = measured("xmp-2 permutation", "timeouts", &[3.0, 5.0]);
    one["metrics"]["timeouts"] = json!(8);
    let claim =
        claim("metric = \"timeouts\"\nof = { scheme = \"xmp\" }\nbelow = 100", &[one]).expect("it was run");
    assert_eq!(claim.value, Some(4.0));
}

#[test]
fn without_a_value_it_is_inconclusive() {
    let keys = format!("metric = \"fct_mean_s\"\n{SIDES}ratio_above = 1");
    let value = |label: &str, value: f64| measured(label, "fct_mean_s", &[value]);
    let [xmp, dctcp] = ["xmp-2 permutation", "dctcp permutation"];
    for (cases, why) in [
        (
            [value(xmp, 1.0), value(dctcp, 0.0)],
            "fct_mean_s of dctcp-1 permutation is 0, so there is no ratio",
        ),
        ([value(xmp, 1.0), case(dctcp)], "dctcp-1 permutation has no fct_mean_s"),
        ([case(xmp), value(dctcp, 1.0)], "xmp-2 permutation has no fct_mean_s"),
    ] {
        let claim = claim(&keys, &cases).expect("both were run");
        assert_eq!((claim.verdict, claim.value, claim.holds), (Inconclusive, None, None));
        assert_eq!(claim.why.as_deref(), Some(why));
    }
    let seeds = [measured(xmp, "fct_mean_s", &[1.0, 2.0]), measured(dctcp, "fct_mean_s", &[0.0, 2.0])];
    let why = claim(&keys, &seeds).expect("both were run").why.expect("a reason");
    assert_eq!(why, "fct_mean_s of xmp-2 permutation or dctcp-1 permutation is 0 or missing under a seed");
    assert!(claim(&keys, &[value(xmp, 1.0)]).is_none(), "DCTCP was not run");
    // A failing case decides, even if others are missing.
    let cases = [value("xmp-2 jobs", 0.5), value("dctcp jobs", 1.0), value(xmp, 1.0), case(dctcp)];
    assert_eq!(claim(&keys, &cases).expect("all were run").verdict, DoesNotHold);
}

#[test]
fn jumps_are_so_far_apart_or_not() {
    let keys = "metric = \"jct_s\"\nof = { scheme = \"xmp\", pattern = \"jobs\" }\njumps = { apart = \"200ms\", within \
                = \"20ms\" }";
    let mut jumps = measured("xmp-2 jobs", "jobs", &[100.0]);
    assert_eq!(
        claim(keys, std::slice::from_ref(&jumps)).expect("it was run").verdict,
        DoesNotHold,
        "one only"
    );
    for (apart, verdict) in [(0.2, Holds), (0.215, Holds), (0.23, DoesNotHold), (0.1, DoesNotHold)] {
        jumps["jumps"] =
            json!({ "c": { "apart_s": apart, "at_s": [0.01, 0.01 + apart], "shares": [0.8, 0.2] } });
        let claim = claim(keys, std::slice::from_ref(&jumps)).expect("it was run");
        assert_eq!((claim.verdict, claim.value, claim.form), (verdict, Some(apart), FormName::Jumps));
    }
    let none = claim(keys, &[case("xmp-2 jobs")]).expect("it was run");
    assert_eq!((none.verdict, none.why.as_deref()), (Inconclusive, Some("xmp-2 jobs has no jobs")));
}

#[test]
fn parts_windows_and_the_optimum_have_metrics_too() {
    let mut own = measured("xmp-2 permutation", "goodput_mean_bps", &[8.0]);
    own["by"] = json!({ "group": { "near": { "goodput_mean_bps": 4.0 } } });
    own["optimum"] = json!({ "goodput_mean_bps": 10.0 });
    let subflows = json!([{ "goodput_mean_bps": 1.0 }, { "goodput_mean_bps": 2.0 }]);
    let groups = json!({ "near": { "metrics": { "goodput_mean_bps": 3.0 }, "subflows": subflows } });
    own["windows"] = json!({ "late": { "metrics": { "goodput_mean_bps": 6.0 }, "groups": groups } });
    for (metric, part, value) in [
        ("goodput_mean_bps", "", Some(8.0)),
        ("optimum.goodput_mean_bps", "", Some(10.0)),
        ("goodput_mean_bps", ", group = \"near\"", Some(4.0)),
        ("goodput_mean_bps", ", group = \"far\"", None),
        ("goodput_mean_bps", ", window = \"late\"", Some(6.0)),
        ("goodput_mean_bps", ", window = \"late\", group = \"near\"", Some(3.0)),
        ("goodput_mean_bps", ", window = \"late\", group = \"near\", subflow = 1", Some(2.0)),
        ("goodput_mean_bps", ", window = \"late\", group = \"near\", subflow = 2", None),
        ("goodput_mean_bps", ", window = \"early\"", None),
    ] {
        let keys = format!("metric = \"{metric}\"\nof = {{ scheme = \"xmp\"{part} }}\nabove = 0");
        let claim = claim(&keys, std::slice::from_ref(&own)).expect("it was run");
        assert_eq!(claim.value, value, "{metric}{part}");
    }
}

#[test]
fn what_is_expected_depends_on_the_profile() {
    let expected = |keys: &str, profile: &str| {
        let more = format!(
            "[[claims]]\nid = \"c\"\ntext = \"t\"\nmetric = \"flows\"\nof = {{ scheme = \"xmp\" }}\nabove = 1\n{keys}"
        );
        let text = run_json(&more, profile, &[measured("xmp-2 permutation", "flows", &[1.0])]);
        let run =
            tresse_results::Finished::parse("run.json", &text, OWNERS).unwrap_or_else(|e| panic!("{e}"));
        let comparison = comparison(&Publication::of_run(&run).expect("of this version"), &run.report);
        (comparison.claims[0].expected, comparison.fails())
    };
    assert_eq!(expected("", "full"), (Holds, true));
    assert_eq!(expected("expected = \"inconclusive\"\nbecause = \"b\"", "full"), (Inconclusive, false));
    let each = "expected = { quick = \"does not hold\", full = \"holds\" }\nbecause = \"b\"";
    assert_eq!(expected(each, "quick"), (DoesNotHold, false));
    assert_eq!(expected(each, "full"), (Holds, true));
}
