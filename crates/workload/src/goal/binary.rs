//! GOAL's binary form, as LogGOPSim's `Parser.hpp` (`Graph::serialize_mmap`) writes it: little-endian, packed.
//!
//! ```text
//! u64 4223 | from here bytes are counted:
//! u32 ranks, u8 CPUs, u8 NICs, for each rank { u64 begin, u64 end of its block }
//! block:     u32 operations, u32 roots, u32 root [roots], operation [operations], u32 appendix []
//! operation: u32 predecessors, u8 kind, u32 peer, u64 size, u32 tag, u8 CPU, u8 NIC,
//!            u32 n, u32 first: those that require it; u32 n, u32 first: those that irequire it
//! ```
//!
//! Those are in the appendix, from `first`, as numbers of operations. Redundant data in the file (the number
//! of predecessors, the roots, the length of the appendix) is compared: a file in which they differ is
//! damaged.

use super::{BinaryGoalError, Goal};
use crate::tasks::Work;
use crate::trace::{ANY_RANK, ANY_TAG, Requires, Trace, Transfer, Wrong};

/// The beginning of a file.
pub(super) const MAGIC: u64 = 4223;

/// An operation, bytes.
const OPERATION: usize = 39;

/// `~0`: any rank, and any tag.
const ANY: u32 = u32::MAX;

type Read<T> = Result<T, BinaryGoalError>;

fn wrong<T>(message: impl Into<String>) -> Read<T> {
    Err(BinaryGoalError(message.into()))
}

/// The bytes left to read.
struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (first, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*first)
    }

    fn u8(&mut self) -> Option<u8> {
        self.take().map(u8::from_le_bytes)
    }

    fn u32(&mut self) -> Option<u32> {
        self.take().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.take().map(u64::from_le_bytes)
    }
}

/// An operation as in the file.
struct Operation {
    predecessors: u32,
    kind: u8,
    peer: u32,
    size: u64,
    tag: u32,
    cpu: u8,
    nic: u8,
    /// Which operations require it, and which require its beginning: how many, and from where in the
    /// appendix.
    successors: [(u32, u32); 2],
}

impl Operation {
    fn read(bytes: &mut Bytes) -> Option<Self> {
        let (predecessors, kind, peer) = (bytes.u32()?, bytes.u8()?, bytes.u32()?);
        let (size, tag, [cpu, nic]) = (bytes.u64()?, bytes.u32()?, bytes.take()?);
        let successors = [(bytes.u32()?, bytes.u32()?), (bytes.u32()?, bytes.u32()?)];
        Some(Self { predecessors, kind, peer, size, tag, cpu, nic, successors })
    }
}

pub(super) fn read(bytes: &[u8], most: u64) -> Read<Goal> {
    let mut bytes = Bytes(bytes);
    if bytes.u64() != Some(MAGIC) {
        return wrong(format!("it does not begin with {MAGIC} as a number of 8 bytes, GOAL's magic number"));
    }
    let all = bytes.0;
    let (Some(ranks), Some([_cpus, _nics])) = (bytes.u32(), bytes.take()) else {
        return wrong("the file ends after its magic number: is it truncated?");
    };
    let there = bytes.0.len() / 16;
    if there < ranks as usize {
        return wrong(format!("it claims to have {ranks} ranks, but ends after {there}: is it truncated?"));
    }
    let mut reader = Reader {
        trace: Trace::new(ranks, most),
        first: Vec::with_capacity(ranks as usize),
        operations: 0,
        rank: 0,
        other_nics: 0,
    };
    let mut last = (all.len() - bytes.0.len() + 16 * ranks as usize) as u64;
    for rank in 0..ranks {
        let (Some(begin), Some(end)) = (bytes.u64(), bytes.u64()) else { unreachable!("it was counted") };
        if begin == 0 && end == 0 {
            return wrong(format!("rank {rank} is missing: the table of ranks has no entry for it"));
        }
        if begin < last || end < begin {
            let message = "overlaps what precedes it, or ends before it begins";
            return wrong(format!("rank {rank}, bytes {begin} to {end} after the magic number, {message}"));
        }
        let block = all.get(..usize::try_from(end).unwrap_or(usize::MAX)).map(|all| &all[begin as usize..]);
        let Some(block) = block else {
            let there = all.len();
            let message =
                format!("rank {rank} ends at byte {end} after the magic number, but the file at {there}");
            return wrong(format!("{message}: is it truncated?"));
        };
        last = end;
        reader.rank = rank;
        reader.block(block)?;
    }
    let Reader { trace, first, other_nics, .. } = reader;
    let empty = trace.empty;
    let tasks = trace.finish().or_else(|e| wrong(told(&first, &e)))?;
    Ok(Goal { ranks, tasks, empty, other_nics })
}

/// The error in an operation, after its place.
fn told(first: &[u32], e: &Wrong) -> String {
    let at = |place: u32| {
        let Some(rank) = first.partition_point(|&first| first <= place).checked_sub(1) else {
            return "the file".to_owned();
        };
        format!("rank {rank}, operation {}", place - first[rank])
    };
    format!("{}: {}", at(e.place), e.what.told(at))
}

struct Reader {
    trace: Trace,
    /// How many operations there were before each rank: an operation's place is its index among all.
    first: Vec<u32>,
    operations: u32,
    rank: u32,
    /// How many operations name another NIC than 0.
    other_nics: u64,
}

impl Reader {
    /// The error in an operation of this rank.
    fn wrong<T>(&self, operation: u32, message: &str) -> Read<T> {
        wrong(format!("rank {}, operation {operation}: {message}", self.rank))
    }

