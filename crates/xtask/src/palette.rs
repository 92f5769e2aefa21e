//! `page/src/data/schemes.ts` and `python/tresse/plot/schemes.py`: which of the palette's places each scheme of the
//! built-in experiments has. The page and Python read the same, so a scheme has one look in both, and in all figures of
//! its paper.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use indexmap::{IndexMap, IndexSet};
use tresse_experiment::read::built_in;
use tresse_experiment::{Diagnostic, Profile, find};
use tresse_workbench::OWNERS;

/// The colours of the palette: later places repeat them, with other dashes and markers.
const COLOURS: usize = 8;

const COMMENT: &str = "The place in the palette of each scheme of the built-in experiments: no two of an experiment \
                       share one.";

/// A scheme with its number of subflows (`xmp-2`), and its place.
type Place = (String, usize);

/// A scheme with more numbers of subflows than this is drawn against them: only the first has a place.
const NUMBERS: usize = 4;

/// The places of all schemes.
///
/// # Errors
/// If an experiment is wrong.
pub fn built_in() -> Result<Vec<Place>, String> {
    // Both profiles have the same cases, and the quick one's networks are small.
    let schemes = |name| -> Result<_, Diagnostic> {
        let loaded = OWNERS.load(find(name)?, Profile::Quick, &[])?;
        let plan = OWNERS.resolve(&loaded, &[])?;
        Ok(drawn(plan.cases.iter().map(|case| (&*case.scheme, case.subflows))))
    };
    let experiments = built_in::names().into_iter().map(|name| Ok((name, schemes(name)?)));
    let experiments: Result<Vec<_>, Diagnostic> = experiments.collect();
    Ok(places(&experiments.map_err(|e| e.to_string())?))
}

/// The labels of these cases' schemes that figures distinguish. The first of each scheme come first: their looks are
/// also those of the names without a number.
fn drawn<'a>(cases: impl Iterator<Item = (&'a str, Option<u32>)>) -> Vec<String> {
    let mut numbers: IndexMap<&str, IndexSet<Option<u32>>> = IndexMap::new();
    for (scheme, subflows) in cases {
        numbers.entry(scheme).or_default().insert(subflows);
    }
    let labels = |place: usize| {
        numbers.iter().filter_map(move |(scheme, own)| {
            let kept = if own.len() > NUMBERS { 1 } else { own.len() };
            let number = own.get_index(place).filter(|_| place < kept)?;
            Some(number.map_or_else(|| (*scheme).to_owned(), |n| format!("{scheme}-{n}")))
        })
    };
    (0..NUMBERS).flat_map(labels).collect()
}

/// Of a scheme: the schemes beside it in experiments, those of them in experiments for which there are colours enough,
/// and its papers.
#[derive(Debug, Default)]
struct Around<'a> {
    beside: BTreeSet<&'a str>,
    close: BTreeSet<&'a str>,
    papers: BTreeSet<&'a str>,
}

/// A place for each scheme of these experiments. Schemes of an experiment differ; in colour, if there are enough for it.
/// Of the colours that this leaves, a scheme gets the one that its papers have used least, so that few schemes of a
/// paper look alike.
fn places(experiments: &[(&str, Vec<String>)]) -> Vec<Place> {
    let mut of: BTreeMap<&str, Around> = BTreeMap::new();
    let mut schemes: Vec<&str> = Vec::new();
    for (name, own) in experiments {
        for scheme in own {
            if !of.contains_key(&**scheme) {
                schemes.push(scheme);
            }
            let around = of.entry(scheme).or_default();
            around.beside.extend(own.iter().map(|other| &**other));
            let few = if own.len() <= COLOURS { &own[..] } else { &[] };
            around.close.extend(few.iter().map(|other| &**other));
            around.papers.insert(name.split('/').next().unwrap_or_default());
        }
    }
    // Those that most papers have choose first: the first colours are the easiest to tell apart.
    schemes.sort_by_key(|scheme| Reverse(of[scheme].papers.len()));
    let mut found: Vec<(&str, usize)> = Vec::new();
    for scheme in schemes {
        let Around { beside, close, papers } = &of[scheme];
        let places_of = |others: &BTreeSet<&str>| -> BTreeSet<usize> {
            found.iter().filter(|(other, _)| others.contains(other)).map(|(_, place)| *place).collect()
        };
        let taken = places_of(beside);
        let colours: BTreeSet<usize> = places_of(close).into_iter().map(|place| place % COLOURS).collect();
        let alike = |place: usize| {
            let same = found.iter().filter(|(_, own)| *own == place);
            same.filter(|(other, _)| !papers.is_disjoint(&of[other].papers)).count()
        };
        let differs = |place: &usize| !taken.contains(place) && !colours.contains(&(place % COLOURS));
        let free = (0..COLOURS).filter(differs).min_by_key(|place| alike(*place));
        let later = || (COLOURS..COLOURS * COLOURS).find(differs);
        let last = || (COLOURS..).find(|place| !taken.contains(place)).expect("there is no last one");
        found.push((scheme, free.or_else(later).unwrap_or_else(last)));
    }
    found.into_iter().map(|(scheme, place)| (scheme.to_owned(), place)).collect()
}

