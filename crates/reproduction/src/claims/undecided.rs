//! The values that keep inconclusive claims undecided, and how many times narrower their intervals have to
//! be.

use tresse_experiment::schema::stopping_rule::NARROW;
use tresse_lab::stopping_rule::Undecided;
use tresse_results::record::claim::Verdict;
use tresse_results::record::results::CaseResult;

use super::verdicts::{Found, deciding, found, judged};
use crate::schema::Publication;

/// The values in `cases` that more seeds may decide: those of inconclusive claims with a bound in their
/// interval, unless it is narrow. Claims that contradict their own paper are left out.
pub(crate) fn undecided(publication: &Publication, cases: &[CaseResult]) -> Vec<Undecided> {
    let mut undecided = Vec::new();
    for claim in publication.claims.iter().filter(|claim| claim.contradicts.is_none()) {
        let decides = judged(claim, cases).and_then(|all| Some(deciding(claim, &all)?.found.verdict));
        if decides != Some(Verdict::Inconclusive) {
            continue;
        }
        for statement in claim.statements() {
            let found = found(statement, cases).unwrap_or_default();
            if found.iter().all(|own| own.verdict != Verdict::DoesNotHold) {
                undecided.extend(found.iter().filter_map(|own| own.undecided(&claim.id, cases)));
            }
        }
    }
    undecided
}

