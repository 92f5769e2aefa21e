//! Metrics for people: the name of each, and its unit.

use tresse_results::record::claim::ClaimResult;
use tresse_results::record::claim::FormName;

use crate::schema::claims::Claim;
use crate::schema::forms::Form;

/// The display of metrics with this ending.
#[derive(Debug)]
struct Unit {
    ending: &'static str,
    name: &'static str,
    /// How many of the metric's own units make one.
    size: f64,
    decimals: usize,
}

const UNITS: [Unit; 6] = [
    Unit { ending: "_bps", name: "Mbit/s", size: 1e6, decimals: 1 },
    Unit { ending: "_s", name: "ms", size: 1e-3, decimals: 3 },
    Unit { ending: "_pkts", name: "pkt", size: 1.0, decimals: 2 },
    Unit { ending: "_bytes", name: "MB", size: 1e6, decimals: 1 },
    Unit { ending: "_ratio", name: "", size: 1.0, decimals: 4 },
    Unit { ending: "", name: "", size: 1.0, decimals: 1 },
];

fn unit(metric: &str) -> &'static Unit {
    UNITS.iter().find(|u| metric.ends_with(u.ending)).expect("every name ends with nothing")
}

/// The name of `metric`, with its unit: `goodput mean, Mbit/s`.
pub fn name(metric: &str) -> String {
    let unit = unit(metric);
    let plain = metric.strip_suffix(unit.ending).unwrap_or(metric);
    // A slice has the name that its experiment gave it.
    let (of, own) = plain.split_once('.').unwrap_or(("", plain));
    let name = [of, &own.replace('_', " ")].join(" ").trim_start().to_owned();
    if unit.name.is_empty() { name } else { format!("{name}, {}", unit.name) }
}

/// A value of `metric` in the unit of its name, in full, and with how many decimals it is shown.
pub fn in_unit(metric: &str, value: f64) -> (f64, usize) {
    let unit = unit(metric);
    (value / unit.size, unit.decimals)
}

/// A value of `metric` in the unit of its name.
pub fn value(metric: &str, value: f64) -> String {
    let (number, decimals) = in_unit(metric, value);
    format!("{number:.decimals$}")
}

/// A count of `metric`: whole, unless it is shown in a larger unit.
pub fn count(metric: &str, count: u64) -> String {
    if unit(metric).size == 1.0 { count.to_string() } else { value(metric, count as f64) }
}

/// What divides the values of claims of this form, their decimals, and their unit.
fn of_form(form: FormName, metric: &str) -> (f64, usize, &'static str) {
    match form {
        FormName::Ratio => (1.0, 2, ""),
        FormName::Order => (0.01, 1, "%"),
        FormName::Jumps => (1e-3, 0, "ms"),
        FormName::Difference | FormName::Band => {
            let unit = unit(metric);
            (unit.size, unit.decimals, unit.name)
        }
    }
}

/// The bounds of a claim with its unit: `above 868 Mbit/s`, `below 2`; empty if it has another form.
pub fn bounds(claim: &Claim) -> String {
    let Ok(form) = claim.form() else { return String::new() };
    let (Form::Against { bounds, .. } | Form::Within { bounds, .. }) = form else { return String::new() };
    let (size, _, unit) = of_form(form.name(), &claim.metric);
    // To six digits: a quotient such as 0.017 / 0.001 is not told by its rounding error.
    let number = |bound: f64| (bound / size * 1e6).round() / 1e6;
    let said = ["above", "below"].into_iter().zip(bounds);
    let said: Vec<String> =
        said.filter_map(|(word, bound)| Some(format!("{word} {}", number(bound?)))).collect();
    let unit = if unit.is_empty() { String::new() } else { format!(" {unit}") };
    format!("{}{unit}", said.join(", "))
}

/// The value by which a claim was judged, with its interval and its unit: `1.31 ± 0.05`,
/// `402.1 ± 3.0 Mbit/s`; a step of an order in per cent. A dash if there is no value.
pub fn claim(claim: &ClaimResult) -> String {
    let Some(value) = claim.value else { return "-".to_owned() };
    let (size, decimals, name) = of_form(claim.form, &claim.metric);
    // A ratio such as 0.0026 must not read as 0.
    let is_small = value != 0.0 && (value / size).abs() < 0.1 && decimals < 4;
    let number = |v: f64| format!("{:.*}", if is_small { 4 } else { decimals }, v / size);
    let width = claim.ci95.map(|w| format!(" ± {}", number(w))).unwrap_or_default();
    let name = if name.is_empty() { String::new() } else { format!(" {name}") };
    format!("{}{width}{name}", number(value))
}

