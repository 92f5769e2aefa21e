//! The verdicts in `papers/results/` are those of today's rules, as far as the kept values tell.

use std::path::Path;

use tresse_experiment::Profile;
use tresse_experiment::schema::metrics::row_of;
use tresse_results::record::claim::{ClaimResult, Verdict};

use super::verdicts::{of_steps, weighed};
use crate::pages::{Reproduced, Runs, Stored};
use crate::schema::claims::Claim;
use crate::schema::forms::{Bounds, Form};
use crate::schema::{OWNERS, Publication};

/// The bounds that a value of the claim may have been judged by, with the scale of a narrow interval.
fn bounds(form: &Form) -> Vec<(Bounds, Option<f64>)> {
    match *form {
        Form::Against { bounds, .. } | Form::Within { bounds, .. } => vec![(bounds, None)],
        Form::Order { order, slack, .. } => [slack, 0.0].map(|s| (of_steps(order, s), Some(1.0))).to_vec(),
        Form::Jumps { jumps, .. } => {
            let [apart, within] = [jumps.apart, jumps.within].map(|d| tresse_units::seconds(d.0));
            vec![([Some(apart - within), Some(apart + within)], None)]
        }
    }
}

/// Whether the verdict follows from the value. One with a reason of its own was judged by what is not kept.
fn follows(claim: &Claim, kept: &ClaimResult) -> bool {
    let Some(value) = kept.value.filter(|_| kept.why.is_none()) else { return kept.why.is_some() };
    let forms = claim.statements().iter().filter_map(|own| own.form().ok());
    forms
        .flat_map(|form| bounds(&form))
        .any(|(bounds, whole)| weighed(bounds, whole, value, kept.ci95).verdict == kept.verdict)
}

/// The claims of the experiment as its file has them.
fn claims(own: &Reproduced) -> Vec<Claim> {
    let profile = if own.profile == "full" { Profile::Full } else { Profile::Quick };
    let source = tresse_experiment::find(&own.experiment).expect("built in");
    let loaded = OWNERS.load(source, profile, &[]).expect("valid");
    Publication::of(&loaded.experiment).expect("valid").claims
}

#[test]
fn kept_verdicts_follow_from_their_values() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../papers/results");
    let mut judged = 0;
    for stored in Stored::all(&folder).expect("they can be read") {
        for own in &stored.results.experiments {
            for claim in claims(own) {
                let Some(kept) = own.comparison.claims.iter().find(|kept| kept.id == claim.id) else {
                    continue;
                };
                let of = format!("{} of {} ({})", claim.id, own.experiment, stored.runs.name());
                assert!(follows(&claim, kept), "{of}: {:?} by {:?}", kept.verdict, kept.value);
                // Version 0.1.0 did not look at how many a statistic leaves out, and the counts of real hosts are not kept.
                let may_be_of_few = row_of(&claim.metric).is_some_and(|row| row.left_out.is_some());
                if stored.runs == Runs::Real && own.version == "0.1.0" && may_be_of_few {
                    assert_eq!(kept.verdict, Verdict::Inconclusive, "{of}: nobody knows of how many");
                }
                judged += 1;
            }
        }
    }
    assert!(judged > 500, "{judged}");
}

#[test]
fn another_verdict_does_not_follow() {
    let text = "id = \"c\"\ntext = \"t\"\nmetric = \"goodput_mean_bps\"\nleft = { scheme = \"a\" }\n\
                right = { scheme = \"b\" }\nratio_above = 0.85\nratio_below = 1.15";
    let claim: Claim = toml::from_str(text).expect("a claim");
    let kept = |verdict: &str, value: Option<f64>, why: Option<&str>| -> ClaimResult {
        let own = serde_json::json!({
            "id": "c", "text": "t", "metric": "goodput_mean_bps", "form": "ratio", "holds": null, "verdict": verdict,
            "value": value, "ci95": null, "expected": "holds", "why": why,
        });
        serde_json::from_value(own).expect("a result")
    };
    for (verdict, value, is_so) in [
        ("holds", 1.0, true),
        ("holds", 1.2, false),
        ("does not hold", 1.2, true),
        ("inconclusive", 1.0, false),
        // By less than 0.01 % under one seed.
        ("holds", 1.14995, false),
        ("inconclusive", 1.14995, true),
    ] {
        assert_eq!(follows(&claim, &kept(verdict, Some(value), None)), is_so, "{verdict} {value}");
    }
    assert!(follows(&claim, &kept("inconclusive", Some(1.0), Some("it is of few"))));
    assert!(!follows(&claim, &kept("inconclusive", None, None)));
}
