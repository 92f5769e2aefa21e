//! The claims of a paper's page: a line for each sentence, with the verdict before it and our value after it.

use std::collections::BTreeMap;

use tresse_results::record::claim::{ClaimResult, Share, Verdict};

use super::Reproduced;
use super::markdown::{counted, details};
use super::readings::Sentence;
use super::whys::{Anchors, Whys};
use crate::metric_display;
use crate::schema::claims::Claim;

/// If more lines than this are claims that hold, they are folded.
const MANY: usize = 6;

/// More cases than this are not named.
const MANY_CASES: usize = 4;

/// The writer of a page's claims.
pub(super) struct Teller<'a> {
    pub(super) anchors: &'a Anchors,
    pub(super) whys: &'a mut Whys,
    /// The prefix of the paper's sources, such as `XMP `, which is omitted.
    pub(super) prefix: &'a str,
}

impl Teller<'_> {
    /// The list of `sentences` of the experiment `name`, those with a claim that does not hold first.
    pub(super) fn list(&mut self, name: &str, sentences: &[Sentence], results: &[&Reproduced]) -> String {
        let usual = usual_source(sentences);
        let (mut others, mut held) = (String::new(), Vec::new());
        for sentence in sentences {
            let line = self.line(name, sentence, results, usual);
            let all = sentence.claims().flat_map(|claim| results.iter().map(move |r| verdict(claim, r)));
            match all.flatten().all(|verdict| verdict == Verdict::Holds) && !results.is_empty() {
                true => held.push(line),
                false => others += &line,
            }
        }
        let mut text = match usual {
            Some(usual) => format!("Claims of {}:\n\n{others}", self.short(usual)),
            None => format!("Claims:\n\n{others}"),
        };
        match held.len() > MANY {
            true => {
                let gap = if others.is_empty() { "" } else { "\n" };
                let summary = format!("{} hold", counted(held.len(), "more claim"));
                let summary = if others.is_empty() { summary.replace(" more", "") } else { summary };
                text += &format!("{gap}{}", details(&summary, &held.concat()));
            }
            false => text += &held.concat(),
        }
        text
    }

    fn short<'s>(&self, source: &'s str) -> &'s str {
        source.strip_prefix(self.prefix).unwrap_or(source)
    }

    fn line(
        &mut self,
        name: &str,
        sentence: &Sentence,
        results: &[&Reproduced],
        usual: Option<&str>,
    ) -> String {
        let source = match sentence.source {
            source if source.is_empty() || Some(source) == usual => String::new(),
            source => format!(" ({})", self.short(source)),
        };
        let readings: Vec<String> = (sentence.readings.iter())
            .map(|(label, claim)| {
                let (mark, value) = self.told(name, claim, results);
                format!("{label} {mark}{value}")
            })
            .collect();
        let readings = readings.join("; ");
        let Some(own) = sentence.own else {
            return format!("- ↳ {}{source}: {readings}\n", sentence.text);
        };
        let (mark, value) = self.told(name, own, results);
        let arrow = if own.reading_of.is_some() { "↳ " } else { "" };
        let value = if value.is_empty() { value } else { format!(":{value}") };
        let mut text = format!("- {mark} {arrow}{}{source}{value}\n", sentence.text);
        if !readings.is_empty() {
            text += &format!("  - ↳ {readings}\n");
        }
        text
    }

    /// A claim's mark; and its value, the results of other profiles if they differ, those of real hosts, and
    /// the links to the reasons, with a space before.
    pub(super) fn told(&mut self, name: &str, claim: &Claim, results: &[&Reproduced]) -> (String, String) {
        let anchor = self.anchors.mark(name, &claim.id);
        let told: Vec<(&Reproduced, ClaimRow)> =
            results.iter().filter_map(|r| Some((*r, ClaimRow::of(result(claim, r)?, r.is_real())))).collect();
        let Some((_, first)) = told.first() else { return (anchor + "-", String::new()) };
        let mut text = format!(" {}{}", first.value, first.cases);
        // Real hosts are shown next to every claim, because their agreement is informative too.
        for (result, own) in
            told.iter().skip(1).filter(|(result, own)| result.is_real() || own.tells_more_than(first))
        {
            let of = if result.is_real() { "real" } else { &*result.profile };
            let is_same = own.mark == first.mark && !result.is_real();
            let mark = if is_same { String::new() } else { format!(" {}", own.mark) };
            let cases = if own.verdict == first.verdict { "" } else { &*own.cases };
            text += &format!(" ({of}{mark} {}{cases})", own.value);
        }
        let mut simulated = results.iter().filter(|r| !r.is_real());
        let is_told =
            simulated.any(|r| verdict(claim, r) != Some(Verdict::Holds)) || !claim.expected.is_to_hold();
        let because = claim.because.as_ref().filter(|_| is_told);
        for why in claim.contradicts.iter().chain(because) {
            text += &format!(", {}", self.whys.link(why, name, Some(&claim.id)));
        }
        (anchor + &first.mark, text)
    }
}

