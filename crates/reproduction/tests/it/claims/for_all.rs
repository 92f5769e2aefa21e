//! Claims over several cases, and claims that contradict their own paper.

use tresse_experiment::{Profile, Source};
use tresse_reproduction::Publication;
use tresse_results::record::claim::Verdict::{self, DoesNotHold, Holds, Inconclusive};

use super::{EXPERIMENT, case, claim, comparison, measured, run_json};
use crate::OWNERS;
use tresse_reproduction::metric_display;
use tresse_results::Finished;

/// An experiment with this claim, read back from the claims that are written out.
fn written_out(claim: &str) -> Result<String, String> {
    let source = Source { name: "t.toml".to_owned(), text: format!("{EXPERIMENT}{claim}") };
    let loaded = OWNERS.load(source, Profile::Full, &[]).map_err(|e| e.to_string())?;
    OWNERS.resolve(&loaded, &[]).map_err(|e| e.to_string())?;
    let mut claims = toml::Table::new();
    claims.insert("claims".to_owned(), loaded.resolved["claims"].clone());
    Ok(claims.to_string())
}

const BOTH: &str = r#"
[[claims]]
for_each.scheme = ["lia", "dctcp"]
for_all = { pattern = ["permutation", "jobs"], subflows = [2, 4] }
id = "beats-{scheme}"
text = "XMP beats {scheme}"
metric = "goodput_mean_bps"
left = { scheme = "xmp", subflows = "{subflows}", pattern = "{pattern}" }
right = { scheme = "{scheme}", pattern = "{pattern}" }
ratio_above = 1.0
"#;

#[test]
fn a_sentence_over_cases_is_one_claim() {
    let text = written_out(BOTH).unwrap_or_else(|e| panic!("{e}"));
    let publication: Publication = toml::from_str(&text).expect("plain claims are claims");
    let [lia, dctcp] = &publication.claims[..] else { panic!("{text}") };
    assert_eq!((&*lia.id, &*lia.text, &*dctcp.id), ("beats-lia", "XMP beats lia", "beats-dctcp"));
    let names: Vec<&str> = dctcp.statements().iter().map(|case| case.text.as_str()).collect();
    let all = ["permutation", "jobs"].map(|p| [2, 4].map(|n| format!("pattern {p}, subflows {n}"))).concat();
    assert_eq!(names, all);
    let left = dctcp.cases[3].left.as_ref().expect("a case");
    assert_eq!((left.pattern.as_deref(), left.subflows), (Some("jobs"), Some(4)));
    assert_eq!((&*lia.metric, lia.ratio_above), ("goodput_mean_bps", None));
    assert!(written_out(&format!("{BOTH}at_least = 4\n")).is_ok());
}

/// XMP next to DCTCP, whose goodput is 1: XMP's in permutation-2, permutation-4, jobs-2, jobs-4 under each
/// seed.
fn judged(more: &str, xmp: [&[f64]; 4]) -> tresse_results::ClaimResult {
    let [claim] = &compared(more, xmp).claims[..] else { panic!("one claim") };
    claim.clone()
}

fn compared(more: &str, xmp: [&[f64]; 4]) -> tresse_reproduction::Comparison {
    let labels = ["xmp-2 permutation", "xmp-4 permutation", "xmp-2 jobs", "xmp-4 jobs"];
    let mut cases: Vec<_> =
        labels.iter().zip(xmp).map(|(label, values)| measured(label, "goodput_mean_bps", values)).collect();
    for pattern in ["permutation", "jobs"] {
        let ones = vec![1.0; xmp[0].len()];
        cases.push(measured(&format!("dctcp {pattern}"), "goodput_mean_bps", &ones));
    }
    let text = BOTH.replace("[\"lia\", \"dctcp\"]", "[\"dctcp\"]") + more;
    let text = written_out(&text).unwrap_or_else(|e| panic!("{e}"));
    comparison(&text, &cases)
}

#[test]
fn it_holds_if_all_its_cases_do() {
    let (good, bad, open): (&[f64], &[f64], &[f64]) = (&[2.0, 2.0], &[0.5, 0.5], &[0.5, 2.0]);
    for (more, xmp, verdict, hold) in [
        ("", [good; 4], Holds, 4),
        ("", [good, good, bad, good], DoesNotHold, 3),
        ("", [good, open, bad, good], DoesNotHold, 2),
        ("", [good, open, good, good], Inconclusive, 3),
        ("at_least = 3", [good, good, bad, good], Holds, 3),
        ("at_least = 3", [good, open, bad, good], Inconclusive, 2),
        ("at_least = 3", [bad, open, bad, good], DoesNotHold, 1),
        ("at_least = 1", [bad, bad, bad, good], Holds, 1),
    ] {
        let claim = judged(more, xmp);
        let share = claim.cases.expect("several cases");
        assert_eq!((claim.verdict, share.hold, share.of), (verdict, hold, 4), "{more} {xmp:?}");
        let with = |values: &[f64]| xmp.iter().filter(|own| **own == values).count();
        assert_eq!((share.do_not_hold.len(), share.inconclusive.len()), (with(bad), with(open)));
    }
}

