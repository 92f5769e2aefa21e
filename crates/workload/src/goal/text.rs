//! GOAL as text: the lines of a rank, and the labels for their dependencies.

use std::collections::{BTreeMap, BTreeSet};

use super::words::{Word, words};
use super::{Goal, GoalError};
use crate::tasks::Work;
use crate::trace::{ANY_RANK, ANY_TAG, Requires, Trace, Transfer, Violation, Wrong};

pub(super) fn read(text: &str, most: u64) -> Result<Goal, GoalError> {
    let mut reader = Reader { most, ..Reader::default() };
    let mut comment = false;
    let mut last = 1;
    for (line, text) in (1..).zip(text.lines()) {
        last = line;
        reader.line = line;
        let words = words(text, &mut comment);
        if !words.is_empty() {
            reader.read(&words)?;
        }
    }
    reader.line = last;
    reader.finish()
}

#[derive(Debug, Default)]
struct Reader<'a> {
    line: usize,
    /// The largest message, bytes.
    most: u64,
    ranks: Option<u32>,
    /// Its places are lines.
    trace: Trace,
    seen: BTreeSet<u32>,
    /// The rank whose block is open, and the line where it began.
    open: Option<(u32, usize)>,
    labels: BTreeMap<&'a str, u32>,
    /// How many operations name another `nic` than 0.
    other_nics: u64,
    /// The dependencies in this block, and whether the other's beginning is enough.
    requires: Vec<(Word<'a>, Word<'a>, bool, usize)>,
}

/// The error in an operation, at the column given by `column`.
fn told(e: &Wrong, column: impl Fn(&Violation) -> usize) -> GoalError {
    let message = e.what.told(|line| format!("line {line}"));
    GoalError { line: e.place.max(1) as usize, column: column(&e.what), message }
}

impl<'a> Reader<'a> {
    fn error<T>(&self, column: usize, message: impl Into<String>) -> Result<T, GoalError> {
        Err(GoalError { line: self.line, column, message: message.into() })
    }

