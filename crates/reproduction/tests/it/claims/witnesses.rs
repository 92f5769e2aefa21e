//! Every built-in claim can hold, and can fail: it is judged by made-up results. `errors.rs` has claims that cannot.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use tresse_experiment::plan::Case;
use tresse_experiment::{Plan, Profile, find};
use tresse_reproduction::schema::claims::{Claim, Published, Selector};
use tresse_reproduction::schema::forms::{Compare, Form};
use tresse_reproduction::{Publication, comparison};
use tresse_results::Report;
use tresse_results::record::claim::Verdict;

use crate::OWNERS;

/// Values of parts of cases: by the case's place in the plan, and the part.
type Values = BTreeMap<(usize, Vec<(&'static str, String)>), f64>;

/// Sets what `selector` selects to `value`.
fn set(values: &mut Values, plan: &Plan, selector: &Selector, value: f64) {
    let meant = plan.cases.iter().enumerate().filter(|(_, case)| case.is(&selector.wanted()));
    for (place, case) in meant {
        let before = values.insert((place, selector.part()), value);
        let same = before.is_none_or(|before| before == value);
        assert!(same, "{} is compared with itself", case.label());
    }
}

/// Values of the metric at which the claim has this value.
fn values(claim: &Claim, plan: &Plan, value: f64) -> Values {
    let mut values = Values::new();
    match claim.form().expect("it was checked") {
        Form::Against { left, right, by, .. } => {
            let own = if by == Compare::Ratio { value } else { 1.0 + value };
            set(&mut values, plan, left, own);
            right.iter().for_each(|right| set(&mut values, plan, right, 1.0));
        }
        Form::Order { of, .. } => {
            // A step is a share of the larger value: half of it from 1 to 2, and from 1 to 0.5.
            let step = if value > 0.0 { 1.0 / (1.0 - value) } else { 1.0 + value };
            for (place, selector) in of.iter().enumerate() {
                set(&mut values, plan, selector, step.powi(place as i32));
            }
        }
        Form::Within { of, .. } | Form::Jumps { of, .. } => {
            of.iter().for_each(|selector| set(&mut values, plan, selector, value));
        }
    }
    values
}

/// The axes of a case, as results have them.
fn axes(case: &Case) -> Value {
    let mut axes: Map<_, _> =
        case.axes().into_iter().map(|(axis, value)| (axis.to_owned(), json!(value))).collect();
    axes.insert("subflows".to_owned(), json!(case.subflows));
    Value::Object(axes)
}

/// Puts `value` where the results of a case have the metric of this part.
fn put(result: &mut Value, part: &[(&'static str, String)], claim: &Claim, value: f64) {
    let metric = &*claim.metric;
    if claim.jumps.is_some() {
        result["jumps"][&claim.id] = json!({ "apart_s": value, "at_s": [0.0, value], "shares": [0.5, 0.5] });
        return;
    }
    if let Some(key) = metric.strip_prefix("optimum.") {
        result["optimum"][key] = json!(value);
        return;
    }
    let named = |what: &str| part.iter().find(|(own, _)| *own == what).map(|(_, name)| name.clone());
    let metrics = match (named("window"), part) {
        (Some(window), _) => {
            let window = &mut result["windows"][window];
            if window.is_null() {
                *window = json!({ "metrics": {}, "groups": {} });
            }
            let Some(group) = named("group") else {
                window["metrics"][metric] = json!(value);
                return;
            };
            let group = &mut window["groups"][group];
            if group.is_null() {
                *group = json!({ "metrics": {}, "subflows": [{}, {}, {}, {}, {}, {}, {}, {}] });
            }
            match named("subflow") {
                Some(subflow) => &mut group["subflows"][subflow.parse::<usize>().expect("a number")],
                None => &mut group["metrics"],
            }
        }
        (None, []) => &mut result["metrics"],
        (None, [(what, name), ..]) => &mut result["by"][*what][name],
    };
    metrics[metric] = json!(value);
}

/// The verdict on a claim, alone, if it has this value.
fn verdict(claim: &Claim, plan: &Plan, value: f64) -> Verdict {
    let mut results: BTreeMap<usize, Value> = BTreeMap::new();
    for ((place, part), value) in values(claim, plan, value) {
        let result = results.entry(place).or_insert_with(|| {
            json!({
                "case": axes(&plan.cases[place]),
                "metrics": {}, "by": {}, "windows": {}, "jumps": {}, "ci95": {}, "ci95_over": "rounds",
                "published": {}, "published_by": {}, "optimum": {}, "optimum_of": "round_start",
                "no_optimum": null, "no_convergence": null, "no_sharing_score": null,
            })
        });
        put(result, &part, claim, value);
    }
    let report = json!({
        "schema": "tresse/run/1", "experiment": "t.toml", "profile": "quick", "seed": 1, "replications": 1,
        "status": "complete", "version": "0.0.0", "model_version": 1, "out": "runs/t-1", "wall_s": 1.0,
        "packet_hops": 1, "digest": "0", "claims": [], "cases": results.into_values().collect::<Vec<_>>(),
    });
    let report: Report = serde_json::from_value(report).expect("a report");
    let publication = Publication { published: Published::default(), claims: vec![claim.clone()] };
    let claims = comparison(&publication, &report).claims;
    let [found] = &claims[..] else { panic!("{}: {} claims", claim.id, claims.len()) };
    assert!(found.why.is_none(), "{}: {:?}", claim.id, found.why);
    found.verdict
}

/// `--nocapture` shows the two values of each.
#[test]
fn every_built_in_claim_can_hold_and_can_fail() {
    let (mut claims, mut wrong) = (0, Vec::new());
    for name in tresse_experiment::read::built_in::names() {
        let loaded = OWNERS.load(find(name).expect("built in"), Profile::Quick, &[]);
        let loaded = loaded.unwrap_or_else(|e| panic!("{e}"));
        let publication = Publication::of_loaded(&loaded).unwrap_or_else(|e| panic!("{e}"));
        if publication.claims.is_empty() {
            continue;
        }
        let plan = OWNERS.resolve(&loaded, &[]).unwrap_or_else(|e| panic!("{e}"));
        claims += publication.claims.len();
        for statement in publication.claims.iter().flat_map(Claim::statements) {
            let found =
                statement.witnesses().unwrap_or_else(|e| panic!("{name} {}: {}", statement.id, e.message));
            let verdicts = [found.holds, found.fails].map(|value| verdict(statement, &plan, value));
            println!("{name} {}: holds at {}, fails at {}", statement.id, found.holds, found.fails);
            if verdicts != [Verdict::Holds, Verdict::DoesNotHold] {
                wrong.push(format!("{name} {}: {found:?} are {verdicts:?}", statement.id));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    println!("{claims} claims");
    assert!(claims > 400, "{claims} of the five papers");
}