/// The file of the page.
pub fn typescript(places: &[Place]) -> String {
    let mut text = format!(
        "// Written by `cargo xtask generate` from the built-in experiments.\n\n/** {COMMENT} */\n\
         export const PLACES: ReadonlyMap<string, number> = new Map([\n"
    );
    for (scheme, place) in places {
        writeln!(text, "  [\"{scheme}\", {place}],").expect("text");
    }
    text + "]);\n"
}

/// The file of Python.
pub fn python(places: &[Place]) -> String {
    let mut text = format!(
        "\"\"\"{COMMENT}\n\n`cargo xtask generate` writes this file from the built-in experiments.\n\"\"\"\n\n\
         from __future__ import annotations\n\nPLACES: dict[str, int] = {{\n"
    );
    for (scheme, place) in places {
        writeln!(text, "    \"{scheme}\": {place},").expect("text");
    }
    text + "}\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn experiment<'a>(name: &'a str, schemes: &[&str]) -> (&'a str, Vec<String>) {
        (name, schemes.iter().map(|scheme| (*scheme).to_owned()).collect())
    }

    #[test]
    fn schemes_of_an_experiment_differ_and_those_of_a_paper_if_there_are_colours() {
        let found = places(&[
            experiment("a/1", &["x", "y"]),
            experiment("a/2", &["z", "x"]),
            experiment("b/1", &["w", "z"]),
        ]);
        assert_eq!(found, [("z", 0), ("x", 1), ("y", 2), ("w", 1)].map(|(name, at)| (name.to_owned(), at)));
    }

    #[test]
    fn first_numbers_of_subflows_come_first_and_long_lists_have_no_more() {
        let cases = (1..=5).map(|n| ("a", Some(n))).chain([("b", Some(2)), ("b", Some(4)), ("c", None)]);
        assert_eq!(drawn(cases), ["a-1", "b-2", "c", "b-4"]);
    }

    #[test]
    fn more_schemes_than_colours_repeat_them_at_later_places() {
        let names: Vec<String> = (0..10).map(|i| format!("s-{i}")).collect();
        let places = places(&[("a/1", names)]);
        assert_eq!(places.iter().map(|(_, place)| *place).collect::<Vec<_>>(), (0..10).collect::<Vec<_>>());
    }

    #[test]
    fn few_schemes_differ_in_colour_even_if_another_experiment_has_many() {
        let names: Vec<String> = (0..10).map(|i| format!("s-{i}")).collect();
        let few = ["s-0", "s-8", "s-9"];
        let places = places(&[("a/1", names), experiment("a/2", &few)]);
        let place = |name: &str| places.iter().find(|(own, _)| own == name).expect("it has one").1;
        let colours: BTreeSet<usize> = few.iter().map(|name| place(name) % COLOURS).collect();
        assert_eq!(colours.len(), 3, "{places:?}");
        assert_eq!(places.iter().map(|(_, place)| place).collect::<BTreeSet<_>>().len(), 10, "{places:?}");
    }

    #[test]
    fn every_built_in_experiment_has_a_place_for_each_scheme() {
        let places = built_in().expect("they are right");
        let names: BTreeSet<&str> = places.iter().map(|(name, _)| &**name).collect();
        assert_eq!(names.len(), places.len());
        assert!(["dctcp-1", "xmp-2", "xmp-4"].iter().all(|name| names.contains(name)), "{names:?}");
        let planes = ["nscc-reps-1", "nscc-bitmap-1", "nscc-mrc-1", "xmp-8", "lia-8"]; // of today/planes
        let colours =
            places.iter().filter(|(name, _)| planes.contains(&&**name)).map(|(_, place)| place % COLOURS);
        assert_eq!(colours.collect::<BTreeSet<_>>().len(), planes.len(), "{places:?}");
    }
}
