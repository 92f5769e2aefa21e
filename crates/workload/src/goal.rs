//! GOAL traces: what the ranks of a program send, wait for and compute, in the text form of LogGOPSim and ATLAHS.
//!
//! The grammar is that of `txt2bin` (Hoefler, Siebert and Lumsdaine, "Group Operation Assembly Language", ICPP 2009;
//! spcl/LogGOPSim). Rank r is host r. What the words mean here:
//!
//! - A `send` is a message. It is done when its last byte has arrived; one of 0 bytes (a barrier's) has 1.
//! - A `recv` is done when what it requires is done and its message has arrived: the first one of the same pair and
//!   tag that no other took, both in the order of the file. Data may come before the receive is posted: eager sends.
//! - A `calc` is a time in ns. Calculations of a rank that do not depend on each other run side by side, whatever
//!   their `cpu`; `nic` says nothing either: a host sends over all its links.
//! - `a requires b`: a begins when b is done. `a irequires b`: when b has begun.

mod words;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use tresse_units::Time;

use crate::size::too_large;
use crate::tasks::{Graph, Task, Tasks, Work};
use words::{Word, words};

/// A trace.
#[derive(Debug, Clone)]
pub struct Goal {
    /// How many ranks it has; they are the hosts from 0.
    pub ranks: u32,
    /// The workload; all of it is one job.
    pub tasks: Tasks,
}

/// What is wrong with a trace.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {message}")]
pub struct GoalError {
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
    /// What is wrong, and the mend.
    pub message: String,
}

/// A send or a receive that waits for its other end.
#[derive(Debug, Clone, Copy)]
struct End {
    task: u32,
    bytes: u64,
    line: usize,
}

/// The sender, the receiver and the tag.
type Channel = (u32, u32, u64);

impl Goal {
    /// Reads a trace whose messages may have `most` bytes.
    ///
    /// # Errors
    /// The first thing that is wrong, with its place: what is no GOAL, labels that are not there, a send without its
    /// receive, of another size or too large, ranks that require each other in a circle, a file that ends early.
    pub fn read(text: &str, most: u64) -> Result<Self, GoalError> {
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
}

#[derive(Debug, Default)]
struct Reader<'a> {
    line: usize,
    /// The largest message, bytes.
    most: u64,
    ranks: Option<u32>,
    graph: Graph,
    /// The line of every task, from which errors of the graph get their place.
    lines: Vec<u32>,
    seen: BTreeSet<u32>,
    /// The rank whose block is open, and the line where it began.
    open: Option<(u32, usize)>,
    labels: BTreeMap<&'a str, u32>,
    /// Who requires whom in this block, and whether the other's beginning is enough.
    requires: Vec<(Word<'a>, Word<'a>, bool, usize)>,
    sends: BTreeMap<Channel, VecDeque<End>>,
    recvs: BTreeMap<Channel, VecDeque<End>>,
}

impl<'a> Reader<'a> {
    fn error<T>(&self, column: usize, message: impl Into<String>) -> Result<T, GoalError> {
        Err(GoalError { line: self.line, column, message: message.into() })
    }

