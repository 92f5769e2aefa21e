//! Triggers of an htsim connection matrix: which flows start when certain others are done (csg-htsim,
//! `trigger.cpp`).

use std::collections::BTreeMap;

use tresse_experiment::diagnostic::Diagnostic;

use super::words::{Input, Word};

/// When a trigger starts flows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// All of its flows at the first firing.
    OneShot,
    /// The next of its flows at each firing.
    MultiShot,
    /// All of its flows at the firing with this number.
    Barrier(u32),
}

/// A trigger: the connections that fire it, and those that it starts, by number.
#[derive(Debug, Clone, Default)]
struct Trigger<'a> {
    kind: Option<Kind>,
    fired_by: Vec<u32>,
    starts: Vec<(u32, Word<'a>)>,
    /// Where it is first mentioned.
    place: Option<Word<'a>>,
}

/// The triggers of a file, by their ids.
#[derive(Debug, Clone, Default)]
pub(crate) struct Triggers<'a> {
    all: BTreeMap<u32, Trigger<'a>>,
    declared: u32,
}

/// The condition for starting a flow: this many of these events.
pub(crate) type Wait = (u32, Vec<u32>);

impl<'a> Triggers<'a> {
    /// How many the file declares.
    pub fn declared(&self) -> u32 {
        self.declared
    }

    fn entry(&mut self, id: u32, place: Word<'a>) -> &mut Trigger<'a> {
        let trigger = self.all.entry(id).or_default();
        trigger.place.get_or_insert(place);
        trigger
    }

    /// A connection fires a trigger when it is done.
    pub fn fire(&mut self, input: &Input, word: &Word<'a>, connection: u32) -> Result<(), Diagnostic> {
        let id = id(input, word)?;
        self.entry(id, *word).fired_by.push(connection);
        Ok(())
    }

    /// A connection waits for a trigger.
    pub fn start(&mut self, input: &Input, word: &Word<'a>, connection: u32) -> Result<(), Diagnostic> {
        let id = id(input, word)?;
        self.entry(id, *word).starts.push((connection, *word));
        Ok(())
    }

    /// Reads `trigger id N oneshot|multishot|barrier [count N]`.
    pub fn declare(&mut self, input: &Input, words: &[Word<'a>]) -> Result<(), Diagnostic> {
        let (mut number, mut kind, mut count) = (None, None, None);
        let mut rest = words[1..].iter();
        while let Some(word) = rest.next() {
            match word.text {
                "id" => number = Some(value(input, word, rest.next())?),
                "count" => count = Some(value(input, word, rest.next())?),
                "oneshot" | "multishot" | "barrier" if kind.is_none() => kind = Some(word),
                other => return word.error(input, format!("a trigger has no `{other}`")),
            }
        }
        let (Some(number), Some(kind)) = (number, kind) else {
            return words[0].error(
                input,
                "expected a line such as `trigger id 1 oneshot`, or multishot, or barrier count 3",
            );
        };
        let which = match (kind.text, count) {
            ("oneshot", _) => Kind::OneShot,
            ("multishot", _) => Kind::MultiShot,
            (_, Some(count @ 1..)) => Kind::Barrier(count),
            _ => return kind.error(input, "a barrier needs a count of at least 1"),
        };
        let trigger = self.entry(number, words[0]);
        if trigger.kind.replace(which).is_some() {
            return words[0].error(input, format!("trigger {number} is declared twice"));
        }
        self.declared += 1;
        Ok(())
    }

    /// By connection: what it waits for; and notes.
    ///
    /// `gen_allreduce_butterfly.py` forgets to declare its last trigger: if it is the only missing one, it is
    /// treated like the others. htsim itself rejects such a file.
    pub fn waits(
        mut self,
        input: &Input,
        header: u32,
    ) -> Result<(BTreeMap<u32, Wait>, Vec<String>), Diagnostic> {
        let mut notes = Vec::new();
        let missing: Vec<u32> =
            self.all.iter().filter(|(_, t)| t.kind.is_none()).map(|(&id, _)| id).collect();
        let declared = self.declared;
        match *missing {
            [] if header != declared => {
                notes.push(format!(
                    "the header says {header} triggers, but {declared} are declared, and no others are used"
                ));
            }
            [] => {}
            [last] if header == declared + 1 && self.all.keys().next_back() == Some(&last) => {
                notes.push(format!("trigger {last} is used but not declared; it is taken as oneshot"));
                self.all.entry(last).and_modify(|t| t.kind = Some(Kind::OneShot));
            }
            [first, ..] => {
                let place = self.all[&first].place.expect("it is spoken of");
                return place
                    .error(input, format!("trigger {first} is not declared: is the file truncated?"));
            }
        }
        let mut waits = BTreeMap::new();
        for (id, trigger) in self.all {
            let Trigger { kind: Some(kind), fired_by, starts, .. } = trigger else {
                unreachable!("all are declared")
            };
            for (place, (connection, word)) in (1..).zip(starts) {
                let needed = match kind {
                    Kind::OneShot => 1,
                    Kind::MultiShot => place,
                    Kind::Barrier(count) => count,
                };
                if needed as usize > fired_by.len() {
                    let fired = fired_by.len();
                    let message = format!(
                        "it never starts: trigger {id} would have to fire {needed} times, and fires {fired} times"
                    );
                    return word.error(input, message);
                }
                waits.insert(connection, (needed, fired_by.clone()));
            }
        }
        Ok((waits, notes))
    }
}

/// The id of a trigger.
fn id(input: &Input, word: &Word) -> Result<u32, Diagnostic> {
    match word.number(input, "the id of a trigger")? {
        0 => word.error(input, "a trigger's id must not be 0"),
        id => Ok(id),
    }
}

/// The number after a key.
pub(crate) fn value<N: std::str::FromStr>(
    input: &Input,
    key: &Word,
    word: Option<&Word>,
) -> Result<N, Diagnostic> {
    match word {
        Some(word) => word.number(input, &format!("a number after `{}`", key.text)),
        None => key.error(input, format!("the line ends after `{}`", key.text)),
    }
}