#[test]
fn the_report_names_the_cases_that_fail() {
    let share = |xmp: [f64; 4], more: &str| {
        let claim = judged(more, xmp.each_ref().map(std::slice::from_ref));
        (claim.value, metric_display::cases(&claim))
    };
    let (value, text) = share([3.0, 2.0, 0.5, 0.7], "");
    assert_eq!(value, Some(0.5), "the worst");
    let not = "not: pattern jobs, subflows 2 / pattern jobs, subflows 4";
    assert_eq!(text, format!(" (xmp-2 jobs against dctcp-1 jobs; 2 of 4 hold; {not})"));
    let (value, text) = share([3.0, 2.0, 0.5, 0.7], "at_least = 2");
    assert_eq!(value, Some(2.0), "the second best decides");
    assert!(
        text.starts_with(" (xmp-4 permutation against dctcp-1 permutation; 2 of 4 hold, 2 required; not: ")
    );
    assert!(share([3.0; 4], "").1.ends_with("; 4 of 4 hold)"));
    // Cases of selectors have a share too.
    let xmp = [measured("xmp-2 jobs", "flows", &[1.0]), measured("xmp-4 jobs", "flows", &[3.0])];
    let open =
        claim("metric = \"flows\"\nof = { scheme = \"xmp\" }\nabove = 2", &xmp).expect("both were run");
    assert_eq!(metric_display::cases(&open), " (xmp-2 jobs; 1 of 2 hold)");
    let one =
        claim("metric = \"flows\"\nof = { scheme = \"xmp\" }\nabove = 2", &xmp[..1]).expect("it was run");
    assert_eq!((one.cases.is_none(), metric_display::cases(&one)), (true, String::new()));
}

#[test]
fn metric_and_form_are_those_of_the_case_that_decides() {
    let text = written_out(
        r#"
[[claims]]
for_all = [
  { metric = "flows", above = 2 },
  { metric = "fct_mean_s", below = 0.5 },
]
id = "c"
text = "many and fast"
of = { scheme = "dctcp", pattern = "jobs" }
"#,
    )
    .unwrap_or_else(|e| panic!("{e}"));
    let mut dctcp = measured("dctcp jobs", "flows", &[9.0]);
    dctcp["metrics"]["fct_mean_s"] = 0.7.into();
    let found = comparison(&text, &[dctcp]);
    let claim = &found.claims[0];
    assert_eq!((claim.verdict, &*claim.metric, claim.value), (DoesNotHold, "fct_mean_s", Some(0.7)));
    assert_eq!(claim.cases.as_ref().map(|c| &*c.do_not_hold[0]), Some("metric fct_mean_s, below 0.5"));
    assert!(comparison(&text, &[case("xmp-2 jobs")]).claims.is_empty(), "its case was not run");
}

#[test]
fn what_is_wrong_with_for_all_is_told() {
    let rest = "metric = \"flows\"\nof = { scheme = \"{scheme}\" }\nabove = 0\n";
    for (more, message) in [
        (
            "id = \"c-{scheme}\"\ntext = \"t\"",
            "`id` differs from case to case, but `for_all` makes one claim",
        ),
        ("id = \"c\"\ntext = \"of {scheme}\"", "`text` differs from case to case"),
        ("id = \"c\"\ntext = \"t\"\nat_least = 3", "c: 3: expected 1 to 2, the number of cases"),
        ("id = \"c\"\ntext = \"t\"\nat_least = 0", "c: 0: expected 1 to 2, the number of cases"),
        ("id = \"c\"\ntext = \"t\"\nsorce = \"s\"", "unknown key `sorce`"),
        ("id = \"c\"\ntext = \"t\"\nslack = 0.1", "c: scheme lia: only for claims with `order`"),
    ] {
        let claim = format!("[[claims]]\nfor_all.scheme = [\"lia\", \"xmp\"]\n{more}\n{rest}");
        let error = written_out(&claim).expect_err(more);
        assert!(error.starts_with("t.toml:") && error.contains(message), "{more}\n{error}");
    }
    let one = "[[claims]]\nfor_all = [{ scheme = \"lia\", expected = \"inconclusive\" }, { scheme = \"xmp\" }]\nid = \
               \"c\"\ntext = \"t\"\n";
    let error = written_out(&format!("{one}{rest}")).expect_err("one verdict for all");
    assert!(error.contains("`expected` differs from case to case"), "{error}");
    let alone = "[[claims]]\nid = \"c\"\ntext = \"t\"\nat_least = 1\nmetric = \"flows\"\nof = { scheme = \"xmp\" }\nabove = 0\n";
    let error = written_out(alone).expect_err("no cases");
    assert!(error.contains("c: only for claims with `for_all`"), "{error}");
}

