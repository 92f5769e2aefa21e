//! The cases and the pairs of cases of a claim.

use tresse_results::ClaimResult;
use tresse_results::record::claim::Verdict;

use super::{claim, measured};

/// A claim about goodput whose values are distinguished by the number at the end of their labels.
fn of(keys: &str, cases: &[(&str, f64)]) -> Option<ClaimResult> {
    let cases: Vec<_> =
        cases.iter().map(|(label, value)| measured(label, "goodput_mean_bps", &[*value])).collect();
    claim(&format!("metric = \"goodput_mean_bps\"\n{keys}"), &cases)
}

/// The value nearest to failing, and its case.
fn worst(keys: &str, cases: &[(&str, f64)]) -> (f64, String) {
    let claim = of(keys, cases).expect("some were run");
    (claim.value.expect("all have one"), claim.of.unwrap_or_default())
}

const CASES: &[(&str, f64)] = &[
    ("dctcp permutation", 10.0),
    ("lia-2 permutation", 5.0),
    ("lia-4 permutation", 20.0),
    ("xmp-2 permutation", 30.0),
    ("xmp-4 permutation", 40.0),
    ("dctcp jobs", 10.0),
    ("xmp-2 jobs", 15.0),
    ("xmp-4 jobs", 60.0),
];

#[test]
fn an_axis_that_both_leave_open_is_each_value_that_both_have() {
    // Permutation against Permutation, jobs against jobs; of LIA the former only. 2 subflows against 2, 4 against 4.
    let keys = "left = { scheme = \"xmp\" }\nright = { scheme = \"lia\" }\nratio_above = 1.5";
    assert_eq!(worst(keys, CASES), (2.0, "xmp-4 permutation against lia-4 permutation".to_owned()));
    let keys = "left = { scheme = \"xmp\", subflows = 2 }\nright = { scheme = \"dctcp\" }\nratio_above = 1";
    assert_eq!(worst(keys, CASES), (1.5, "xmp-2 jobs against dctcp-1 jobs".to_owned()));
}

#[test]
fn a_scheme_with_one_number_of_subflows_is_against_all_of_the_other() {
    let keys = "left = { scheme = \"xmp\", pattern = \"permutation\" }\nright = { scheme = \"dctcp\" }\nratio_above = 1";
    assert_eq!(worst(keys, CASES), (3.0, "xmp-2 permutation against dctcp-1 permutation".to_owned()));
    let keys = "left = { scheme = \"xmp\", pattern = \"permutation\" }\nright = { scheme = \"dctcp\" }\nratio_below = 5";
    assert_eq!(worst(keys, CASES), (4.0, "xmp-4 permutation against dctcp-1 permutation".to_owned()));
}

#[test]
fn an_axis_that_one_leaves_open_is_the_others_value_if_there_is_one() {
    let keys = "left = { scheme = \"xmp\", subflows = 4, pattern = \"permutation\" }\nright = { scheme = \"lia\" }\n\
                ratio_above = 1";
    assert_eq!(worst(keys, CASES), (2.0, String::new()), "one pair");
    let keys = "left = { scheme = \"dctcp\", subflows = 1, pattern = \"jobs\" }\nright = { scheme = \"lia\" }\n\
                ratio_above = 0.1";
    assert_eq!(
        worst(keys, CASES),
        (0.5, "dctcp-1 jobs against lia-4 permutation".to_owned()),
        "LIA has neither"
    );
}

#[test]
fn one_against_each_of_a_list() {
    let keys = "left = { scheme = \"xmp\", subflows = 2, pattern = \"permutation\" }\nratio_above = 1\n\
                right = [{ scheme = \"dctcp\" }, { scheme = \"lia\", subflows = 4 }]";
    assert_eq!(worst(keys, CASES), (1.5, "xmp-2 permutation against lia-4 permutation".to_owned()));
    // A claim about cases that were not run is left out.
    assert!(of(keys, &[CASES[0], CASES[3]]).is_none());
}

#[test]
fn a_band_is_of_every_case() {
    let keys = "of = { scheme = \"xmp\" }\nabove = 14\nbelow = 70";
    assert_eq!(worst(keys, CASES), (15.0, "xmp-2 jobs".to_owned()));
    let keys = "of = [{ scheme = \"lia\" }, { scheme = \"dctcp\" }]\nabove = 9";
    let claim = of(keys, CASES).expect("all were run");
    assert_eq!((claim.verdict, claim.of.as_deref()), (Verdict::DoesNotHold, Some("lia-2 permutation")));
}

#[test]
fn variants_are_an_axis() {
    let variant = |label: &str, variant: &str, value: f64| {
        let mut case = measured(label, "goodput_mean_bps", &[value]);
        case["case"]["variant"] = variant.into();
        case
    };
    let cases = [
        variant("xmp-2 permutation", "deep", 6.0),
        variant("xmp-2 permutation", "shallow", 4.0),
        variant("dctcp permutation", "deep", 2.0),
        variant("dctcp permutation", "shallow", 8.0),
    ];
    let value = |keys: &str| {
        let claim = claim(&format!("metric = \"goodput_mean_bps\"\n{keys}"), &cases).expect("all were run");
        (claim.value.expect("a value"), claim.of.unwrap_or_default())
    };
    let keys = "left = { scheme = \"xmp\" }\nright = { scheme = \"dctcp\" }\nratio_above = 1";
    assert_eq!(
        value(keys),
        (0.5, "xmp-2 permutation shallow against dctcp-1 permutation shallow".to_owned())
    );
    let keys = "left = { scheme = \"xmp\", variant = \"deep\" }\nright = { scheme = \"xmp\", variant = \"shallow\" }\n\
                ratio_above = 1";
    assert_eq!(value(keys), (1.5, String::new()));
}

#[test]
fn cases_without_the_part_are_not_meant() {
    let mut with = measured("xmp-2 jobs", "flows", &[9.0]);
    with["by"] = serde_json::json!({ "group": { "large": { "flows": 4 } } });
    let cases = [measured("xmp-2 permutation", "flows", &[9.0]), with];
    let claim = claim("metric = \"flows\"\nof = { scheme = \"xmp\", group = \"large\" }\nabove = 1", &cases);
    assert_eq!(claim.expect("it was run").value, Some(4.0));
}

#[test]
fn the_scheme_may_be_left_out() {
    let cases = [measured("xmp-2 jobs", "flows", &[9.0]), measured("xmp-2 permutation", "flows", &[3.0])];
    let keys = "metric = \"flows\"\nleft = { pattern = \"jobs\" }\nright = { pattern = \"permutation\" }\nratio_above = 2";
    assert_eq!(claim(keys, &cases).expect("both were run").value, Some(3.0));
}
