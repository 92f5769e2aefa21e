//! A benchmark's numbers compared with those of an earlier output, and whether they differ beyond noise.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};
use tresse_experiment::Diagnostic;
use tresse_experiment::diagnostic::plain_json;
use tresse_units::text_file;

use crate::bench::cases::is_chosen;
use crate::bench::{BenchCase, SCHEMA, middle, quartiles};

/// The smallest change of the ratio to the ceiling that is reported as one.
const LEAST_CHANGE: f64 = 0.05;

/// The same if the earlier repetitions are not known.
const LEAST_CHANGE_UNKNOWN_SPREAD: f64 = 0.15;

/// The number of repetitions below which there is no meaningful spread.
const LEAST_REPETITIONS: usize = 3;

/// The output of an earlier `tresse bench --json`, as far as it is compared.
#[derive(Debug, Clone, Deserialize)]
pub struct Earlier {
    schema: String,
    repetitions: usize,
    cases: Vec<EarlierCase>,
}

#[derive(Debug, Clone, Deserialize)]
struct EarlierCase {
    name: String,
    packet_hops: u64,
    packet_hops_per_s: f64,
    ratio_to_ceiling: f64,
    /// Outputs of versions before there were samples have none.
    #[serde(default)]
    samples_packet_hops_per_s: Vec<f64>,
    #[serde(default)]
    samples_ceiling_packet_hops_per_s: Vec<f64>,
}

impl Earlier {
    /// Reads a file that has the output of `tresse bench --json`.
    ///
    /// # Errors
    /// If it cannot be read, or has something else.
    pub fn read(file: &Path) -> Result<Self, Diagnostic> {
        let text =
            text_file::read_text(file).map_err(|error| Diagnostic::io("cannot be read", file, error))?;
        Self::parse(&file.display().to_string(), &text)
    }

    fn parse(name: &str, text: &str) -> Result<Self, Diagnostic> {
        let wrong = |why: String| {
            Diagnostic::input(format!("not the output of `tresse bench --json`: {why}"))
                .of(name)
                .hint("`tresse bench --json > FILE` writes one")
        };
        let earlier: Self = serde_json::from_str(text).map_err(|e| wrong(plain_json(&e)))?;
        if earlier.schema != SCHEMA {
            return Err(wrong(format!("its schema is {}, not {SCHEMA}", earlier.schema)));
        }
        match earlier.cases.iter().find(|case| !case.is_sound()) {
            Some(case) => Err(wrong(format!("the speeds of {} are not positive numbers", case.name))),
            None => Ok(earlier),
        }
    }
}

impl EarlierCase {
    /// Whether its speeds are above 0, and its samples come in pairs.
    fn is_sound(&self) -> bool {
        let samples = [&self.samples_packet_hops_per_s, &self.samples_ceiling_packet_hops_per_s];
        let own = [self.packet_hops_per_s, self.ratio_to_ceiling];
        samples[0].len() == samples[1].len() && samples.into_iter().flatten().chain(&own).all(|&s| s > 0.0)
    }
}

/// Whether a case has become slower or faster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Its ratio to the ceiling is less, beyond noise.
    Slower,
    /// It is more, beyond noise.
    Faster,
    /// It is the same within noise.
    Same,
    /// It cannot be decided.
    Unclear,
}