    /// The operations of a rank.
    fn block(&mut self, block: &[u8]) -> Read<()> {
        let (rank, there) = (self.rank, block.len());
        let mut bytes = Bytes(block);
        let (Some(count), Some(roots)) = (bytes.u32(), bytes.u32()) else {
            return wrong(format!("rank {rank} has {there} bytes, but needs at least 8"));
        };
        let needed = 8 + 4 * u64::from(roots) + OPERATION as u64 * u64::from(count);
        if (there as u64) < needed {
            let message = format!("{count} operations, {roots} of them roots, take at least {needed}");
            return wrong(format!("rank {rank} has {there} bytes, but its {message}"));
        }
        let (roots, rest) = bytes.0.split_at(4 * roots as usize);
        let (operations, appendix) = rest.split_at(OPERATION * count as usize);
        let places = self.operations;
        self.first.push(places);
        self.operations = places.saturating_add(count);
        // Each operation is one task, and those of a rank are consecutive.
        let first_task = self.trace.graph.len();
        let mut all = Vec::with_capacity(count as usize);
        for (i, bytes) in (0..).zip(operations.chunks_exact(OPERATION)) {
            let operation = Operation::read(&mut Bytes(bytes)).expect("an operation's bytes");
            self.add(i, places.saturating_add(i), &operation)?;
            all.push(operation);
        }
        let mut requires = self.requires(&all, appendix)?;
        self.check(&all, &requires, roots)?;
        for r in &mut requires {
            let place = places.saturating_add(r.other);
            *r = Requires { task: first_task + r.task, other: first_task + r.other, place, ..*r };
        }
        self.trace.require(&requires).or_else(|e| wrong(told(&self.first, &e)))
    }

    fn add(&mut self, number: u32, place: u32, operation: &Operation) -> Read<()> {
        let &Operation { kind, peer, size, tag, cpu, nic, .. } = operation;
        let added = match kind {
            1 | 2 if peer == ANY => return self.wrong(number, ANY_RANK),
            1 | 2 if tag == ANY => return self.wrong(number, ANY_TAG),
            1 | 2 => {
                let tag = u64::from(tag);
                self.trace
                    .transfer(place, Transfer { send: kind == 1, rank: self.rank, peer, bytes: size, tag })
            }
            3 => match size.checked_mul(1000) {
                Some(time) => self.trace.add(place, Work::Wait(time)),
                None => return self.wrong(number, &format!("{size} ns is too long: at most 2^64 ps")),
            },
            _ => {
                let message = format!("its kind is {kind}; 1 is a send, 2 a receive, 3 a calculation");
                return self.wrong(number, &message);
            }
        };
        let task = added.or_else(|e| wrong(told(&self.first, &e)))?;
        self.other_nics += u64::from(nic > 0 && kind != 3);
        self.trace.run_on(task, self.rank, cpu.into());
        Ok(())
    }

    /// The dependencies, by numbers of operations.
    fn requires(&self, all: &[Operation], appendix: &[u8]) -> Read<Vec<Requires>> {
        let rank = self.rank;
        let said: u64 = all.iter().flat_map(|o| o.successors).map(|(n, _)| u64::from(n)).sum();
        if said.checked_mul(4) != Some(appendix.len() as u64) {
            let there = appendix.len();
            let message = format!("rank {rank} has {said} dependencies, but {there} bytes for them");
            return wrong(format!("{message} instead of 4 each: is the file truncated or damaged?"));
        }
        let mut requires = Vec::with_capacity(appendix.len() / 4);
        for (other, operation) in (0..).zip(all) {
            for (begun, (n, first)) in [false, true].into_iter().zip(operation.successors) {
                let (begin, bytes) = (4 * first as usize, 4 * n as usize);
                // If there are none, the place may be anything.
                let listed =
                    if n == 0 { Some(&[][..]) } else { appendix.get(begin..).and_then(|a| a.get(..bytes)) };
                let Some(listed) = listed else {
                    return self.wrong(other, "its dependents are beyond the end of the rank");
                };
                for bytes in listed.chunks_exact(4) {
                    let task = Bytes(bytes).u32().expect("4 bytes");
                    if task as usize >= all.len() {
                        let n = all.len();
                        let message =
                            format!("operation {task} depends on it, but there are only {n}, from 0");
                        return self.wrong(other, &message);
                    }
                    requires.push(Requires { task, other, begun, place: 0 });
                }
            }
        }
        Ok(requires)
    }

    /// Whether the redundant data in the file agrees.
    fn check(&self, all: &[Operation], requires: &[Requires], roots: &[u8]) -> Read<()> {
        let mut predecessors = vec![0u32; all.len()];
        for r in requires {
            predecessors[r.task as usize] += 1;
        }
        let differs = (0..).zip(all.iter().zip(&predecessors)).find(|(_, (o, n))| o.predecessors != **n);
        if let Some((number, (operation, n))) = differs {
            let said = operation.predecessors;
            let message = format!("it depends on {n} operations, but claims {said}: is the file damaged?");
            return self.wrong(number, &message);
        }
        let mut roots: Vec<u32> = roots.chunks_exact(4).filter_map(|b| Bytes(b).u32()).collect();
        roots.sort_unstable();
        let own = (0..).zip(&predecessors).filter(|(_, n)| **n == 0).map(|(number, _)| number);
        if !own.eq(roots) {
            let message = "its roots are not the operations without dependencies: is the file damaged?";
            return wrong(format!("rank {}: {message}", self.rank));
        }
        Ok(())
    }
}