    fn read(&mut self, words: &[Word<'a>]) -> Result<(), GoalError> {
        let (column, first) = words[0];
        let Some(ranks) = self.ranks else {
            if first != "num_ranks" {
                let message = format!("expected `num_ranks N`, found `{first}`: is this a GOAL trace?");
                return self.error(column, message);
            }
            let ranks = self.number(words, 1, "the number of ranks, such as num_ranks 32")?;
            self.ranks = Some(ranks);
            self.trace = Trace::new(ranks, self.most);
            return self.end(words, 2);
        };
        match (first, self.open) {
            ("rank", None) => self.begin(words, ranks),
            (_, None) => self.error(column, format!("expected `rank N {{`, found `{first}`")),
            ("}", Some(_)) => {
                self.end(words, 1)?;
                self.close()
            }
            ("rank", Some((rank, line))) => {
                self.error(column, format!("rank {rank}, which began in line {line}, has no closing `}}`"))
            }
            (_, Some((rank, _))) => self.operation(words, rank),
        }
    }

    /// The number at `place`.
    fn number<N: std::str::FromStr>(&self, words: &[Word], place: usize, what: &str) -> Result<N, GoalError> {
        let Some(&(column, word)) = words.get(place) else {
            let (column, last) = words[words.len() - 1];
            return self.error(column + last.len(), format!("the line ends here; expected {what}"));
        };
        word.parse().or_else(|_| self.error(column, format!("expected {what}, found `{word}`")))
    }

    /// The word at `place` must be `wanted`.
    fn expect(&self, words: &[Word], place: usize, wanted: &str) -> Result<(), GoalError> {
        match words.get(place) {
            Some(&(_, word)) if word == wanted => Ok(()),
            Some(&(column, word)) => self.error(column, format!("expected `{wanted}`, found `{word}`")),
            None => {
                let (column, last) = words[words.len() - 1];
                self.error(column + last.len(), format!("the line ends here; expected `{wanted}`"))
            }
        }
    }

    /// There must be nothing at `place`.
    fn end(&self, words: &[Word], place: usize) -> Result<(), GoalError> {
        match words.get(place) {
            None => Ok(()),
            Some(&(column, word)) => self.error(column, format!("`{word}` after the end of the statement")),
        }
    }

    fn begin(&mut self, words: &[Word], ranks: u32) -> Result<(), GoalError> {
        let rank: u32 = self.number(words, 1, "the rank's number")?;
        if rank >= ranks {
            return self.error(words[1].0, format!("there is no rank {rank}: `num_ranks` is {ranks}"));
        }
        if !self.seen.insert(rank) {
            return self.error(words[1].0, format!("rank {rank} already has a block"));
        }
        self.expect(words, 2, "{")?;
        self.end(words, 3)?;
        self.open = Some((rank, self.line));
        Ok(())
    }

    /// `[LABEL:] send|recv|calc ...` or `LABEL requires|irequires LABEL`.
    fn operation(&mut self, words: &[Word<'a>], rank: u32) -> Result<(), GoalError> {
        if let Some(&(_, word @ ("requires" | "irequires"))) = words.get(1) {
            let Some(&other) = words.get(2) else {
                return self.error(words[1].0, format!("`{word}` needs the label of an operation"));
            };
            self.end(words, 3)?;
            self.requires.push((words[0], other, word == "irequires", self.line));
            return Ok(());
        }
        let label = words.get(1).is_some_and(|&(_, word)| word == ":").then_some(words[0]);
        let rest = if label.is_some() { &words[2..] } else { words };
        let Some(&(column, verb)) = rest.first() else {
            return self.error(words[1].0, "expected `send`, `recv` or `calc` after the label");
        };
        let task = match verb {
            "send" | "recv" => self.transfer(rest, rank, verb == "send")?,
            "calc" => self.calc(rest, rank)?,
            _ => {
                let expected = "`send`, `recv`, `calc`, `LABEL requires LABEL` or `}`";
                return self.error(column, format!("expected {expected}, found `{verb}`"));
            }
        };
        if let Some((column, label)) = label
            && self.labels.insert(label, task).is_some()
        {
            return self.error(column, format!("the label `{label}` appears twice in rank {rank}"));
        }
        Ok(())
    }

    /// The current line as a place.
    fn place(&self) -> u32 {
        u32::try_from(self.line).unwrap_or(u32::MAX)
    }

    /// `send BYTESb to RANK [tag T] [cpu C] [nic N]`; a receive has `from`.
    fn transfer(&mut self, words: &[Word], rank: u32, send: bool) -> Result<u32, GoalError> {
        // `100b` and `100 b` are the same.
        let (size, after) = match (words.get(1), words.get(2)) {
            (Some(&(column, size)), Some((_, "b"))) => ((column, size), 3),
            (Some(&(column, size)), _) if size.ends_with('b') => ((column, &size[..size.len() - 1]), 2),
            _ => ((0, ""), 2),
        };
        let bytes: u64 = self.number(&[words[0], size], 1, "a size such as 1024b").or_else(|_| {
            let column = words.get(1).map_or(words[0].0, |w| w.0);
            self.error(column, "expected a size such as 1024b")
        })?;
        self.expect(words, after, if send { "to" } else { "from" })?;
        if words.get(after + 1).is_some_and(|&(_, peer)| peer == "-1") {
            return self.error(words[after + 1].0, ANY_RANK);
        }
        let peer = self.number(words, after + 1, "the number of a rank")?;
        let [tag, cpu, nic] = self.options(words, after + 2, true)?;
        let place = self.place();
        let task = self.trace.transfer(place, Transfer { send, rank, peer, bytes, tag }).map_err(|e| {
            told(&e, |what| match what {
                Violation::TooLarge { .. } | Violation::Sizes { .. } => words[1].0,
                Violation::NoRank { .. } | Violation::Itself(_) => words[after + 1].0,
                _ => 1,
            })
        })?;
        self.other_nics += u64::from(nic > 0);
        self.trace.run_on(task, rank, cpu);
        Ok(task)
    }

    /// `calc NS [cpu C] [nic N]`.
    fn calc(&mut self, words: &[Word], rank: u32) -> Result<u32, GoalError> {
        let ns: u64 = self.number(words, 1, "a time in ns")?;
        let Some(time) = ns.checked_mul(1000) else {
            return self.error(words[1].0, format!("{ns} ns is too long: at most 2^64 ps"));
        };
        let [_, cpu, _] = self.options(words, 2, false)?;
        let place = self.place();
        let task = self.trace.add(place, Work::Wait(time)).map_err(|e| told(&e, |_| 1))?;
        self.trace.run_on(task, rank, cpu);
        Ok(task)
    }

    /// Reads `tag T`, `cpu C` and `nic N`, each at most once and 0 by default, in this order.
    fn options(&self, words: &[Word], from: usize, tagged: bool) -> Result<[u64; 3], GoalError> {
        let mut values = [0; 3];
        let mut seen = [false; 3];
        for place in (from..words.len()).step_by(2) {
            let (column, word) = words[place];
            let option = ["tag", "cpu", "nic"].iter().position(|o| *o == word);
            let Some(option) = option.filter(|&o| !seen[o] && (o > 0 || tagged)) else {
                let may = if tagged { "`tag`, `cpu`, `nic`" } else { "`cpu`, `nic`" };
                return self.error(column, format!("expected {may} or the end of the line, found `{word}`"));
            };
            seen[option] = true;
            if option == 0 && words.get(place + 1).is_some_and(|&(_, tag)| tag == "-1") {
                return self.error(words[place + 1].0, ANY_TAG);
            }
            values[option] = self.number(words, place + 1, "a number")?;
        }
        Ok(values)
    }

    /// The end of a rank: its dependencies, now that all labels are known.
    fn close(&mut self) -> Result<(), GoalError> {
        let end = self.line;
        let mut requires = Vec::new();
        for (task, other, begun, line) in std::mem::take(&mut self.requires) {
            self.line = line;
            let find = |(column, label): Word| match self.labels.get(label) {
                Some(&task) => Ok(task),
                None => self.error(column, format!("no operation of this rank has the label `{label}`")),
            };
            let (task, other) = (find(task)?, find(other)?);
            requires.push(Requires { task, other, begun, place: self.place() });
        }
        self.trace.require(&requires).map_err(|e| told(&e, |_| 1))?;
        self.line = end;
        self.labels.clear();
        self.open = None;
        Ok(())
    }

    fn finish(self) -> Result<Goal, GoalError> {
        let Some(ranks) = self.ranks else {
            return self.error(1, "the file is empty; a GOAL trace begins with `num_ranks N`");
        };
        if let Some((rank, line)) = self.open {
            let message =
                format!("the file ends in rank {rank}, which began in line {line}: is it truncated?");
            return self.error(1, message);
        }
        if let Some(rank) = (0..ranks).find(|rank| !self.seen.contains(rank)) {
            let n = self.seen.len();
            let message = format!("`num_ranks` is {ranks}, but there are {n} ranks: rank {rank} is missing");
            return self.error(1, message);
        }
        let (empty, other_nics) = (self.trace.empty, self.other_nics);
        let tasks = self.trace.finish().map_err(|e| told(&e, |_| 1))?;
        Ok(Goal { ranks, tasks, empty, other_nics })
    }
}
