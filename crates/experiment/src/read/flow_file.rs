//! Flows one by one: a CSV file, or a list in an experiment file, as a workload; and writing such a file.
//!
//! `tresse explain flows` describes the columns.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::str::FromStr;

use tresse_units::{Bytes, Duration};
use tresse_workload::{Graph, GraphError, Task, Tasks, Work, too_large};

use crate::diagnostic::{Diagnostic, did_you_mean};
use crate::read::sniff_format::looks_like;
use crate::schema::host_names::{Host, Hosts};

/// A flow, as given in a file or an experiment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flow {
    /// Its name in the `after` of other flows. Default: its index, from 0.
    pub id: Option<String>,
    /// The sending host.
    pub from: Host,
    /// The receiving host.
    pub to: Host,
    /// Its size; without a size, it continues until it is stopped.
    pub size: Option<Bytes>,
    /// When it starts, counted from the start of the run or, with `after`, from when those flows are done.
    pub start: Duration,
    /// The flows that it waits for: their ids separated by spaces, or "2 of 3 4 5".
    pub after: Option<String>,
    /// How long it may take, from its own start.
    pub deadline: Option<Duration>,
    /// When it is stopped, counted like `start`.
    pub stop: Option<Duration>,
    /// The number of the job that it belongs to.
    pub job: Option<u32>,
}

impl Flow {
    /// A flow of `size` that starts at `start`, with nothing else set.
    pub fn new(from: Host, to: Host, size: Bytes, start: Duration) -> Self {
        Self {
            id: None,
            from,
            to,
            size: Some(size),
            start,
            after: None,
            deadline: None,
            stop: None,
            job: None,
        }
    }
}

/// An error in one of several flows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlowError {
    /// Which flow, from 0.
    pub flow: usize,
    /// Which of its keys.
    pub key: &'static str,
    /// What is wrong, and how to fix it.
    pub message: String,
}

/// The workload of these flows, of at most `most` bytes each.
///
/// # Errors
/// If a host does not exist, a flow is too large or contradicts itself, or flows wait for each other or for missing
/// flows.
pub fn tasks(flows: impl IntoIterator<Item = Flow>, hosts: &Hosts, most: u64) -> Result<Tasks, FlowError> {
    let mut builder = Builder { most, ..Builder::default() };
    flows.into_iter().try_for_each(|flow| builder.add(flow, hosts))?;
    builder.finish()
}

#[derive(Default)]
struct Builder {
    graph: Graph,
    /// The largest flow, bytes.
    most: u64,
    /// Empty as long as no flow has an id.
    ids: BTreeMap<String, u32>,
    waiting: Vec<(u32, String)>,
}

fn wrong<T>(flow: u32, key: &'static str, message: impl Into<String>) -> Result<T, FlowError> {
    Err(FlowError { flow: flow as usize, key, message: message.into() })
}

/// An error in a flow, in the terms of files.
fn told(error: &GraphError, flow: u32) -> FlowError {
    let (flow, key, message) = match *error {
        GraphError::Itself(flow) => (flow, "to", "a host does not send to itself".to_owned()),
        GraphError::Empty(flow) => (
            flow,
            "size",
            "a flow has at least 1B; leave out the size if it continues until `stop`".to_owned(),
        ),
        GraphError::StopsEarly(flow) => (flow, "stop", "it is stopped before it starts".to_owned()),
        GraphError::Quorum { task, needed, predecessors } => {
            (task, "after", format!("it waits for {needed} of {predecessors} flows"))
        }
        GraphError::Cycle(ref flows) => {
            (flows[0], "after", "it waits for itself, through the flows that it waits for".to_owned())
        }
        _ => (flow, "from", error.to_string()),
    };
    FlowError { flow: flow as usize, key, message }
}

impl Builder {
    fn add(&mut self, flow: Flow, hosts: &Hosts) -> Result<(), FlowError> {
        let number = self.graph.len();
        let host = |key, host| hosts.find(host).or_else(|message| wrong(number, key, message));
        let (from, to) = (host("from", &flow.from)?, host("to", &flow.to)?);
        if let Some(Bytes(bytes)) = flow.size.filter(|size| size.0 > self.most) {
            return wrong(number, "size", too_large(bytes, self.most));
        }
        let work = Work::Message { from, to, bytes: flow.size.map(|b| b.0) };
        let [stop, deadline] = [flow.stop, flow.deadline].map(|t| t.map(|t| t.0));
        let task = Task { work, delay: flow.start.0, stop, deadline, job: flow.job };
        self.graph.add(task).map_err(|e| told(&e, number))?;
        if let Some(id) = flow.id {
            if id.is_empty() || id.contains(char::is_whitespace) || id == "of" {
                return wrong(
                    number,
                    "id",
                    format!("`{id}` is not an id: use a word or a number, other than `of`"),
                );
            }
            if let Some(other) = self.ids.insert(id.clone(), number) {
                return wrong(number, "id", format!("flow {other}, counted from 0, has the id `{id}` too"));
            }
        }
        self.waiting.extend(flow.after.map(|after| (number, after)));
        Ok(())
    }