fn result<'a>(claim: &Claim, result: &'a Reproduced) -> Option<&'a ClaimResult> {
    result.comparison.claims.iter().find(|own| own.id == claim.id)
}

fn verdict(claim: &Claim, results: &Reproduced) -> Option<Verdict> {
    result(claim, results).map(|own| own.verdict)
}

/// The result of one profile, or of real hosts, for a claim.
struct ClaimRow {
    verdict: Verdict,
    /// ✓, ✗ or ≈.
    mark: String,
    /// The value by which it was judged.
    value: String,
    /// The share of its cases.
    cases: String,
}

impl ClaimRow {
    /// Expectations apply only to the simulator; for real hosts, the number of cases is enough.
    fn of(own: &ClaimResult, is_real: bool) -> Self {
        let mark = match own.verdict {
            Verdict::Holds => "✓",
            Verdict::DoesNotHold => "✗",
            Verdict::Inconclusive if own.is_inert() => "∅",
            Verdict::Inconclusive => "≈",
        };
        let mark = match is_real || own.verdict == own.expected {
            true => mark.to_owned(),
            false => format!("{mark} (expected: {})", own.expected),
        };
        let value = if own.value.is_some() { metric_display::claim(own) } else { "no value".to_owned() };
        let cases = match is_real {
            true => own.cases.as_ref().map(share).unwrap_or_default(),
            false => cases(own),
        };
        Self { verdict: own.verdict, mark, value, cases }
    }

    /// Whether it is shown next to the first profile's result: if a claim holds in both, the digits are in
    /// the results.
    fn tells_more_than(&self, first: &Self) -> bool {
        self.mark != first.mark || (self.verdict != Verdict::Holds && self.value != first.value)
    }
}

/// For how many of its cases a claim holds, and for which it does not. If it holds everywhere, only the
/// results say which case is nearest to failing.
fn cases(own: &ClaimResult) -> String {
    let is_held = own.verdict == Verdict::Holds;
    let nearest =
        own.of.as_deref().filter(|_| !is_held).map(|of| format!(" ({})", pair(of))).unwrap_or_default();
    let Some(cases) = &own.cases else { return nearest };
    let mut text = share(cases);
    if cases.hold == 0 {
        return nearest + &text;
    }
    for (what, cases) in [("not", &cases.do_not_hold), ("inconclusive", &cases.inconclusive)] {
        if !cases.is_empty() {
            let cases: Vec<String> = cases.iter().map(|case| pair(case)).collect();
            text += &format!("; {what}: {}", factored(&cases));
        }
    }
    text
}

/// `, 3/4 cases`.
fn share(cases: &Share) -> String {
    let least = cases.at_least.map(|least| format!(", {least} required")).unwrap_or_default();
    format!(", {}/{} cases{least}", cases.hold, cases.of)
}

