//! Files that are spoilt: those that experiments read, other simulators', scripts, and the folders of runs.

use std::fs;
use std::path::Path;
use std::sync::OnceLock;

use serde_json::Value;
use tempfile::TempDir;
use tresse_units::SplitMix;

use super::Input;
use super::experiment::{command, one_of};
use super::seeds::{BESIDE, EXPERIMENTS, FOREIGN, SCRIPT, foreign};
use crate::common::tresse;

/// What may stand in the place of a number.
const NUMBERS: [&str; 14] = [
    "0",
    "1",
    "-1",
    "1.5",
    "1e9",
    "nan",
    "inf",
    "4294967296",
    "9223372036854775808",
    "18446744073709551615",
    "99999999999999999999999",
    "0x10",
    "7TB",
    "",
];

/// An experiment with everything that it reads, one thing of it spoilt.
pub fn beside_an_experiment(random: &mut SplitMix) -> Input {
    let mut files: Vec<(String, Vec<u8>)> =
        BESIDE.iter().map(|(name, bytes)| ((*name).to_owned(), bytes.to_vec())).collect();
    let k = random.below(files.len() as u64) as usize;
    files[k].1 = spoilt(random, &files[k].1);
    let name = files[k].0.clone();
    let reads = if name == "sizes.cdf" { EXPERIMENTS[1] } else { EXPERIMENTS[2] };
    let text =
        if name == "graph.graphml" { reads.1.replace("graph.json", &name) } else { reads.1.to_owned() };
    files.push((reads.0.to_owned(), text.into_bytes()));
    Input { arguments: command(random, reads.0), files, special: Vec::new() }
}

/// Another simulator's files.
pub fn imported(random: &mut SplitMix) -> Input {
    let (format, names) = *one_of(random, &FOREIGN);
    let which = random.below(names.len() as u64) as usize;
    let file = |(k, name): (usize, &&str)| {
        let own = foreign(name).as_bytes();
        ((*name).to_owned(), if k == which { spoilt(random, own) } else { own.to_vec() })
    };
    let files = names.iter().enumerate().map(file).collect();
    let arguments = ["import", format].into_iter().chain(names.iter().copied()).chain(["-o", "x.toml"]);
    Input { arguments: arguments.map(str::to_owned).collect(), files, special: Vec::new() }
}

/// A script that a controller plays.
pub fn played(random: &mut SplitMix) -> Input {
    let script = spoilt(random, SCRIPT.as_bytes());
    let controller = one_of(random, &["xmp", "lia", "cubic", "dctcp", "holnet_cc", "vmcc"]);
    let arguments = ["controller", "trace", controller, "--script", "script"];
    Input {
        arguments: arguments.map(str::to_owned).to_vec(),
        files: vec![("script".to_owned(), script)],
        special: Vec::new(),
    }
}

/// The folder of a run, one file of it spoilt.
pub fn stored(random: &mut SplitMix) -> Input {
    let mut whole = a_run().to_vec();
    // Without sums, as of earlier versions, a table is read before anything is known to be wrong with it.
    if random.below(2) == 0 {
        let mut run: Value = serde_json::from_slice(&whole[0].1).expect("JSON");
        run.as_object_mut().expect("a table").remove("tables");
        whole[0].1 = run.to_string().into_bytes();
    }
    let k = random.below(whole.len() as u64) as usize;
    let folder = |of: &str, spoil: Option<Vec<u8>>| -> Vec<(String, Vec<u8>)> {
        let file = |(i, (name, bytes)): (usize, &(String, Vec<u8>))| {
            let bytes = spoil.clone().filter(|_| i == k).unwrap_or_else(|| bytes.clone());
            (format!("{of}/{name}"), bytes)
        };
        whole.iter().enumerate().map(file).collect()
    };
    let mut files = folder("run", Some(spoilt(random, &whole[k].1)));
    let arguments: &[&str] = match random.below(8) {
        0 => &["compare", "run"],
        1 => &["compare", "run", "--json"],
        2 => {
            files.extend(folder("other", None));
            &["compare", "run", "other"]
        }
        3 => &["export", "run", "--format", "csv"],
        4 => &["show", "run"],
        5 => &["show", "run", "--by", "size"],
        6 => &["show", "run", "--json"],
        _ => &["export", "run", "--format", "hpcc-fct"],
    };
    Input { arguments: arguments.iter().map(|&word| word.to_owned()).collect(), files, special: Vec::new() }
}