    fn finish(mut self) -> Result<Tasks, FlowError> {
        for (flow, after) in std::mem::take(&mut self.waiting) {
            self.wait(flow, &after)?;
        }
        self.graph.tasks(1, 0).map_err(|e| told(&e, 0))
    }

    /// `3 4 5` or `2 of 3 4 5`.
    fn wait(&mut self, flow: u32, after: &str) -> Result<(), FlowError> {
        let mut words: Vec<&str> = after.split_whitespace().collect();
        let mut needed = None;
        if words.get(1) == Some(&"of") {
            let Ok(number) = words[0].parse::<u32>() else {
                let message =
                    format!("`{}` is not a number; expected something like \"2 of 3 4 5\"", words[0]);
                return wrong(flow, "after", message);
            };
            needed = Some(number);
            words.drain(..2);
        }
        if words.is_empty() {
            return wrong(
                flow,
                "after",
                "it waits for no flow; expected ids such as \"3 4\" or \"2 of 3 4 5\"",
            );
        }
        for id in words {
            let found = if self.ids.is_empty() {
                id.parse().ok().filter(|&flow: &u32| flow < self.graph.len())
            } else {
                self.ids.get(id).copied()
            };
            let Some(found) = found else {
                let ids = if self.ids.is_empty() {
                    " (no flow has an `id`, so ids are positions, from 0)"
                } else {
                    ""
                };
                return wrong(flow, "after", format!("no flow has the id `{id}`{ids}"));
            };
            self.graph.after(flow, found);
        }
        if let Some(needed) = needed {
            self.graph.needs(flow, needed);
        }
        Ok(())
    }
}

/// The columns of a flow file, and whether each line has a value in it.
const COLUMNS: [(&str, bool); 9] = [
    ("id", false),
    ("from", true),
    ("to", true),
    ("size", false),
    ("start", true),
    ("after", false),
    ("deadline", false),
    ("stop", false),
    ("job", false),
];

/// Which columns every file has.
const NEEDED: [&str; 4] = ["from", "to", "size", "start"];

/// Reads a flow file; `name` is its name in messages, and no flow may have more than `most` bytes.
///
/// # Errors
/// The first error, with its location.
pub fn read(name: &str, text: &str, hosts: &Hosts, most: u64) -> Result<Tasks, Diagnostic> {
    let mut lines = (1..).zip(text.lines()).filter(|(_, line)| {
        let line = line.trim_start();
        !line.is_empty() && !line.starts_with('#')
    });
    let Some((line, head)) = lines.next() else {
        let message = "no flows: a flow file begins with a line of column names";
        return Err(Diagnostic::input(message).of(name));
    };
    let columns =
        header(head, text).map_err(|(column, message)| Diagnostic::at(name, text, line, column, &message))?;
    let mut builder = Builder { most, ..Builder::default() };
    let mut numbers: Vec<u32> = Vec::new();
    for (line, row) in lines {
        numbers.push(line as u32);
        let flow = flow(row, &columns)
            .map_err(|(column, message)| Diagnostic::at(name, text, line, column, &message))?;
        builder.add(flow, hosts).map_err(|e| place(name, text, &columns, line, &e))?;
    }
    if numbers.is_empty() {
        return Err(Diagnostic::at(name, text, line, 1, "no flows follow this line"));
    }
    builder.finish().map_err(|e| place(name, text, &columns, numbers[e.flow] as usize, &e))
}

/// An error of a flow at its place in the file.
fn place(name: &str, text: &str, columns: &[usize], line: usize, error: &FlowError) -> Diagnostic {
    let column = columns.iter().position(|&c| COLUMNS[c].0 == error.key);
    let row = text.lines().nth(line - 1).unwrap_or("");
    let column = column.and_then(|place| cells(row).nth(place)).map_or(1, |(column, _)| column);
    Diagnostic::at(name, text, line, column, &error.message)
}

/// The cells of a line, each with the text column in which it begins.
fn cells(line: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut begin = 1;
    line.split(',').map(move |cell| {
        let column = begin + cell.chars().take_while(|c| c.is_whitespace()).count();
        begin += cell.chars().count() + 1;
        let cell = cell.trim();
        let bare = cell.strip_prefix('"').and_then(|c| c.strip_suffix('"')).unwrap_or(cell);
        (column, bare.trim())
    })
}