/// The case of a claim's value, if there are several cases, and for how many of them it holds:
/// ` (xmp-2 incast; 3 of 4 hold)`. The cases for which it does not hold are named, unless it is only this
/// one.
pub fn cases(claim: &ClaimResult) -> String {
    let Some(of) = claim.of.as_deref() else { return String::new() };
    // Kept results of an earlier version have no shares.
    let Some(share) = &claim.cases else { return format!(" ({of})") };
    let mut text = format!(" ({of}; {} of {} hold", share.hold, share.of);
    if let Some(least) = share.at_least {
        text += &format!(", {least} required");
    }
    for (what, cases) in [("not", &share.do_not_hold), ("inconclusive", &share.inconclusive)] {
        match &cases[..] {
            [] => {}
            [one] if one == of => {}
            all => text += &format!("; {what}: {}", all.join(" / ")),
        }
    }
    text + ")"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_values_have_units_for_people() {
        for (metric, number, shown) in [
            ("fct_mean_s", 0.012_345_6, "12.346"),
            ("cwnd_mean_pkts", 5.25, "5.25"),
            ("timeouts_mean", 3.0, "3.0"),
            ("sharing_f_ratio", 0.813_8, "0.8138"),
        ] {
            assert_eq!(value(metric, number), shown, "{metric}");
        }
        for (metric, number, shown) in
            [("goodput_p10_bps", 513_600_000, "513.6"), ("drops_pkts", 7, "7"), ("timeouts", 3, "3")]
        {
            assert_eq!(count(metric, number), shown, "{metric}");
        }
        assert_eq!(name("optimum.goodput_mean_bps"), "optimum goodput mean, Mbit/s");
        assert_eq!(["fct_p99_s", "timeouts_max"].map(name), ["fct p99, ms", "timeouts max"]);
    }

    fn shown(form: &str, metric: &str, value: Option<f64>, ci95: Option<f64>) -> String {
        let result = serde_json::json!({
            "id": "c", "text": "a claim", "metric": metric, "form": form, "holds": null, "verdict": "inconclusive",
            "value": value, "ci95": ci95, "expected": "holds",
        });
        claim(&serde_json::from_value(result).expect("a result"))
    }

    #[test]
    fn bounds_have_the_unit_of_their_value() {
        let of = serde_json::json!({ "scheme": "a" });
        let said = |metric: &str, bound: &str, value: f64| {
            let (sides, key): (&[&str], _) = match bound.strip_prefix("ratio_") {
                Some(_) => (&["left", "right"], bound),
                None => (&["of"], bound),
            };
            let mut claim = serde_json::json!({ "id": "c", "text": "t", "metric": metric, key: value });
            sides.iter().for_each(|side| claim[side] = of.clone());
            bounds(&serde_json::from_value(claim).expect("a claim"))
        };
        assert_eq!(said("goodput_mean_bps", "above", 868e6), "above 868 Mbit/s");
        assert_eq!(said("fct_max_s", "below", 17e-3), "below 17 ms");
        assert_eq!(said("drops_pkts", "ratio_below", 2.0), "below 2");
        assert_eq!(said("drops_pkts", "below", 83.0), "below 83 pkt");
    }

    #[test]
    fn claims_have_the_unit_of_their_form() {
        for (form, metric, value, ci95, text) in [
            ("ratio", "goodput_mean_bps", Some(1.306), Some(0.052), "1.31 ± 0.05"),
            ("ratio", "goodput_mean_bps", Some(0.0026), None, "0.0026"),
            ("ratio", "goodput_mean_bps", None, None, "-"),
            ("difference", "goodput_mean_bps", Some(2e6), Some(1e5), "2.0 ± 0.1 Mbit/s"),
            ("order", "fct_mean_s", Some(-0.125), None, "-12.5 %"),
            ("jumps", "jct_s", Some(0.1984), None, "198 ms"),
            ("band", "jain_ratio", Some(0.95), None, "0.9500"),
        ] {
            assert_eq!(shown(form, metric, value, ci95), text);
        }
    }
}