/// The files of a finished run.
pub fn a_run() -> &'static [(String, Vec<u8>)] {
    static RUN: OnceLock<Vec<(String, Vec<u8>)>> = OnceLock::new();
    RUN.get_or_init(|| {
        let dir = TempDir::new().expect("a temporary folder");
        let (name, text) = EXPERIMENTS[0];
        fs::write(dir.path().join(name), text).expect("a file");
        let output = tresse(dir.path()).args(["run", name, "--out", "run"]).output().expect("it starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let names = ["run.json", "flows.parquet", "jobs.parquet", "links.parquet", "samples.parquet"];
        let read = |name: &str| {
            (name.to_owned(), fs::read(Path::new(&dir.path().join("run")).join(name)).expect(name))
        };
        names.map(read).to_vec()
    })
}

/// A text, or bytes, in which one to three things are otherwise.
pub fn spoilt(random: &mut SplitMix, bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..=random.below(3) {
        spoil(random, &mut bytes);
    }
    bytes
}

fn spoil(random: &mut SplitMix, bytes: &mut Vec<u8>) {
    if bytes.is_empty() {
        return bytes.extend_from_slice(b"0\n");
    }
    let at = random.below(bytes.len() as u64) as usize;
    match random.below(11) {
        10 => words(random, bytes),
        0 => bytes[at] = random.next() as u8,
        1 => drop(bytes.remove(at)),
        2 => bytes.truncate(at),
        3 => bytes.insert(at, *one_of(random, b"\0\t\"{}[]=,\n<>\xff-#")),
        4 => lines(random, bytes),
        // A number of the text, if there is one: most of what can be wrong is a number.
        _ => {
            let is_digit = |place: &usize| bytes[*place].is_ascii_digit();
            let Some(from) = (at..bytes.len()).chain(0..at).find(is_digit) else { return };
            let length = bytes[from..].iter().take_while(|b| b.is_ascii_digit()).count();
            let number = one_of(random, &NUMBERS).bytes();
            bytes.splice(from..from + length, number);
        }
    }
}

/// Two words of a line in each other's place, as in a file whose columns are in another order; or of all lines.
fn words(random: &mut SplitMix, bytes: &mut Vec<u8>) {
    let is_of_all = random.below(2) == 0;
    let (one, other) = (random.below(6) as usize, random.below(6) as usize);
    let mut lines: Vec<Vec<u8>> = bytes.split_inclusive(|b| *b == b'\n').map(<[u8]>::to_vec).collect();
    let chosen = random.below(lines.len() as u64) as usize;
    for (_, line) in lines.iter_mut().enumerate().filter(|(k, _)| is_of_all || *k == chosen) {
        let is_between = |byte: &u8| b" \t,\n".contains(byte);
        let mut words: Vec<Vec<u8>> = line.split_inclusive(is_between).map(<[u8]>::to_vec).collect();
        if one.max(other) < words.len() {
            words.swap(one, other);
        }
        *line = words.concat();
    }
    *bytes = lines.concat();
}

/// A line twice, nowhere, in another's place, or a thousand times.
fn lines(random: &mut SplitMix, bytes: &mut Vec<u8>) {
    let mut lines: Vec<Vec<u8>> = bytes.split_inclusive(|b| *b == b'\n').map(<[u8]>::to_vec).collect();
    let count = lines.len() as u64;
    let [k, other] = [random.below(count) as usize, random.below(count) as usize];
    match random.below(4) {
        0 => drop(lines.remove(k)),
        1 => lines.insert(other, lines[k].clone()),
        2 => lines.swap(k, other),
        _ => {
            let line = lines[k].repeat(1000);
            lines.insert(k, line);
        }
    }
    *bytes = lines.concat();
}