/// A case that exists in both outputs.
#[derive(Debug, Clone, Serialize)]
pub struct Compared {
    pub name: String,
    /// The ratio to the ceiling, before.
    pub ratio_to_ceiling_before: f64,
    /// The ratio to the ceiling, now.
    pub ratio_to_ceiling: f64,
    /// The relative change of that ratio; below 0 if it decreased.
    pub change: f64,
    /// Packet-hops a second, before.
    pub packet_hops_per_s_before: f64,
    /// Packet-hops a second, now.
    pub packet_hops_per_s: f64,
    /// The relative change of the speed; below 0 if it decreased. It also reflects the machine.
    pub speed_change: f64,
    pub verdict: Verdict,
    /// Why it cannot be decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// All cases compared with those of an earlier output.
#[derive(Debug, Clone, Serialize)]
pub struct Comparison {
    /// Those that are in both.
    pub compared: Vec<Compared>,
    /// The names of those that were there before only.
    pub only_before: Vec<String>,
    /// The names of those that are there now only.
    pub only_now: Vec<String>,
}

impl Comparison {
    /// Of `cases`, which are those that `only` keeps.
    pub(super) fn of(cases: &[BenchCase], earlier: &Earlier, only: &[String]) -> Self {
        let before: BTreeMap<&str, &EarlierCase> = earlier.cases.iter().map(|c| (&*c.name, c)).collect();
        let pairs = cases.iter().filter_map(|now| Some((*before.get(&*now.name)?, now)));
        let is_now = |name: &str| cases.iter().any(|now| now.name == name);
        let names_before = earlier.cases.iter().map(|c| &c.name);
        let names_now = cases.iter().map(|c| &c.name);
        Self {
            compared: pairs.map(|(before, now)| compare(before, earlier.repetitions, now)).collect(),
            only_before: names_before.filter(|n| is_chosen(n, only) && !is_now(n)).cloned().collect(),
            only_now: names_now.filter(|&n| !before.contains_key(&**n)).cloned().collect(),
        }
    }
}

fn compare(before: &EarlierCase, repetitions: usize, now: &BenchCase) -> Compared {
    let pairs = ratios(&before.samples_packet_hops_per_s, &before.samples_ceiling_packet_hops_per_s);
    let own = ratios(&now.samples_packet_hops_per_s, &now.samples_ceiling_packet_hops_per_s);
    let is_told = !pairs.is_empty();
    let ratio = if is_told { middle(&pairs) } else { before.ratio_to_ceiling };
    let change = now.ratio_to_ceiling / ratio - 1.0;
    let fewest = own.len().min(if is_told { pairs.len() } else { repetitions });
    let beyond = |least: f64| match change {
        change if change > least => Some(Verdict::Faster),
        change if change < -least => Some(Verdict::Slower),
        _ => None,
    };
    let verdict = if before.packet_hops != now.packet_hops {
        let [was, is] = [before.packet_hops, now.packet_hops];
        Err(format!("another model or workload: {is} hops, before {was}"))
    } else if fewest < LEAST_REPETITIONS {
        Err("too few repetitions to tell".to_owned())
    } else if is_told {
        let apart = are_apart(quartiles(&pairs), quartiles(&own));
        Ok(beyond(LEAST_CHANGE).filter(|_| apart).unwrap_or(Verdict::Same))
    } else {
        beyond(LEAST_CHANGE_UNKNOWN_SPREAD)
            .ok_or_else(|| "the earlier results have no repetitions".to_owned())
    };
    Compared {
        name: now.name.clone(),
        ratio_to_ceiling_before: ratio,
        ratio_to_ceiling: now.ratio_to_ceiling,
        change,
        packet_hops_per_s_before: before.packet_hops_per_s,
        packet_hops_per_s: now.packet_hops_per_s,
        speed_change: now.packet_hops_per_s / before.packet_hops_per_s - 1.0,
        verdict: *verdict.as_ref().unwrap_or(&Verdict::Unclear),
        why: verdict.err(),
    }
}

/// The ratio to the ceiling of each repetition.
pub(super) fn ratios(speeds: &[f64], ceilings: &[f64]) -> Vec<f64> {
    speeds.iter().zip(ceilings).map(|(speed, ceiling)| speed / ceiling).collect()
}

/// Whether two intervals have nothing in common.
fn are_apart(one: [f64; 2], other: [f64; 2]) -> bool {
    one[1] < other[0] || other[1] < one[0]
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    const HOPS: u64 = 1_000_000;

    /// A case whose repetitions had these ratios to a ceiling of 100.
    fn case(name: &str, ratios: &[f64]) -> BenchCase {
        let speeds: Vec<f64> = ratios.iter().map(|ratio| ratio * 100.0).collect();
        BenchCase {
            name: name.to_owned(),
            hosts: 128,
            threads: 1,
            simulated_s: 0.05,
            packet_hops: HOPS,
            wall_s: 1.0,
            packet_hops_per_s: middle(&speeds),
            ceiling_packet_hops_per_s: 100.0,
            ratio_to_ceiling: middle(ratios),
            ratio_to_fixed_routes: None,
            goodput_bps: 1e9,
            flows_per_s: None,
            peak_rss_bytes: 0,
            bytes_a_host: 0,
            samples_ceiling_packet_hops_per_s: vec![100.0; speeds.len()],
            samples_packet_hops_per_s: speeds,
        }
    }

    /// What the output of these cases is, read again after `change` was done to it.
    fn earlier(cases: &[BenchCase], change: impl Fn(&mut Value)) -> Earlier {
        let repetitions = cases.first().map_or(5, |c| c.samples_packet_hops_per_s.len());
        let mut value = json!({ "schema": SCHEMA, "repetitions": repetitions, "cases": cases });
        change(&mut value);
        Earlier::parse("old.json", &value.to_string()).expect("an output")
    }

    fn verdict(before: &[f64], now: &[f64]) -> (Verdict, Option<String>) {
        let earlier = earlier(&[case("a", before)], |_| ());
        let [compared] = &Comparison::of(&[case("a", now)], &earlier, &[]).compared[..] else {
            panic!("one")
        };
        (compared.verdict, compared.why.clone())
    }

    #[test]
    fn a_change_beyond_noise_is_called_one() {
        let before = [0.50, 0.49, 0.51, 0.50, 0.48];
        for (factor, wanted) in [
            (1.0, Verdict::Same),
            (1.04, Verdict::Same),
            (0.96, Verdict::Same),
            (1.1, Verdict::Faster),
            (0.9, Verdict::Slower),
        ] {
            assert_eq!(verdict(&before, &before.map(|r| r * factor)), (wanted, None), "{factor}");
        }
    }

    /// One repetition beside other work is no change, and neither are two in five.
    #[test]
    fn where_quartiles_overlap_nothing_has_changed() {
        let before = [0.50, 0.49, 0.51, 0.50, 0.48];
        assert_eq!(verdict(&before, &[0.50, 0.49, 0.2, 0.50, 0.3]), (Verdict::Same, None));
        assert_eq!(verdict(&before, &[0.30, 0.50, 0.45, 0.50, 0.46]), (Verdict::Same, None));
    }

    #[test]
    fn few_repetitions_tell_nothing() {
        let why = Some("too few repetitions to tell".to_owned());
        assert_eq!(verdict(&[0.5, 0.5], &[0.9, 0.9, 0.9]), (Verdict::Unclear, why.clone()));
        assert_eq!(verdict(&[0.5, 0.5, 0.5], &[0.9]), (Verdict::Unclear, why));
        assert_eq!(verdict(&[0.5, 0.5, 0.5], &[0.9, 0.9, 0.9]), (Verdict::Faster, None));
    }

    #[test]
    fn an_output_without_samples_is_compared_by_medians() {
        let old = |repetitions: u32| {
            earlier(&[case("a", &[0.5; 5])], |value| {
                value["repetitions"] = repetitions.into();
                let case = value["cases"][0].as_object_mut().expect("a case");
                case.retain(|key, _| !key.starts_with("samples_"));
            })
        };
        let verdict = |old: &Earlier, now: f64| {
            let compared = Comparison::of(&[case("a", &[now; 5])], old, &[]).compared.remove(0);
            (compared.verdict, compared.why)
        };
        let unknown = Some("the earlier results have no repetitions".to_owned());
        assert_eq!(verdict(&old(5), 0.5), (Verdict::Unclear, unknown.clone()));
        assert_eq!(verdict(&old(5), 0.55), (Verdict::Unclear, unknown));
        assert_eq!(verdict(&old(5), 0.6), (Verdict::Faster, None));
        assert_eq!(verdict(&old(5), 0.4), (Verdict::Slower, None));
        assert_eq!(verdict(&old(2), 0.4).1, Some("too few repetitions to tell".to_owned()));
    }

    #[test]
    fn other_hops_are_another_workload() {
        let earlier = earlier(&[case("a", &[0.5; 5])], |value| value["cases"][0]["packet_hops"] = 7.into());
        let compared = Comparison::of(&[case("a", &[0.5; 5])], &earlier, &[]).compared.remove(0);
        let why = "another model or workload: 1000000 hops, before 7";
        assert_eq!((compared.verdict, compared.why.as_deref()), (Verdict::Unclear, Some(why)));
    }

    #[test]
    fn changes_are_shares_of_what_was_before() {
        let earlier = earlier(&[case("a", &[0.5; 3])], |_| ());
        let compared = Comparison::of(&[case("a", &[0.4; 3])], &earlier, &[]).compared.remove(0);
        assert_eq!((compared.ratio_to_ceiling_before, compared.ratio_to_ceiling), (0.5, 0.4));
        assert!((compared.change + 0.2).abs() < 1e-12 && (compared.speed_change + 0.2).abs() < 1e-12);
    }

    #[test]
    fn cases_of_one_output_are_named() {
        let earlier = earlier(&[case("lia-sack", &[0.5]), case("xmp-gone", &[0.5])], |_| ());
        let cases = [case("lia-sack", &[0.5]), case("xmp-new", &[0.5])];
        let all = Comparison::of(&cases, &earlier, &[]);
        assert_eq!(
            (all.compared.len(), all.only_before, all.only_now),
            (1, vec!["xmp-gone".to_owned()], vec!["xmp-new".to_owned()])
        );
        // What was not to be run is not missed.
        let some = Comparison::of(&cases[..1], &earlier, &["lia".to_owned()]);
        assert_eq!((some.compared.len(), some.only_before.len(), some.only_now.len()), (1, 0, 0));
    }

    #[test]
    fn what_is_no_output_is_refused() {
        let sound = json!({ "schema": SCHEMA, "repetitions": 1, "cases": [case("a", &[0.5])] });
        let changed = |change: &dyn Fn(&mut Value)| {
            let mut value = sound.clone();
            change(&mut value);
            value.to_string()
        };
        for (text, why) in [
            ("no JSON".to_owned(), "expected"),
            ("{}".to_owned(), "the key `schema` is missing"),
            (
                changed(&|v| v["schema"] = "tresse/run/1".into()),
                "its schema is tresse/run/1, not tresse/bench/1",
            ),
            (
                changed(&|v| v["cases"][0]["ratio_to_ceiling"] = 0.into()),
                "the speeds of a are not positive numbers",
            ),
            (
                changed(&|v| v["cases"][0]["samples_packet_hops_per_s"] = json!([1, 2])),
                "the speeds of a are not positive numbers",
            ),
        ] {
            let message = Earlier::parse("old.json", &text).expect_err(&text).to_string();
            let begin = "old.json: not the output of `tresse bench --json`: ";
            assert!(message.starts_with(begin) && message.contains(why), "{message}");
        }
    }
}
