//! The sentences that explain differences: each once on the page of a paper, with a number and the results that
//! it explains.

use std::collections::{BTreeMap, BTreeSet};

use super::markdown::{counted, file};
use crate::PaperExperiment;

/// The sentences of a paper in the order in which its page refers to them.
#[derive(Debug, Default)]
pub(super) struct Whys {
    sentences: Vec<Why>,
}

#[derive(Debug)]
struct Why {
    text: String,
    /// By experiment: the claims, and how many numbers.
    places: Vec<(String, Vec<String>, usize)>,
}

impl Whys {
    /// The link to `sentence`, which explains a claim of the experiment `place`, or a number of it.
    pub(super) fn link(&mut self, sentence: &str, place: &str, claim: Option<&str>) -> String {
        let known = self.sentences.iter().position(|why| why.text == sentence);
        let index = known.unwrap_or(self.sentences.len());
        if known.is_none() {
            self.sentences.push(Why { text: sentence.to_owned(), places: Vec::new() });
        }
        let places = &mut self.sentences[index].places;
        if !places.iter().any(|(name, ..)| name == place) {
            places.push((place.to_owned(), Vec::new(), 0));
        }
        for (_, claims, numbers) in places.iter_mut().filter(|(name, ..)| name == place) {
            match claim {
                Some(claim) => claims.push(claim.to_owned()),
                None => *numbers += 1,
            }
        }
        format!("[why {0}](#why-{0})", index + 1)
    }

    /// All of them, as a numbered list; empty if there are none.
    pub(super) fn list(&self, anchors: &Anchors) -> String {
        let mut text = String::new();
        for (i, why) in self.sentences.iter().enumerate() {
            let places = why.places.iter().map(|(name, claims, numbers)| {
                let mut of: Vec<String> = claims.iter().map(|claim| format!("`{claim}`")).collect();
                if *numbers > 0 {
                    of.push(counted(*numbers, "number"));
                }
                format!("[{0}](#{0}) {1}", file(name), of.join(", "))
            });
            let places = places.collect::<Vec<_>>().join("; ");
            let first = why.places.first().map_or("", |(name, ..)| name);
            let sentence = anchors.linked(&why.text, first);
            let stop = if sentence.ends_with(['.', '!', '?']) { "" } else { "." };
            text += &format!("{0}. <a id=\"why-{0}\"></a>{sentence}{stop} *Of {places}.*\n", i + 1);
        }
        text
    }
}

/// The claims of a paper that sentences name, such as `see xmp-doubles-jct`: only they need an anchor.
#[derive(Debug, Default)]
pub(super) struct Anchors {
    /// The experiments with a claim of this name; those where it is not another reading come first.
    claims: BTreeMap<String, Vec<String>>,
    named: BTreeSet<(String, String)>,
}

impl Anchors {
    /// The anchors of a paper's experiments, by name.
    pub(super) fn of(experiments: &[(&str, PaperExperiment)]) -> Self {
        let mut own = Self::default();
        for is_reading in [false, true] {
            for (name, experiment) in experiments {
                let claims =
                    experiment.publication.claims.iter().filter(|c| c.reading_of.is_some() == is_reading);
                for claim in claims.filter(|claim| claim.id.contains('-')) {
                    own.claims.entry(claim.id.clone()).or_default().push((*name).to_owned());
                }
            }
        }
        for (name, experiment) in experiments {
            let of_claims = experiment.publication.claims.iter().flat_map(|c| [&c.because, &c.contradicts]);
            let of_numbers = experiment.publication.published.values.iter().map(|value| &value.differs);
            for sentence in of_claims.chain(of_numbers).flatten() {
                let named = words(sentence).filter_map(|word| own.find(word, name));
                own.named.extend(named.collect::<Vec<_>>());
            }
        }
        own
    }

    /// The experiment and the name of the claim, if a word in one of `name`'s sentences is one.
    fn find(&self, word: &str, name: &str) -> Option<(String, String)> {
        let places = self.claims.get(word)?;
        let own = places.iter().find(|place| *place == name).or_else(|| places.first())?;
        Some((own.clone(), word.to_owned()))
    }

    /// The anchor of a claim that a sentence names; empty for others.
    pub(super) fn mark(&self, name: &str, claim: &str) -> String {
        match self.named.contains(&(name.to_owned(), claim.to_owned())) {
            true => format!("<a id=\"{}-{claim}\"></a>", file(name)),
            false => String::new(),
        }
    }

    /// A sentence of the experiment `name`, with links for the claims that it names.
    fn linked(&self, sentence: &str, name: &str) -> String {
        let mut text = String::new();
        let mut rest = sentence;
        for word in words(sentence) {
            let Some((place, _)) = self.find(word, name) else { continue };
            let Some(at) = rest.find(word) else { continue };
            text += &format!("{}[{word}](#{}-{word})", &rest[..at], file(&place));
            rest = &rest[at + word.len()..];
        }
        text + rest
    }
}

/// Words including inner hyphens and points, without those at their ends.
fn words(sentence: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.');
    sentence.split(move |c| !is_part(c)).map(|word| word.trim_matches(['.', '-']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_stands_once_with_all_that_it_is_of() {
        let mut whys = Whys::default();
        assert_eq!(whys.link("It loses less", "xmp/fig1", Some("a-b")), "[why 1](#why-1)");
        assert_eq!(whys.link("K is low.", "xmp/fig1", None), "[why 2](#why-2)");
        assert_eq!(whys.link("It loses less", "xmp/fig1", Some("c-d")), "[why 1](#why-1)");
        assert_eq!(whys.link("It loses less", "xmp/fig4", None), "[why 1](#why-1)");
        assert_eq!(
            whys.list(&Anchors::default()),
            "1. <a id=\"why-1\"></a>It loses less. *Of [fig1](#fig1) `a-b`, `c-d`; [fig4](#fig4) 1 number.*\n\
             2. <a id=\"why-2\"></a>K is low. *Of [fig1](#fig1) 1 number.*\n"
        );
    }

    #[test]
    fn a_claim_that_a_sentence_names_is_a_link() {
        let claims: BTreeMap<String, Vec<String>> =
            [("shift-stalls".to_owned(), vec!["xmp/fig4".to_owned()])].into();
        let anchors = Anchors { claims, named: [("xmp/fig4".to_owned(), "shift-stalls".to_owned())].into() };
        assert_eq!(
            anchors.linked("It stalls (shift-stalls). shift-stalls-not", "xmp/fig1"),
            "It stalls ([shift-stalls](#fig4-shift-stalls)). shift-stalls-not"
        );
        assert_eq!(anchors.mark("xmp/fig4", "shift-stalls"), "<a id=\"fig4-shift-stalls\"></a>");
        assert_eq!(anchors.mark("xmp/fig4", "other-claim"), "");
    }
}
