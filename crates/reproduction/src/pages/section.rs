//! An experiment's section alone, for including a result in another page: numbers and claims next to the
//! published ones, and why they differ.

use tresse_results::record::claim::Verdict;
use tresse_results::record::report::Status;

use super::markdown::{cell, command, counted, duration, row, row_name, rows, rule};
use super::{NOT_JUDGED, Reproduced, changed_line, numbers};
use crate::PaperExperiment;
use crate::metric_display;
use crate::schema::claims::Kind;

/// The section of the experiment `name` in Markdown: its title, its names in the paper, the commands, a table
/// of numbers and one of claims with columns for each of `results`, each from a different profile or from
/// real hosts, and a sentence for every difference. The sentences are those of `experiment`, which should be
/// unchanged from the file.
pub fn section(name: &str, experiment: &PaperExperiment, results: &[&Reproduced]) -> String {
    let mut text = format!("### {}\n\n", experiment.title);
    let rows = rows(name, experiment);
    text += &match rows.is_empty() {
        true => "No table or figure of the paper".to_owned(),
        false => rows.iter().map(|row| row_name(row)).collect::<Vec<_>>().join(", "),
    };
    if !experiment.source.is_empty() {
        text += &format!(" ({})", experiment.source);
    }
    text += ".\n\n";
    for result in results {
        text += &format!("    {}\n", command(name, result));
    }
    for (i, result) in results.iter().enumerate() {
        text += if i == 0 { "\n" } else { "" };
        let profile = if result.profile == "quick" { "Quick" } else { "Full" };
        let (of, late) = match &result.testbed {
            Some(testbed) => ("real hosts, ", format!("; {}", testbed.lateness())),
            None => ("", String::new()),
        };
        text += &format!(
            "{profile} profile: {of}{}, {}, {:.0} million packet-hops in {}{late}{}.\n",
            counted(result.cases, "case"),
            result.seeds(),
            result.packet_hops as f64 / 1e6,
            duration(result.comparison.summary.wall_s),
            if result.status == Status::Complete { "" } else { "; it was interrupted" },
        );
    }
    for (line, result) in results.iter().filter_map(|result| Some((changed_line(&result.changed)?, result))) {
        text += &match result.judged {
            true => format!("\n**{line}**; judged anyway.\n"),
            false => format!("\n**{line}**: {NOT_JUDGED}.\n"),
        };
    }
    let judged: Vec<&Reproduced> = results.iter().copied().filter(|result| result.judged).collect();
    if judged.is_empty() {
        return text;
    }
    let results = &judged[..];
    for part in [numbers(experiment, results), claims(experiment, results)] {
        if !part.is_empty() {
            text += &format!("\n{part}");
        }
    }
    text
}

/// A heading for each of the results, if there are several; results of real hosts are named as such.
fn of_result(what: &str, result: &Reproduced, results: &[&Reproduced]) -> String {
    let simulated = results.iter().filter(|result| !result.is_real()).count();
    match result.is_real() {
        true if what == "ours" => "real".to_owned(),
        true if results.len() > 1 => format!("{what}, real"),
        false if simulated > 1 => format!("{what}, {}", result.profile),
        _ => what.to_owned(),
    }
}

/// The published numbers, ours from each of the results, and why some differ.
fn numbers(experiment: &PaperExperiment, results: &[&Reproduced]) -> String {
    let published = &experiment.publication.published;
    if published.values.is_empty() {
        return String::new();
    }
    let results = &numbers::columns(results)[..];
    let mut head = ["metric", "case", "published"].map(str::to_owned).to_vec();
    for result in results {
        head.extend(["ours", "ratio"].map(|what| of_result(what, result, results)));
    }
    let mut text = row(&head) + &rule(&head);
    // Numbers that differ for the same reason share one sentence.
    let mut reasons: Vec<(&str, Vec<String>)> = Vec::new();
    for number in numbers::all(experiment, results) {
        let mut cells = vec![metric_display::name(number.metric), cell(&number.case), number.shown()];
        cells.extend(number.ours().into_iter().zip(number.ratios()).flat_map(|(ours, ratio)| [ours, ratio]));
        text += &row(&cells);
        let Some(why) = number.differs else { continue };
        match reasons.iter_mut().find(|(reason, _)| *reason == why) {
            Some((_, cases)) if cases.contains(&number.case) => {}
            Some((_, cases)) => cases.push(number.case),
            None => reasons.push((why, vec![number.case])),
        }
    }
    text += &format!("\nPublished: {}", published.source);
    text += match published.kind {
        Kind::Simulation => ".\n",
        Kind::Testbed => "; measured on a testbed, so compared as ratios only.\n",
    };
    for (i, (why, cases)) in reasons.into_iter().enumerate() {
        let gap = if i == 0 { "\n" } else { "" };
        text += &format!("{gap}- {}: {why}\n", cases.join("; "));
    }
    text
}