impl Found<'_> {
    /// The value that more seeds may decide; `None` if it is decided, or known well enough.
    fn undecided(&self, claim: &str, all: &[CaseResult]) -> Option<Undecided> {
        // More seeds do not change why a value decides nothing.
        let width = self.ci95.filter(|_| self.verdict == Verdict::Inconclusive && self.why.is_none())?;
        let wanted = self.margin.abs().max(NARROW * self.scale);
        if width <= NARROW * self.scale {
            return None;
        }
        let place = |case: &&CaseResult| all.iter().position(|own| std::ptr::eq(own, *case));
        Some(Undecided {
            claim: claim.to_owned(),
            cases: self.cases.iter().filter_map(place).collect(),
            seeds: self.seeds as u32,
            by: width / wanted,
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    const FILE: &str = r#"
title = "t"
[fabric]
topology = "dumbbell"
pairs = 2
rate = "1Gbps"
delay = "10us"
queue = "100pkt"
host_queue = "100pkt"
[transport]
profile = "ns3"
[schemes.lia]
controller = "lia"
subflows = 2
[schemes.xmp]
controller = "xmp"
subflows = 2
[schemes.dctcp]
controller = "dctcp"
[workloads.w]
pattern = "permutation"
size = "1MB"
"#;

    /// A case with this goodput under each of its seeds.
    fn case(scheme: &str, values: &[f64]) -> CaseResult {
        let seeds = values.iter().enumerate();
        let seeds = seeds.map(
            |(seed, value)| json!({ "seed": seed + 1, "metrics": { "goodput_mean_bps": value }, "by": {} }),
        );
        let case = json!({
            "case": { "scheme": scheme, "subflows": 2, "pattern": "w" },
            "metrics": { "goodput_mean_bps": values.iter().sum::<f64>() / values.len() as f64 },
            "by": {}, "ci95": {}, "ci95_over": "seeds", "published": {}, "published_by": {}, "optimum": {},
            "optimum_of": "round_start", "no_optimum": null, "no_convergence": null, "no_sharing_score": null,
            "seeds": seeds.collect::<Vec<Value>>(),
        });
        serde_json::from_value(case).expect("a case")
    }

    fn of(claims: &str, cases: &[CaseResult]) -> Vec<Undecided> {
        let text = FILE.to_owned() + claims;
        undecided(&toml::from_str(&text).expect("claims"), cases)
    }

    fn claim(keys: &str) -> String {
        format!("[[claims]]\nid = \"c\"\ntext = \"t\"\nmetric = \"goodput_mean_bps\"\n{keys}\n")
    }

    /// Half the interval of 1.9, 2.0 and 2.1.
    const WIDTH: f64 = 0.248_4;

    #[test]
    fn an_interval_is_to_keep_clear_of_the_bound_or_to_be_narrow() {
        let cases = [case("dctcp", &[7.0; 3]), case("lia", &[1.9, 2.0, 2.1])];
        let by = |keys: &str| {
            let found = of(&claim(&format!("of = {{ scheme = \"lia\" }}\n{keys}")), &cases);
            assert!(found.iter().all(|own| (&*own.claim, &own.cases[..], own.seeds) == ("c", &[1][..], 3)));
            assert!(found.len() < 2);
            found.first().map(|own| own.by)
        };
        for (keys, wanted) in [
            ("above = 1.7", None),
            ("above = 2.3", None),
            ("above = 1.8", Some(WIDTH / 0.2)),
            ("below = 1.8\nabove = 0.1", Some(WIDTH / 0.2)),
            // The bound is the value, or nearly: until the interval is 3 % of it.
            ("above = 2.0", Some(WIDTH / 0.06)),
            ("above = 2.01", Some(WIDTH / 0.0603)),
            ("above = 0.1\nbelow = 2.1", Some(WIDTH / 0.1)),
        ] {
            let found = by(keys);
            assert_eq!(found.is_some(), wanted.is_some(), "{keys}");
            let off = found.unwrap_or(0.0) - wanted.unwrap_or(0.0);
            assert!(off.abs() < 1e-3, "{keys}: {found:?}");
        }
        assert_eq!(by("above = 1.8\ncontradicts = \"its Table 2\""), None);
        let narrow = [case("lia", &[1.98, 2.0, 2.02])];
        assert_eq!(of(&claim("of = { scheme = \"lia\" }\nabove = 2.0"), &narrow), []);
        // Steps of an order are shares, and their bound is 0.
        let order = claim("of = [{ scheme = \"lia\" }, { scheme = \"xmp\" }]\norder = \"rising\"");
        let steps = |last: &[f64]| of(&order, &[case("lia", &[1.0; 3]), case("xmp", last)]).len();
        assert_eq!((steps(&[0.99, 1.0, 1.01]), steps(&[0.8, 1.0, 1.2])), (0, 1));
    }

    #[test]
    fn only_what_may_change_the_verdict_gets_seeds() {
        let cases =
            [case("dctcp", &[1.0; 3]), case("lia", &[1.9, 2.0, 2.1]), case("xmp", &[0.3, 0.31, 0.29])];
        let places = |keys: &str| {
            let found = of(&claim(keys), &cases);
            found.into_iter().map(|own| own.cases).collect::<Vec<_>>()
        };
        let all = "of = [{ scheme = \"dctcp\" }, { scheme = \"lia\" }, { scheme = \"xmp\" }]";
        assert_eq!(places(&format!("{all}\nabove = 0.1\nbelow = 2.1")), [[1]]);
        assert_eq!(places(&format!("{all}\nabove = 1.9")), [[0; 1]; 0], "it does not hold, whatever LIA has");
        let left = "left = { scheme = \"lia\" }\nright = [{ scheme = \"dctcp\" }, { scheme = \"xmp\" }]";
        assert_eq!(places(&format!("{left}\nratio_above = 1.9")), [[1, 0]]);
        let missing = [case("lia", &[1.9, 2.0, 2.1]), case("dctcp", &[1.0, 0.0, 1.0])];
        let keys = "left = { scheme = \"lia\" }\nright = { scheme = \"dctcp\" }\nratio_above = 1.9";
        assert_eq!(of(&claim(keys), &missing), [], "there is no value");
    }

    #[test]
    fn a_claim_of_several_cases_waits_for_those_that_may_turn_it() {
        let cases = [case("lia", &[1.9, 2.0, 2.1]), case("xmp", &[1.9, 2.0, 2.1]), case("dctcp", &[0.5; 3])];
        let case = |scheme: &str, above: f64| {
            format!(
                "[[claims.cases]]\nid = \"c, {scheme}\"\ntext = \"{scheme}\"\nmetric = \"goodput_mean_bps\"\nof = {{ \
                 scheme = \"{scheme}\" }}\nabove = {above:?}\n"
            )
        };
        let places = |least: usize| {
            let head = claim(&format!("at_least = {least}"));
            let claims = [case("lia", 1.9), case("xmp", 1.0), case("dctcp", 1.0)].concat();
            of(&(head + &claims), &cases).into_iter().map(|own| own.cases).collect::<Vec<_>>()
        };
        let none: [[usize; 1]; 0] = [];
        assert_eq!(places(3), none, "DCTCP does not hold");
        assert_eq!(places(2), [[0]]);
        assert_eq!(places(1), none, "XMP holds");
    }

    #[test]
    fn values_are_compared_under_the_seeds_that_both_have() {
        let cases = [case("lia", &[1.9, 2.0, 2.1, 9.0, 9.0]), case("dctcp", &[1.0; 3])];
        let keys = "left = { scheme = \"lia\" }\nright = { scheme = \"dctcp\" }\nratio_above = 1.8";
        let [own] = &of(&claim(keys), &cases)[..] else { panic!("one") };
        assert_eq!((own.seeds, &own.cases[..]), (3, &[0, 1][..]));
        assert!((own.by - WIDTH / 0.2).abs() < 1e-3, "{own:?}");
    }
}