    fn read(&mut self, words: &[Word<'a>]) -> Result<(), GoalError> {
        let (column, first) = words[0];
        let Some(ranks) = self.ranks else {
            if first != "num_ranks" {
                let message =
                    format!("expected `num_ranks N`, found `{first}`: is this a GOAL trace as text?");
                return self.error(column, message);
            }
            self.ranks = Some(self.number(words, 1, "the number of ranks, such as num_ranks 32")?);
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
            (_, Some((rank, _))) => self.operation(words, rank, ranks),
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

    /// The word at `place` is `wanted`.
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

    /// Nothing stands at `place`.
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
            return self.error(words[1].0, format!("rank {rank} has a block already"));
        }
        self.expect(words, 2, "{")?;
        self.end(words, 3)?;
        self.open = Some((rank, self.line));
        Ok(())
    }

    /// `[LABEL:] send|recv|calc ...` or `LABEL requires|irequires LABEL`.
    fn operation(&mut self, words: &[Word<'a>], rank: u32, ranks: u32) -> Result<(), GoalError> {
        if let Some(&(_, word @ ("requires" | "irequires"))) = words.get(1) {
            let Some(&other) = words.get(2) else {
                return self.error(words[1].0, format!("{word} which operation?"));
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
            "send" | "recv" => self.transfer(rest, rank, ranks, verb == "send")?,
            "calc" => self.calc(rest)?,
            _ => {
                let expected = "`send`, `recv`, `calc`, `LABEL requires LABEL` or `}`";
                return self.error(column, format!("expected {expected}, found `{verb}`"));
            }
        };
        if let Some((column, label)) = label
            && self.labels.insert(label, task).is_some()
        {
            return self.error(column, format!("the label `{label}` is there twice in rank {rank}"));
        }
        Ok(())
    }

    fn add(&mut self, work: Work) -> Result<u32, GoalError> {
        self.lines.push(u32::try_from(self.line).unwrap_or(u32::MAX));
        let task = Task { job: Some(0), ..Task::new(work) };
        self.graph.add(task).or_else(|e| self.error(1, e.to_string()))
    }

    /// `send BYTESb to RANK [tag T] [cpu C] [nic N]`; a receive has `from`.
    fn transfer(&mut self, words: &[Word], rank: u32, ranks: u32, send: bool) -> Result<u32, GoalError> {
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
        if bytes > self.most {
            return self.error(words[1].0, too_large(bytes, self.most));
        }
        self.expect(words, after, if send { "to" } else { "from" })?;
        if words.get(after + 1).is_some_and(|&(_, peer)| peer == "-1") {
            let message = "a receive from any rank is decided while the program runs; a trace that runs on another \
                           network has to name the rank";
            return self.error(words[after + 1].0, message);
        }
        let peer: u32 = self.number(words, after + 1, "the number of a rank")?;
        if peer >= ranks {
            let message = format!("there is no rank {peer}: `num_ranks` is {ranks}");
            return self.error(words[after + 1].0, message);
        }
        if peer == rank {
            return self.error(words[after + 1].0, format!("rank {rank} and itself: that needs no network"));
        }
        let tag = self.options(words, after + 2, true)?;
        let channel = if send { (rank, peer, tag) } else { (peer, rank, tag) };
        let work =
            if send { Work::Message { from: rank, to: peer, bytes: Some(bytes.max(1)) } } else { Work::Gate };
        let task = self.add(work)?;
        let own = End { task, bytes, line: self.line };
        let (mine, others) =
            if send { (&mut self.sends, &mut self.recvs) } else { (&mut self.recvs, &mut self.sends) };
        let Some(other) = others.get_mut(&channel).and_then(VecDeque::pop_front) else {
            mine.entry(channel).or_default().push_back(own);
            return Ok(task);
        };
        if others[&channel].is_empty() {
            others.remove(&channel);
        }
        if other.bytes != bytes {
            let (this, that) = if send { ("send", "receive") } else { ("receive", "send") };
            let (line, size) = (other.line, other.bytes);
            let message = format!("this {this} has {bytes} bytes; its {that} in line {line} has {size}");
            return self.error(words[1].0, message);
        }
        let (send, recv) = if send { (task, other.task) } else { (other.task, task) };
        self.graph.after(recv, send);
        Ok(task)
    }

    /// `calc NS [cpu C] [nic N]`.
    fn calc(&mut self, words: &[Word]) -> Result<u32, GoalError> {
        let ns: u64 = self.number(words, 1, "a time in ns")?;
        let Some(time) = ns.checked_mul(1000) else {
            return self.error(words[1].0, format!("{ns} ns is too long: at most 2^64 ps"));
        };
        self.options(words, 2, false)?;
        self.add(Work::Wait(time as Time))
    }

    /// `tag T`, `cpu C` and `nic N`, each at most once: the tag.
    fn options(&self, words: &[Word], from: usize, tagged: bool) -> Result<u64, GoalError> {
        let mut tag = 0;
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
                let message = "any tag is decided while the program runs; a trace has to name it";
                return self.error(words[place + 1].0, message);
            }
            let number: u64 = self.number(words, place + 1, "a number")?;
            if option == 0 {
                tag = number;
            }
        }
        Ok(tag)
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
            requires.push((find(task)?, find(other)?, begun, line));
        }
        // Where a beginning is waited for, a gate stands before the operation: it is done when that begins.
        let begun: BTreeMap<u32, usize> = requires.iter().filter(|r| r.2).map(|r| (r.1, r.3)).collect();
        let mut gates = BTreeMap::new();
        for (other, line) in begun {
            self.line = line;
            let gate = self.add(Work::Gate)?;
            self.graph.after(other, gate);
            gates.insert(other, gate);
        }
        for (task, other, begun, _) in requires {
            let task = gates.get(&task).copied().unwrap_or(task);
            self.graph.after(task, if begun { gates[&other] } else { other });
        }
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
        let first = |ends: &BTreeMap<Channel, VecDeque<End>>| {
            let fronts = ends.iter().filter_map(|(&channel, ends)| Some((ends.front()?.line, channel)));
            fronts.min()
        };
        let alone = [(first(&self.sends), "send", "receive"), (first(&self.recvs), "receive", "send")];
        if let Some((Some((line, (from, to, tag))), this, that)) =
            alone.into_iter().filter(|a| a.0.is_some()).min()
        {
            let message =
                format!("no {that} belongs to this {this} from rank {from} to rank {to} with tag {tag}");
            return Err(GoalError { line, column: 1, message });
        }
        let (graph, lines) = (self.graph, self.lines);
        let tasks = graph.tasks(1, 0).map_err(|e| {
            let line = match e {
                crate::tasks::GraphError::Cycle(task) => lines[task as usize] as usize,
                _ => self.line,
            };
            let message = match e {
                crate::tasks::GraphError::Cycle(_) => {
                    "this operation waits for itself, through what it requires and receives".to_owned()
                }
                e => e.to_string(),
            };
            GoalError { line, column: 1, message }
        })?;
        Ok(Goal { ranks, tasks })
    }
}