/// The claims, the verdicts from each of the results, and why some do not hold.
fn claims(experiment: &PaperExperiment, results: &[&Reproduced]) -> String {
    if experiment.publication.claims.is_empty() {
        return String::new();
    }
    let mut head = vec!["claim".to_owned()];
    for result in results {
        head.extend(["verdict", "value"].map(|what| of_result(what, result, results)));
    }
    let mut text = row(&head) + &rule(&head);
    for claim in &experiment.publication.claims {
        let source = claim.source.as_ref().map(|s| format!(" ({s})")).unwrap_or_default();
        // Other readings are below the sentence itself.
        let mark = if claim.reading_of.is_some() { "↳ " } else { "" };
        let mut cells = vec![mark.to_owned() + &cell(&claim.text) + &source];
        let apart = if claim.contradicts.is_some() { "; counted separately" } else { "" };
        for result in results {
            let Some(own) = result.comparison.claims.iter().find(|c| c.id == claim.id) else {
                cells.extend(["-", "-"].map(str::to_owned));
                continue;
            };
            let expected = claim.expected.of(&result.profile);
            cells.push(
                match (own.verdict, result.is_real() || expected == own.verdict) {
                    (Verdict::Holds, true) => "holds".to_owned(),
                    (verdict, true) => format!("**{verdict}**"),
                    (verdict, false) => format!("**{verdict}**, expected: {expected}"),
                } + apart,
            );
            cells.push(metric_display::claim(own) + &cell(&metric_display::cases(own)));
        }
        text += &row(&cells);
    }
    let reasons = experiment.publication.claims.iter().flat_map(|claim| {
        let proof = claim.contradicts.as_ref().map(|proof| format!("contradicts its own paper. {proof}"));
        [proof, claim.because.clone()].into_iter().flatten().map(move |reason| (claim, reason))
    });
    for (i, (claim, reason)) in reasons.enumerate() {
        let gap = if i == 0 { "\n" } else { "" };
        text += &format!("{gap}- *{}*: {reason}\n", claim.text);
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::Value;
    use serde_json::json;

    use super::super::Testbed;
    use super::*;
    use crate::schema::OWNERS;

    const FILE: &str = r#"
title = "Two senders"
source = "PAPER §1"
rows = ["table1", "fig9", "coexist"]
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
[workloads.permutation]
pattern = "permutation"
size = "1MB"
[published]
source = "PAPER Table 1"
values = [
  { scheme = "lia", subflows = 2, pattern = "permutation", goodput_mean = "400Mbps", differs = "it loses less" },
  { scheme = "lia", subflows = 2, pattern = "permutation", group = "large", metrics = { fct_mean_s = 0.01 } },
]
[[claims]]
id = "fast"
text = "LIA | is fast"
metric = "goodput_mean_bps"
of = { scheme = "lia" }
above = 5e8
[[claims]]
id = "slow"
text = "LIA is slow"
metric = "goodput_mean_bps"
of = { scheme = "lia" }
below = 5e8
expected = "does not hold"
because = "It loses less."
"#;

    fn experiment() -> PaperExperiment {
        let keys = OWNERS.keys_of(&toml::from_str(FILE).expect("tables")).expect("an experiment");
        PaperExperiment::of(&keys).expect("of a paper")
    }

    /// A result with this `goodput` for LIA.
    fn result(profile: &str, goodput: f64) -> Reproduced {
        let case = json!({ "scheme": "lia", "subflows": 2, "pattern": "permutation" });
        let number = |metric: &str, part: Value, published: f64, ours: Option<f64>| {
            json!({
                "case": case, "part": part, "of": "lia-2 permutation", "metric": metric, "published": published,
                "ours": ours, "ci95": ours.map(|v| v / 100.0), "ratio": ours.map(|v| v / published),
                "within_20_percent": ours.map(|v| (v / published - 1.0).abs() < 0.2), "kind": "simulation",
            })
        };
        let claim = |id: &str, verdict: &str| {
            json!({
                "id": id, "text": "", "metric": "goodput_mean_bps", "form": "band", "holds": verdict == "holds",
                "verdict": verdict, "value": goodput, "ci95": null, "expected": "holds",
            })
        };
        let result = json!({
            "experiment": "paper/table1", "profile": profile, "seed": 1, "replications": 3, "status": "complete",
            "version": "1", "model_version": 1, "digest": "d", "settings": "s", "packet_hops": 2_000_000u64, "cases": 1,
            "numbers": [
                number("goodput_mean_bps", json!({}), 4e8, Some(goodput)),
                number("fct_mean_s", json!({ "group": "large" }), 0.01, None),
            ],
            "claims": [claim("fast", if goodput > 5e8 { "holds" } else { "inconclusive" }), claim("slow", "does not hold")],
            "summary": {
                "claims": 2, "claims_hold": 1, "claims_hold_in_a_reading": 1, "numbers": 2,
                "numbers_within_20_percent": 0, "numbers_within_20_percent_in_a_reading": 0, "wall_s": 83.0,
            },
        });
        serde_json::from_value(result).expect("a result")
    }

    #[test]
    fn a_section_has_every_number_every_claim_and_every_reason() {
        let text = section("paper/table1", &experiment(), &[&result("quick", 6e8)]);
        for part in [
            "### Two senders\n\nTable 1, Fig. 9, coexist (PAPER §1).\n\n    tresse run paper/table1\n\n",
            "Quick profile: 1 case, 3 seeds, 2 million packet-hops in 1 min 23 s.\n",
            "| metric | case | published | ours | ratio |\n|---|---|---|---|---|\n",
            "| goodput mean, Mbit/s | lia-2 permutation | 400.0 | 600.0 ± 6.0 | **1.50** |\n",
            "| fct mean, ms | lia-2 permutation | 10.000 | - | - |\n",
            "\nPublished: PAPER Table 1.\n\n- lia-2 permutation: it loses less\n",
            "| claim | verdict | value |\n|---|---|---|\n| LIA \\| is fast | holds | 600.0 Mbit/s |\n",
            "| LIA is slow | **does not hold** | 600.0 Mbit/s |\n\n- *LIA is slow*: It loses less.\n",
        ] {
            assert!(text.contains(part), "{part}\nin\n{text}");
        }
    }

    /// A result of real hosts.
    fn real(goodput: f64) -> Reproduced {
        let testbed =
            Testbed { scale: "1/3".to_owned(), switch: None, late_p99_ns: Some(90_000), packets_per_s: 3e4 };
        Reproduced { testbed: Some(testbed), ..result("quick", goodput) }
    }

    #[test]
    fn real_hosts_stand_beside_the_simulator() {
        let (quick, real) = (result("quick", 6e8), real(4.4e8));
        let text = section("paper/table1", &experiment(), &[&quick, &real]);
        for part in [
            "    tresse run paper/table1\n    tresse testbed run paper/table1 --scale 1/3\n",
            "Quick profile: real hosts, 1 case, 3 seeds, 2 million packet-hops in 1 min 23 s; 99 % of the packets up to 0.09 ms \
             late.\n",
            "| metric | case | published | ours | ratio | real | ratio, real |\n",
            "| 400.0 | 600.0 ± 6.0 | **1.50** | 440.0 ± 4.4 | 1.10 |\n",
            "| claim | verdict | value | verdict, real | value, real |\n",
            // Expectations apply to the simulator.
            "| holds | 600.0 Mbit/s | **inconclusive** | 440.0 Mbit/s |\n",
        ] {
            assert!(text.contains(part), "{part}\nin\n{text}");
        }
        let text = section("paper/table1", &experiment(), &[&real]);
        assert!(text.contains("| published | real | ratio |\n"), "{text}");
        let mut none = real.clone();
        none.comparison.numbers.iter_mut().for_each(|number| number.ours = None);
        let text = section("paper/table1", &experiment(), &[&quick, &none]);
        assert!(text.contains("| published | ours | ratio |\n") && text.contains("verdict, real"), "{text}");
    }

    #[test]
    fn profiles_stand_side_by_side() {
        let (quick, full) = (result("quick", 6e8), result("full", 4.4e8));
        let text = section("paper/table1", &experiment(), &[&quick, &full]);
        for part in [
            "    tresse run paper/table1\n    tresse run paper/table1 --profile full\n",
            "| metric | case | published | ours, quick | ratio, quick | ours, full | ratio, full |\n",
            "| 400.0 | 600.0 ± 6.0 | **1.50** | 440.0 ± 4.4 | 1.10 |\n",
            "| holds | 600.0 Mbit/s | **inconclusive**, expected: holds | 440.0 Mbit/s |\n",
        ] {
            assert!(text.contains(part), "{part}\nin\n{text}");
        }
    }
}
