//! Claims by their sentences: the readings of a sentence are next to it, so that its text appears once.

use std::collections::BTreeMap;

use crate::PaperExperiment;
use crate::schema::claims::Claim;

/// More words than this are too long for the name of a reading.
const LONG: usize = 10;

/// A sentence of the paper, and its claims in one experiment.
#[derive(Debug)]
pub(super) struct Sentence<'a> {
    pub(super) text: &'a str,
    pub(super) source: &'a str,
    /// The claim itself; `None` if there are only other readings.
    pub(super) own: Option<&'a Claim>,
    /// Other readings, with their names.
    pub(super) readings: Vec<(String, &'a Claim)>,
}

impl<'a> Sentence<'a> {
    pub(super) fn claims(&self) -> impl Iterator<Item = &'a Claim> {
        self.own.into_iter().chain(self.readings.iter().map(|(_, claim)| *claim))
    }
}

/// The claims of a paper by their full names, such as `xmp/table1 xmp2-beats-lia2`.
pub(super) type ByName<'a> = BTreeMap<String, &'a Claim>;

pub(super) fn by_name<'a>(experiments: &'a [(&str, PaperExperiment)]) -> ByName<'a> {
    let claims =
        experiments.iter().flat_map(|(name, e)| e.publication.claims.iter().map(move |claim| (name, claim)));
    claims.map(|(name, claim)| (format!("{name} {}", claim.id), claim)).collect()
}

/// The full name of the claim of which `claim` of the experiment `name` is a reading; its own if it is not a
/// reading.
pub(super) fn root(name: &str, claim: &Claim) -> String {
    match &claim.reading_of {
        Some(root) if root.contains(' ') => root.clone(),
        Some(root) => format!("{name} {root}"),
        None => format!("{name} {}", claim.id),
    }
}

/// The sentences of the experiment `name`, in the order of the file. A reading with a different text is a
/// separate sentence.
pub(super) fn sentences<'a>(
    name: &str,
    claims: impl Iterator<Item = &'a Claim>,
    all: &ByName<'a>,
) -> Vec<Sentence<'a>> {
    let mut sentences: Vec<(String, Sentence<'a>)> = Vec::new();
    for claim in claims {
        let source = claim.source.as_deref().unwrap_or_default();
        let key = root(name, claim);
        let of = all.get(&key).copied().filter(|_| claim.reading_of.is_some());
        let label = of.and_then(|of| label(claim, of));
        let (Some(of), Some(label)) = (of, label) else {
            let own = Sentence { text: &claim.text, source, own: Some(claim), readings: Vec::new() };
            sentences.push((format!("{name} {}", claim.id), own));
            continue;
        };
        match sentences.iter_mut().find(|(known, _)| *known == key) {
            Some((_, sentence)) => sentence.readings.push((label, claim)),
            None => {
                let readings = vec![(label, claim)];
                sentences.push((key, Sentence { text: &of.text, source, own: None, readings }));
            }
        }
    }
    sentences.into_iter().map(|(_, sentence)| sentence).collect()
}

/// The name of a reading next to its sentence: the words that only the reading has, such as `newreno`; if the
/// words are the same, the additional part of its name. `None` if they have little in common.
fn label(claim: &Claim, of: &Claim) -> Option<String> {
    if claim.text == of.text {
        let more = claim.id.strip_prefix(&*of.id)?.trim_start_matches('-');
        return (!more.is_empty()).then(|| more.to_owned());
    }
    let (own, other) = (tokens(&claim.text), tokens(&of.text));
    let before = own.iter().zip(&other).take_while(|(a, b)| a == b).count();
    let most = own.len().min(other.len()) - before;
    let after = own.iter().rev().zip(other.iter().rev()).take(most).take_while(|(a, b)| a == b).count();
    let (mut start, mut end) = (before, own.len() - after);
    // Everything between brackets or semicolons.
    let ends = ["(", ")", ";", ",", ":"];
    let is_end = |token: &&str| ends.contains(token);
    if own.get(start).is_some_and(|token| token.starts_with(char::is_alphanumeric)) {
        while start > 0 && start < end && !is_end(&own[start]) && !is_end(&own[start - 1]) {
            start -= 1;
        }
    }
    while end < own.len() && end > start && !is_end(&own[end]) && !is_end(&own[end - 1]) {
        end += 1;
    }
    let from = claim.text.len() - own[start..].iter().map(|t| t.len()).sum::<usize>();
    let to = claim.text.len() - own[end..].iter().map(|t| t.len()).sum::<usize>();
    let text = claim.text[from..to].trim_matches(|c: char| !c.is_alphanumeric());
    (!text.is_empty() && text.split(' ').count() <= LONG).then(|| text.replace(';', ","))
}

/// Words, spaces and punctuation.
fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '-' | '.' | '\'');
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end = match is_word(first) {
            true => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
            false => first.len_utf8(),
        };
        let (token, next) = rest.split_at(end);
        tokens.push(token);
        rest = next;
    }
    tokens
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn claim(id: &str, text: &str) -> Claim {
        serde_json::from_value(json!({ "id": id, "text": text, "metric": "jain_ratio", "above": 0.9 }))
            .expect("a claim")
    }

    #[test]
    fn a_reading_is_called_by_what_it_has_of_its_own() {
        for (own, of, expected) in [
            ("it is even (within 15 %; unpaced-80)", "it is even (within 15 %; paced-160)", "unpaced-80"),
            ("LIA gains (by 40 %; reno)", "LIA gains (by 40 %)", "reno"),
            ("XMP doubles them (newreno)", "XMP doubles them", "newreno"),
            ("NewReno: it falls (5 against 1)", "SACK: it falls (5 against 1)", "NewReno"),
            ("fair (buffers of 1000 packets)", "fair (buffers of 100 packets)", "buffers of 1000 packets"),
            (
                "more (UDP from another host)",
                "more (UDP from the senders' own NICs)",
                "UDP from another host",
            ),
            ("it is fair, with delayed ACKs", "it is fair", "with delayed ACKs"),
            ("poor for 200 ms (reno; beside XMP)", "poor for 200 ms, so long", "reno, beside XMP"),
        ] {
            assert_eq!(label(&claim("a", own), &claim("b", of)).as_deref(), Some(expected), "{own}");
        }
        assert_eq!(label(&claim("x-fast-reno", "a"), &claim("x-fast", "a")).as_deref(), Some("reno"));
        assert_eq!(label(&claim("x-fast", "a"), &claim("x-fast", "a")), None);
        let long = "one two three four five six seven eight nine ten eleven";
        assert_eq!(label(&claim("a", long), &claim("b", "another sentence")), None);
    }

    #[test]
    fn readings_stand_beside_their_sentence() {
        let own = claim("even", "it is even (paced)");
        let mut other = claim("even-unpaced", "it is even (unpaced)");
        other.reading_of = Some("even".to_owned());
        let mut elsewhere = claim("odd-late", "it is odd (late)");
        elsewhere.reading_of = Some("p/b odd".to_owned());
        let odd = claim("odd", "it is odd");
        let all: ByName = [("p/a even".to_owned(), &own), ("p/b odd".to_owned(), &odd)].into();
        let sentences = sentences("p/a", [&own, &elsewhere, &other].into_iter(), &all);
        let told: Vec<_> = sentences
            .iter()
            .map(|s| {
                (s.text, s.own.is_some(), s.readings.iter().map(|(name, _)| &**name).collect::<Vec<_>>())
            })
            .collect();
        assert_eq!(
            told,
            [("it is even (paced)", true, vec!["unpaced"]), ("it is odd", false, vec!["late"]),]
        );
    }
}