/// `xmp-2 random, size large against lia-4 random, size large` as
/// `xmp-2 against lia-4 in random, size large`: the common part is written once.
fn pair(case: &str) -> String {
    let Some((left, right)) = case.split_once(" against ") else { return case.to_owned() };
    let (left, right): (Vec<&str>, Vec<&str>) = (left.split(' ').collect(), right.split(' ').collect());
    let same = left.iter().rev().zip(right.iter().rev()).take_while(|(a, b)| a == b).count();
    if same == 0 || same >= left.len().min(right.len()) {
        return case.to_owned();
    }
    let shared = left[left.len() - same..].join(" ");
    let own = |words: &[&str]| words[..words.len() - same].join(" ");
    format!("{} against {} in {shared}", own(&left), own(&right))
}

/// Names of cases, with common words at the beginning and end written once:
/// `dctcp-1 (permutation / random) large`.
fn factored(cases: &[String]) -> String {
    let words: Vec<Vec<&str>> = cases.iter().map(|case| case.split(' ').collect()).collect();
    let shortest = words.iter().map(Vec::len).min().unwrap_or_default();
    let Some(first) = words.first().filter(|_| cases.len() > 1) else { return cases.concat() };
    let is_shared = |word: &dyn Fn(&[&str]) -> String| words.iter().all(|own| word(own) == word(first));
    let before = (0..shortest).take_while(|&i| is_shared(&|own| own[i].to_owned())).count();
    let most = shortest - before;
    let after = (0..most).take_while(|&i| is_shared(&|own| own[own.len() - 1 - i].to_owned())).count();
    let mut own: Vec<String> =
        words.iter().take(MANY_CASES).map(|own| own[before..own.len() - after].join(" ")).collect();
    if cases.len() > MANY_CASES {
        own.push(format!("{} more", cases.len() - MANY_CASES));
    }
    if own.iter().any(String::is_empty) {
        return cases.join(" / ");
    }
    // A comma at the end of all is put after the bracket.
    let comma = if own.iter().all(|own| own.ends_with(',')) { "," } else { "" };
    let own: Vec<&str> = own.iter().map(|own| own.strip_suffix(comma).unwrap_or(own)).collect();
    let middle = own.join(" / ");
    let middle = if before + after == 0 { middle } else { format!("({middle}){comma}") };
    let (begin, end) = (first[..before].join(" "), first[first.len() - after..].join(" "));
    [begin, middle, end].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

/// The source shared by at least half of several sentences: it is written once.
fn usual_source<'a>(sentences: &[Sentence<'a>]) -> Option<&'a str> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for sentence in sentences {
        *counts.entry(sentence.source).or_default() += 1;
    }
    let (source, n) = counts.into_iter().max_by_key(|(_, n)| *n)?;
    (n > 1 && 2 * n >= sentences.len() && !source.is_empty()).then_some(source)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::claims::Tally;

    #[test]
    fn cases_say_once_what_all_of_them_are_of() {
        let factored = |cases: &[&str]| factored(&cases.iter().map(|&c| c.to_owned()).collect::<Vec<_>>());
        assert_eq!(factored(&["a x core", "a y core"]), "a (x / y) core");
        assert_eq!(factored(&["a x", "b x"]), "(a / b) x");
        assert_eq!(factored(&["a", "b"]), "a / b");
        assert_eq!(factored(&["a x"]), "a x");
        assert_eq!(factored(&["a 1", "a 2", "a 3", "a 4", "a 5", "a 6"]), "a (1 / 2 / 3 / 4 / 2 more)");
        assert_eq!(factored(&["a", "a b"]), "a / a b");
        assert_eq!(factored(&["a x, large", "a y, large"]), "a (x / y), large");
        assert_eq!(
            pair("a-2 random, size 1 against b-4 random, size 1"),
            "a-2 against b-4 in random, size 1"
        );
        assert_eq!(
            ["a x", "a x against b y", "a against a"].map(pair),
            ["a x", "a x against b y", "a against a"]
        );
    }

    fn result(verdict: &str, more: &Value) -> ClaimResult {
        let mut result = json!({
            "id": "c", "text": "", "metric": "jain_ratio", "form": "band", "holds": verdict == "holds",
            "verdict": verdict, "value": 0.9, "ci95": 0.01, "expected": "holds",
        });
        for (key, value) in more.as_object().expect("a table") {
            result[key] = value.clone();
        }
        serde_json::from_value(result).expect("a result")
    }

    #[test]
    fn a_mark_says_the_verdict_and_a_value_says_of_how_many_cases() {
        let told = |verdict: &str, more: Value| {
            let told = ClaimRow::of(&result(verdict, &more), false);
            format!("{} {}{}", told.mark, told.value, told.cases)
        };
        assert_eq!(told("holds", json!({})), "✓ 0.9000 ± 0.0100");
        assert_eq!(told("inconclusive", json!({ "value": null })), "≈ (expected: holds) no value");
        let cases = json!({ "of": "a", "cases": { "of": 3, "hold": 3 } });
        assert_eq!(told("holds", cases), "✓ 0.9000 ± 0.0100, 3/3 cases");
        let cases = json!({ "of": "a", "expected": "does not hold",
            "cases": { "of": 3, "hold": 1, "do_not_hold": ["a", "b"] } });
        assert_eq!(told("does not hold", cases), "✗ 0.9000 ± 0.0100, 1/3 cases; not: a / b");
        let cases = json!({ "of": "a", "expected": "does not hold",
            "cases": { "of": 2, "hold": 0, "do_not_hold": ["a", "b"] } });
        assert_eq!(told("does not hold", cases), "✗ 0.9000 ± 0.0100 (a), 0/2 cases");
        // There are no expectations for real hosts.
        let cases = json!({ "of": "a", "cases": { "of": 3, "hold": 1, "do_not_hold": ["a", "b"] } });
        let real = ClaimRow::of(&result("does not hold", &cases), true);
        assert_eq!((&*real.mark, &*real.cases), ("✗", ", 1/3 cases"));
    }

    /// Results with one claim, simulated or real.
    fn results(verdict: &str, value: f64, is_real: bool) -> Reproduced {
        let own = result(verdict, &json!({ "value": value, "expected": "holds" }));
        let mut results = json!({
            "experiment": "p/a", "profile": "quick", "seed": 1, "replications": 1, "status": "complete", "version": "1",
            "model_version": 1, "digest": "d", "settings": "s", "packet_hops": 1, "cases": 1, "numbers": [],
            "claims": [own], "summary": Tally::default(),
        });
        if is_real {
            results["testbed"] = json!({ "scale": "1/3", "late_p99_ns": 1, "packets_per_s": 1.0 });
        }
        serde_json::from_value(results).expect("results")
    }

    #[test]
    fn real_hosts_are_told_of_every_claim() {
        let claim =
            json!({ "id": "c", "text": "t", "metric": "jain_ratio", "above": 0.8, "because": "It is late" });
        let claim: Claim = serde_json::from_value(claim).expect("a claim");
        let (anchors, mut whys) = (Anchors::default(), Whys::default());
        let mut told = |real: &Reproduced| {
            let mut teller = Teller { anchors: &anchors, whys: &mut whys, prefix: "" };
            teller.told("p/a", &claim, &[&results("holds", 0.9, false), real])
        };
        let real = results("holds", 0.95, true);
        let both = ("✓".to_owned(), " 0.9000 ± 0.0100 (real ✓ 0.9500 ± 0.0100)".to_owned());
        assert_eq!(told(&real), both);
        // The reason applies to the simulator.
        let real = results("does not hold", 0.5, true);
        let other = ("✓".to_owned(), " 0.9000 ± 0.0100 (real ✗ 0.5000 ± 0.0100)".to_owned());
        assert_eq!(told(&real), other);
    }
}