type At<T> = Result<T, (usize, String)>;

/// The position of each column.
fn header(head: &str, text: &str) -> At<Vec<usize>> {
    let mut columns = Vec::new();
    for (column, name) in cells(head) {
        let Some(known) = COLUMNS.iter().position(|(known, _)| *known == name) else {
            let names = COLUMNS.map(|(name, _)| name);
            let foreign = looks_like(text).filter(|_| !cells(head).any(|(_, name)| names.contains(&name)));
            if let Some(format) = foreign {
                return Err((column, format!("this is not a flow file; it looks like {format}")));
            }
            // A spreadsheet's own separators.
            let is_list = |separator| {
                head.split(separator).map(str::trim).filter(|name| names.contains(name)).count() > 1
            };
            if let Some((_, what)) =
                [(';', "semicolons"), ('\t', "tabs")].into_iter().find(|&(c, _)| is_list(c))
            {
                let message = format!("the columns are separated by {what}; a flow file has commas");
                return Err((column, message));
            }
            let hint = did_you_mean(name, names);
            return Err((
                column,
                format!("there is no column `{name}`{hint} (available: {})", names.join(", ")),
            ));
        };
        if columns.contains(&known) {
            return Err((column, format!("the column `{name}` appears twice")));
        }
        columns.push(known);
    }
    match NEEDED.iter().find(|name| !columns.iter().any(|&c| COLUMNS[c].0 == **name)) {
        Some(missing) => Err((1, format!("the column `{missing}` is missing"))),
        None => Ok(columns),
    }
}

fn flow(line: &str, columns: &[usize]) -> At<Flow> {
    let mut values = [(1, ""); COLUMNS.len()];
    let mut count = 0;
    for (column, value) in cells(line) {
        if let Some(&known) = columns.get(count) {
            values[known] = (column, value);
        }
        count += 1;
    }
    if count != columns.len() {
        let plural = if count == 1 { "" } else { "s" };
        return Err((
            1,
            format!("{count} value{plural}, but the first line names {} columns", columns.len()),
        ));
    }
    if let Some((name, column)) = COLUMNS
        .iter()
        .zip(values)
        .find_map(|(&(name, needed), (c, v))| (needed && v.is_empty()).then_some((name, c)))
    {
        return Err((column, format!("`{name}` has no value")));
    }
    let value =
        |key: &str| values[COLUMNS.iter().position(|(name, _)| *name == key).expect("a known column")];
    let text = |key| Some(value(key).1).filter(|v| !v.is_empty()).map(str::to_owned);
    Ok(Flow {
        id: text("id"),
        from: Host::from(value("from").1),
        to: Host::from(value("to").1),
        size: parse(value("size"))?,
        start: parse(value("start"))?.unwrap_or(Duration(0)),
        after: text("after"),
        deadline: parse(value("deadline"))?,
        stop: parse(value("stop"))?,
        job: match value("job") {
            (_, "") => None,
            (column, job) => {
                Some(job.parse().map_err(|_| (column, format!("`{job}` is not the number of a job")))?)
            }
        },
    })
}

fn parse<T: FromStr<Err = String>>((column, text): (usize, &str)) -> At<Option<T>> {
    match text {
        "" => Ok(None),
        text => text.parse().map(Some).map_err(|e| (column, e)),
    }
}

/// A flow file with these flows, and the columns that they need.
pub fn write(flows: &[Flow]) -> String {
    let ids = flows.iter().any(|f| f.id.is_some());
    let after = flows.iter().any(|f| f.after.is_some());
    let deadline = flows.iter().any(|f| f.deadline.is_some());
    let stop = flows.iter().any(|f| f.stop.is_some());
    let job = flows.iter().any(|f| f.job.is_some());
    let optional = [(ids, "id"), (after, "after"), (deadline, "deadline"), (stop, "stop"), (job, "job")];
    let mut out = String::from("from,to,size,start");
    optional.iter().filter(|(there, _)| *there).for_each(|(_, name)| out.extend([",", name]));
    out.push('\n');
    for f in flows {
        let size = f.size.map(|s| s.to_string()).unwrap_or_default();
        let _ = write!(out, "{},{},{size},{}", f.from, f.to, f.start);
        let times = [f.deadline, f.stop].map(|t| t.map(|t| t.to_string()));
        let [deadline, stop] = times;
        let values = [f.id.clone(), f.after.clone(), deadline, stop, f.job.map(|j| j.to_string())];
        for ((there, _), value) in optional.iter().zip(values) {
            if *there {
                let _ = write!(out, ",{}", value.unwrap_or_default());
            }
        }
        out.push('\n');
    }
    out
}
