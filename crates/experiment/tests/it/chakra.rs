//! Chakra files: what they say is read, found by its name, and what is wrong in them is told.

mod cpu;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;
use proptest::sample::Index;
use tempfile::TempDir;
use tresse_experiment::read::chakra::{Options, Times, files, groups, read};
use tresse_experiment::read::files::Files;
use tresse_experiment::{Profile, Source, find, load, resolve};
use tresse_units::{Flops, NEVER};
use tresse_workload::{Action, Operation, Source as _, Tasks};

/// Fields of a protobuf message, one after another.
#[derive(Debug, Default, Clone)]
struct Message(Vec<u8>);

impl Message {
    fn varint(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }

    fn number(mut self, field: u64, number: u64) -> Self {
        self.varint(field << 3);
        self.varint(number);
        self
    }

    fn bytes(mut self, field: u64, bytes: &[u8]) -> Self {
        self.varint(field << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend(bytes);
        self
    }

    /// An attribute with a number in a field of that type.
    fn attr(self, name: &str, field: u64, number: i64) -> Self {
        self.bytes(10, &Self::default().bytes(1, name.as_bytes()).number(field, number as u64).0)
    }

    fn text(self, name: &str, text: &str) -> Self {
        self.bytes(10, &Self::default().bytes(1, name.as_bytes()).bytes(29, text.as_bytes()).0)
    }

    /// Dependencies by control, packed as proto3 has them.
    fn after(self, ids: &[u64]) -> Self {
        let mut packed = Self::default();
        ids.iter().for_each(|&id| packed.varint(id));
        self.bytes(4, &packed.0)
    }
}

fn node(id: u64, name: &str, kind: u64) -> Message {
    Message::default().number(1, id).bytes(2, name.as_bytes()).number(3, kind)
}

const METADATA: u64 = 1;
const MEM_LOAD: u64 = 2;
const COMP: u64 = 4;
const SEND: u64 = 5;
const RECV: u64 = 6;
const COLL: u64 = 7;

const INT32: u64 = 7;
const INT64: u64 = 9;
const UINT64: u64 = 13;

/// A file of these nodes.
fn file(nodes: &[Message]) -> Vec<u8> {
    let mut file = Message::default();
    let metadata = Message::default().bytes(1, b"1.0.0");
    for message in std::iter::once(&metadata).chain(nodes) {
        file.varint(message.0.len() as u64);
        file.0.extend(&message.0);
    }
    file.0
}

fn send(id: u64, to: i64) -> Message {
    let node = node(id, "send", SEND).attr("is_cpu_op", 27, 0).attr("comm_dst", INT32, to);
    node.attr("comm_size", INT64, 1000).attr("comm_tag", INT32, 4)
}

fn receive(id: u64, from: i64) -> Message {
    let node = node(id, "recv", RECV).attr("comm_src", INT32, from);
    node.attr("comm_size", UINT64, 1000).attr("comm_tag", INT32, 4)
}

fn collective(id: u64, kind: i64) -> Message {
    node(id, "coll", COLL).attr("comm_type", INT64, kind).attr("comm_size", INT64, 8000)
}

fn folder(all: &[(&str, &[u8])]) -> TempDir {
    let folder = TempDir::new().expect("a folder");
    for (name, bytes) in all {
        fs::write(folder.path().join(name), bytes).expect("a file");
    }
    folder
}

fn options() -> Options {
    Options { groups: [].into(), all_reduce: Operation::RingAllReduce, flops: None, most: 1 << 32 }
}

/// The trace of these ranks.
fn trace(ranks: &[&[u8]], options: Options) -> Result<(Tasks, Times), String> {
    let names: Vec<String> = (0..ranks.len()).map(|rank| format!("t.{rank}.et")).collect();
    let all: Vec<(&str, &[u8])> = names.iter().map(String::as_str).zip(ranks.iter().copied()).collect();
    let folder = folder(&all);
    let paths = files(folder.path())?;
    read(&paths, &Files::default(), options).map_err(|e| {
        let path = folder.path().display().to_string();
        e.replace(&format!("{path}/"), "")
    })
}

/// The starts of flows, in us, where each takes no time.
fn starts(mut tasks: Tasks) -> Vec<(u64, u32, u32, u64)> {
    let (mut now, mut starts) = (0, Vec::new());
    loop {
        while let Some(action) = tasks.poll(now) {
            if let Action::Start(start) = action {
                starts.push((now / 1_000_000, start.from, start.to, start.bytes.unwrap_or(0)));
                tasks.handle_finished(now, start.name);
            }
        }
        now = tasks.next();
        if now == NEVER {
            return starts;
        }
    }
}

fn two() -> [Vec<u8>; 2] {
    let work = node(2, "load", MEM_LOAD).number(7, 3).attr("tensor_size", UINT64, 9);
    let compute = node(3, "gemm", COMP).number(7, 10).after(&[1, 2]);
    let metadata = node(1, "start", METADATA);
    [
        file(&[metadata, work, compute, send(9, 1).number(5, 3)]),
        file(&[receive(1, 0), collective_of_two(2).number(5, 1)]),
    ]
}

/// An all-reduce of rank 1 alone.
fn collective_of_two(id: u64) -> Message {
    collective(id, 0).text("pg_name", "own")
}

#[test]
fn nodes_are_what_their_fields_say() {
    let [zero, one] = two();
    let own = groups("{\"own\": [1]}").unwrap();
    let (tasks, times) = trace(&[&zero, &one], Options { groups: own, ..options() }).unwrap();
    assert_eq!(times, Times { all: 2, ..Times::default() });
    assert_eq!(starts(tasks), [(13, 0, 1, 1000)]);
}

#[test]
fn operations_are_times_at_a_speed() {
    let work = |id, operations| node(id, "gemm", COMP).attr("num_ops", INT64, operations);
    let zero = file(&[work(1, 2_000_000), work(2, 0), send(3, 1).number(5, 1).number(5, 2)]);
    let one = file(&[receive(1, 0)]);
    let of = |flops| trace(&[&zero, &one], Options { flops, ..options() }).unwrap();
    let (tasks, times) = of(None);
    assert_eq!(
        (starts(tasks)[0].0, times),
        (0, Times { all: 2, timeless: 1, counted: 1, ..Times::default() })
    );
    let (tasks, times) = of(Some(Flops(1_000_000_000)));
    assert_eq!((starts(tasks)[0].0, times), (2000, Times { all: 2, timeless: 1, ..Times::default() }));
}

#[test]
fn files_may_be_compressed_and_groups_are_pytorchs() {
    let groups = "[{\"pg_name\": \"0\", \"pg_desc\": \"default_pg\", \"ranks\": []}, \
                  {\"pg_name\": \"7\", \"backend_config\": \"cuda:nccl\", \"ranks\": [0, 2]}]";
    let python = Message::default().bytes(1, format!("['{groups}']").as_bytes());
    let init = node(1, "## process_group:init ##", METADATA).bytes(8, &python.0);
    let all = collective(2, 2);
    let some = collective(3, 5).text("pg_name", "7").number(4, 2);
    let packed = |bytes: &[u8]| {
        let mut packed = GzEncoder::new(Vec::new(), Compression::default());
        packed.write_all(bytes).unwrap();
        packed.finish().unwrap()
    };
    let member = file(&[init.clone(), all.clone(), some]);
    let other = file(&[init, all]);
    let (tasks, _) = trace(&[&packed(&member), &other, &packed(&member)], options()).unwrap();
    let starts = starts(tasks);
    // An all-gather of what 8000 bytes each are, then the broadcast.
    assert_eq!(starts.len(), 6 + 1);
    assert!(starts.iter().all(|s| s.3 == 8000));
    assert_eq!(starts[6], (0, 0, 2, 8000));
    let half = packed(&member);
    let error = trace(&[&half[..half.len() / 2], &other, &member], options()).unwrap_err();
    assert!(error.starts_with("t.0.et: message ") && error.contains("truncated"), "{error}");
}

#[track_caller]
fn refused(zero: &[Message], message: &str) {
    let error = trace(&[&file(zero), &file(&[])], options()).unwrap_err();
    assert!(error.starts_with("t.0.et: ") && error.contains(message), "{error}");
}

#[test]
fn what_a_node_lacks_is_told_with_its_name() {
    refused(&[node(4, "x", 0)], "node 4 (`x`) of rank 0: it is an INVALID_NODE");
    refused(&[node(4, "x", 9)], "node 4 (`x`) of rank 0: its type is 9, but Chakra 1.0.0 has types 1 to 7");
    refused(&[node(4, "x", SEND)], "node 4 (`x`) of rank 0: it has no `comm_dst`, which the network needs");
    refused(
        &[send(4, 1).attr("comm_src", INT32, 1)],
        "its `comm_src` is 1: a send is in the file of its sender",
    );
    refused(&[receive(4, -1)], "its `comm_src` is -1, below 0");
    refused(&[node(4, "x", SEND).attr("comm_dst", INT64, 1 << 40)], "which is not a rank");
    refused(&[node(4, "x", SEND).text("comm_dst", "1")], "its `comm_dst` is not a whole number");
    refused(&[node(4, "x", COLL)], "it has no `comm_type`");
    refused(&[node(4, "x", COLL).attr("comm_type", INT64, 0)], "it has no `comm_size`");
    refused(
        &[collective(4, 1)],
        "the collective REDUCE is not simulated: supported are ALL_REDUCE, ALL_GATHER",
    );
    refused(&[collective(4, 30)], "its `comm_type` is 30");
    refused(
        &[collective(4, 0).attr("pg_name", INT32, 3)],
        "node 4 (`coll`) of rank 0: there is no group `3`",
    );
    refused(&[node(4, "x", COMP).number(7, u64::MAX)], "it takes more than 2^64 ps");
    refused(&[node(4, "x", COMP).after(&[5])], "it depends on node 5, which is not in its file");
    let python = Message::default().bytes(1, b"['[{\"pg_name\": 3}]']");
    let init = node(1, "init", METADATA).bytes(8, &python.0);
    refused(&[init], "node 1 (`init`): its inputs are not a list of process groups");
}

#[test]
fn what_is_no_trace_is_told_with_its_byte() {
    let told = |zero: &[u8]| trace(&[zero], options()).unwrap_err();
    assert_eq!(told(b""), "t.0.et: it is empty; a Chakra trace begins with its GlobalMetadata");
    assert!(told(b"num_ranks 2\nrank 0 {\n}\n").contains("message 0, at byte 0: "));
    assert!(told(&[0xff; 40]).contains("there is no length here: is this a Chakra trace?"));
    // Two gigabytes are said, and four bytes are there.
    let told_huge = told(&[0xff, 0xff, 0xff, 0xff, 0x07, 1, 2, 3, 4]);
    assert!(told_huge.contains("2147483647 bytes are not a message"), "{told_huge}");
    let long = told(&[0xff, 0xff, 0x7f, 1, 2, 3, 4]);
    assert!(long.contains("only 4 of its 2097151 bytes are present: is the file truncated?"), "{long}");
    // Without its metadata.
    let whole = file(&[node(4, "x", COMP)]);
    let error = told(&whole[8..]);
    assert!(error.contains("message 0, at byte 0: it is not a GlobalMetadata of Chakra 1.0.0"), "{error}");
}

#[test]
fn a_file_cut_off_anywhere_is_refused() {
    let [zero, one] = two();
    let options = Options { groups: groups("{\"own\": [1]}").unwrap(), ..options() };
    for end in 0..zero.len() {
        assert!(trace(&[&zero[..end], &one], options.clone()).is_err(), "{end} of {}", zero.len());
    }
}

#[test]
fn files_are_found_by_their_names() {
    let folder = folder(&[
        ("a.0.et", b""),
        ("a.1.et.gz", b""),
        ("a.01.et", b""),
        ("a.b.0.et", b""),
        ("hole.0.et", b""),
        ("hole.2.et", b""),
        ("late.7.et", b""),
        ("twice.0.et", b""),
        ("twice.0.et.gz", b""),
        ("comm_group.json", b"{}"),
    ]);
    let names = |paths: Vec<PathBuf>| -> Vec<String> {
        paths.iter().map(|p| p.file_name().unwrap().to_string_lossy().into_owned()).collect()
    };
    let find = |name: &str| files(&folder.path().join(name));
    assert_eq!(names(find("a").unwrap()), ["a.0.et", "a.1.et.gz"]);
    assert_eq!(names(find("a.b").unwrap()), ["a.b.0.et"]);
    for (name, message) in [
        ("hole", "hole.1.et of rank 1 is missing, but hole.2.et exists"),
        ("late", "late.0.et of rank 0 is missing"),
        ("twice", "has rank 0 twice: twice.0.et"),
        ("a.0.et", "has no a.0.et.0.et: `trace` is the part before the ranks' numbers"),
        ("none/x", "cannot be read"),
    ] {
        let error = find(name).expect_err(name);
        assert!(error.contains(message), "{error}");
    }
    let error = files(folder.path()).unwrap_err();
    assert!(error.contains("twice"), "{error}");
    fs::remove_file(folder.path().join("twice.0.et")).unwrap();
    let error = files(folder.path()).unwrap_err();
    assert!(error.contains("has several traces, a and a.b: name one"), "{error}");
    assert!(files(TempDir::new().unwrap().path()).unwrap_err().contains("has no file NAME.0.et"));
}

/// What is wrong with an experiment of this workload beside these files, or what is to be said of it.
fn plan(folder: &Path, workload: &str) -> Result<Vec<String>, String> {
    let text = find("xmp/table1").expect("built in").text;
    let start = text.find("[workloads.").expect("it has workloads");
    let text = format!("{}[workloads.w]\npattern = \"chakra\"\n{workload}\n", &text[..start]);
    let name = folder.join("p.toml").display().to_string();
    let error =
        |e: tresse_experiment::Diagnostic| e.to_string().replace(&format!("{}/", folder.display()), "");
    let loaded = load(Source { name, text }, Profile::Full, &[]).map_err(error)?;
    let plan = resolve(&loaded, &["scheme=dctcp".to_owned()]).map_err(error)?;
    let case = &plan.cases[0];
    assert!(case.has_jobs() && case.is_of_arrivals());
    Ok(case.parts[0].pattern.notes.clone())
}

#[test]
fn a_pattern_reads_a_trace_and_says_what_takes_no_time() {
    let [zero, one] = two();
    let idle = file(&[node(1, "x", COMP), node(2, "x", COMP).attr("num_ops", INT64, 5)]);
    let folder = folder(&[
        ("t.0.et", &zero),
        ("t.1.et", &one),
        ("i.0.et", &idle),
        ("own.json", b"{\"own\": [1]}"),
        ("bad.json", b"{\"own\": 1}"),
    ]);
    let plan = |workload: &str| plan(folder.path(), workload);
    assert_eq!(plan("trace = \"t\"\ngroups = \"own.json\"\nall_reduce = \"tree\"").unwrap(), [""; 0]);
    let notes = plan("trace = \"i\"").unwrap();
    assert!(notes[0].starts_with("1 of the 2 computations and memory accesses of "), "{notes:?}");
    assert!(notes[1].ends_with("`flops`, such as flops = \"312Tflops\"") && notes.len() == 2, "{notes:?}");
    assert_eq!(plan("trace = \"i\"\nflops = \"2Gflops\"").unwrap().len(), 1);
    for (workload, message) in [
        ("", "the pattern chakra needs `trace`, such as trace = \"traces/llama\""),
        ("trace = \"t\"", "t.1.et: node 2 (`coll`) of rank 1: there is no group `own`"),
        ("trace = \"x\"", "has no x.0.et"),
        ("trace = \"t\"\ngroups = \"none.json\"", "none.json cannot be read"),
        ("trace = \"t\"\ngroups = \"bad.json\"", "bad.json: invalid type: integer `1`, expected a sequence"),
        ("trace = \"t\"\nflops = \"0flops\"", "more than 0flops"),
        ("trace = \"t\"\nflops = 5", "a bare number 5 has no unit"),
        ("trace = \"t\"\nall_reduce = \"star\"", "unknown value `star`, expected `ring` or `tree`"),
    ] {
        let error = plan(workload).expect_err(workload);
        assert!(error.starts_with("p.toml:") && error.contains(message), "{error}");
    }
    // Beside the trace they are found.
    fs::rename(folder.path().join("own.json"), folder.path().join("comm_group.json")).unwrap();
    plan("trace = \"t\"").unwrap();
    for rank in 2..=128 {
        fs::write(folder.path().join(format!("t.{rank}.et")), file(&[])).unwrap();
    }
    let error = plan("trace = \"t\"").unwrap_err();
    assert!(error.contains("t has 129 ranks, but the fabric has only 128 hosts"), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn bytes_that_are_changed_do_no_harm(
        changes in prop::collection::vec((any::<Index>(), any::<u8>()), 1..4),
        cut in prop::option::of(any::<Index>()),
    ) {
        let [mut zero, one] = two();
        for (at, byte) in changes {
            let at = at.index(zero.len());
            zero[at] = byte;
        }
        if let Some(cut) = cut {
            zero.truncate(cut.index(zero.len()));
        }
        let groups = groups("{\"own\": [1]}").unwrap();
        if let Err(e) = trace(&[&zero, &one], Options { groups, ..options() }) {
            prop_assert!(!e.is_empty());
        }
    }
}
