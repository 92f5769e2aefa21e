//! The files of a Chakra trace, `NAME.<rank>.et`: finding and reading them.
//!
//! `tresse explain chakra` describes the meaning of their nodes.

mod messages;
mod node;
mod schema;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use tresse_units::Flops;
use tresse_workload::chakra::{Chakra, Groups};
use tresse_workload::{Operation, Tasks};

use crate::read::files::{Files, unreadable};
use messages::Messages;
use schema::{GlobalMetadata, Node};

/// How a trace is read.
#[derive(Debug, Clone)]
pub struct Options {
    /// The groups that take precedence over those of the files.
    pub groups: Groups,
    /// How all-reduces are done.
    pub all_reduce: Operation,
    /// How fast a rank computes; above 0.
    pub flops: Option<Flops>,
    /// The largest message, bytes.
    pub most: u64,
}

/// How many computations and memory accesses a trace has, which of them take no time, and what is not read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Times {
    /// All of them.
    pub all: u64,
    /// Those that have neither a duration nor a number of operations.
    pub timeless: u64,
    /// Those that have a number of operations, but no known duration.
    pub counted: u64,
    /// Calls of communications on a CPU, which are among all.
    pub calls: u64,
    /// Messages of 0 bytes, which are sent with one.
    pub empty: u64,
    /// Attributes of communications that are not read.
    pub ignored: BTreeSet<String>,
}

/// The files of a trace, by rank. `trace` is their folder, or their path without rank and extension.
///
/// # Errors
/// If there are none, if they belong to several traces, or if one is missing.
pub fn files(trace: &Path) -> Result<Vec<PathBuf>, String> {
    let is_folder = trace.is_dir();
    let (folder, name) = match trace.file_name() {
        Some(name) if !is_folder => (trace.parent().unwrap_or(Path::new("")), name.to_str()),
        _ => (trace, None),
    };
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let mut traces: BTreeMap<String, BTreeMap<u32, String>> = BTreeMap::new();
    for entry in fs::read_dir(folder).map_err(|e| unreadable(folder, &e))? {
        let file = entry.map_err(|e| unreadable(folder, &e))?.file_name();
        let Some((of, rank)) = file.to_str().and_then(parts) else { continue };
        let file = file.to_string_lossy();
        if is_folder || Some(of) == name {
            let other = traces.entry(of.to_owned()).or_default().insert(rank, file.clone().into_owned());
            if let Some(other) = other {
                return Err(format!("{} has rank {rank} twice: {other} and {file}", folder.display()));
            }
        }
    }
    let mut names = traces.keys();
    let (Some(first), second) = (names.next(), names.next()) else {
        let message = match name {
            Some(name) => format!("has no {name}.0.et: `trace` is the part before the ranks' numbers"),
            None => "has no file NAME.0.et".to_owned(),
        };
        return Err(format!("{} {message}", folder.display()));
    };
    if let Some(second) = second {
        let path = trace.join(first);
        let message =
            format!("has several traces, {first} and {second}: name one, such as {}", path.display());
        return Err(format!("{} {message}", folder.display()));
    }
    let ranks = &traces[first];
    if let Some((rank, (_, file))) = (0..).zip(ranks).find(|(expected, (rank, _))| expected != *rank) {
        let message = format!("{first}.{rank}.et of rank {rank} is missing, but {file} exists");
        return Err(format!("{}: {message}", folder.display()));
    }
    Ok(ranks.values().map(|file| folder.join(file)).collect())
}

/// The name and the rank of a file: `NAME.<rank>.et`, optionally with `.gz`.
fn parts(file: &str) -> Option<(&str, u32)> {
    let stem = file.strip_suffix(".gz").unwrap_or(file).strip_suffix(".et")?;
    let (name, rank) = stem.rsplit_once('.')?;
    let is_plain = rank == "0" || !rank.starts_with(['0', '+']);
    Some((name, rank.parse().ok().filter(|_| is_plain)?))
}

/// The groups in the text of a `comm_group.json`: their names, and the ranks of each.
///
/// # Errors
/// If the text is something else.
pub fn groups(text: &str) -> Result<Groups, String> {
    serde_json::from_str(text).map_err(|e| format!("{e}; expected groups such as {{\"1\": [0, 1]}}"))
}

/// Reads a trace from these files.
///
/// # Errors
/// The first error, with its file or its node.
pub fn read(paths: &[PathBuf], files: &Files, options: Options) -> Result<(Tasks, Times), String> {
    let Options { groups, all_reduce, flops, most } = options;
    let ranks = u32::try_from(paths.len()).map_err(|_| "too many files".to_owned())?;
    let mut trace = Chakra::new(ranks, groups, all_reduce, most).map_err(|e| e.to_string())?;
    let mut times = Times::default();
    for (rank, path) in (0..).zip(paths) {
        let bytes = files.read_bytes(path).map_err(|e| unreadable(path, &e))?;
        let of_file = |e: String| format!("{}: {e}", path.display());
        let mut messages = Messages::new(&bytes);
        if messages.next::<GlobalMetadata>("GlobalMetadata").map_err(of_file)?.is_none() {
            return Err(of_file("it is empty; a Chakra trace begins with its GlobalMetadata".to_owned()));
        }
        let (mut nodes, mut groups) = (Vec::new(), Groups::new());
        while let Some(node) = messages.next::<Node>("Node").map_err(of_file)? {
            groups.extend(node::groups(&node).map_err(of_file)?);
            nodes.push(node::read(node, rank, flops.map(|f| f.0), &mut times).map_err(of_file)?);
        }
        trace.add(nodes, groups).map_err(|e| of_file(e.to_string()))?;
    }
    times.empty = trace.empty();
    Ok((trace.finish().map_err(|e| e.to_string())?, times))
}