#[test]
fn the_cases_that_claims_are_of_are_counted() {
    let tally = |summary: tresse_reproduction::Tally| {
        [summary.claims, summary.claims_hold, summary.claim_cases, summary.claim_cases_hold]
    };
    let summary = compared("", [&[2.0], &[3.0], &[0.5], &[4.0]]).summary;
    assert_eq!(tally(summary), [1, 0, 4, 3]);
    let single =
        "[[claims]]\nid = \"c\"\ntext = \"t\"\nmetric = \"flows\"\nof = { scheme = \"dctcp\" }\nabove = 1\n";
    let summary = comparison(single, &[measured("dctcp jobs", "flows", &[5.0])]).summary;
    assert_eq!(tally(summary), [1, 1, 1, 1]);
}

/// How many claims there are, hold, hold in a reading, and contradict their paper; and whether the run fails.
fn counted(claims: &[(&str, &str, f64)]) -> ([usize; 4], bool) {
    let text: String = claims
        .iter()
        .map(|(id, more, above)| {
            format!(
                "[[claims]]\nid = \"{id}\"\ntext = \"t\"\nmetric = \"flows\"\nof = {{ scheme = \"dctcp\", pattern = \
                 \"jobs\" }}\nabove = {above:?}\n{more}\n"
            )
        })
        .collect();
    let found = comparison(&text, &[measured("dctcp jobs", "flows", &[5.0])]);
    let s = found.summary;
    ([s.claims, s.claims_hold, s.claims_hold_in_a_reading, s.claims_contradict], found.fails())
}

#[test]
fn what_contradicts_its_own_paper_counts_apart() {
    let proof = "contradicts = \"Its Table 2 says otherwise.\"";
    assert_eq!(counted(&[("a", "", 1.0), ("b", "", 9.0)]), ([2, 1, 1, 0], true));
    assert_eq!(counted(&[("a", "", 1.0), ("b", proof, 9.0)]), ([1, 1, 1, 1], false));
    assert_eq!(counted(&[("a", proof, 1.0), ("b", proof, 9.0)]), ([0, 0, 0, 2], false));
    // As another reading it makes nothing hold, and is not a separate claim.
    let reading = format!("reading_of = \"a\"\n{proof}");
    assert_eq!(counted(&[("a", "", 9.0), ("b", &reading, 1.0)]), ([1, 0, 0, 0], true));
    let verdict = |more: &str| -> (Verdict, Option<String>) {
        let keys = format!("metric = \"flows\"\nof = {{ scheme = \"dctcp\" }}\nabove = 9\n{more}");
        let claim = claim(&keys, &[measured("dctcp jobs", "flows", &[5.0])]).expect("it was run");
        (claim.verdict, claim.contradicts)
    };
    assert_eq!(verdict(proof), (DoesNotHold, Some("Its Table 2 says otherwise.".to_owned())));
    // The proof is the reason, in a file too.
    let of = "[[claims]]\nid = \"c\"\ntext = \"t\"\nmetric = \"flows\"\nof = { scheme = \"xmp\" }\nabove = 0\n\
              expected = \"does not hold\"\n";
    assert!(written_out(of).expect_err("no reason").contains("it is not expected to hold"));
    assert_eq!(written_out(&format!("{of}{proof}\n")).map(drop), Ok(()));
}

#[test]
fn runs_of_earlier_versions_have_neither() {
    let more =
        "[[claims]]\nid = \"c\"\ntext = \"t\"\nmetric = \"flows\"\nof = { scheme = \"xmp\" }\nabove = 0\n";
    let text = run_json(more, "full", &[measured("xmp-2 jobs", "flows", &[1.0])]);
    let mut run: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    run["claims"] = serde_json::json!([{
        "id": "c", "text": "t", "metric": "flows", "form": "band", "holds": true, "verdict": "holds", "value": 1.0,
        "ci95": null, "of": "xmp-2 jobs", "expected": "holds",
    }]);
    let run = Finished::parse("run.json", &run.to_string(), OWNERS).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(metric_display::cases(&run.report.claims[0]), " (xmp-2 jobs)");
}
