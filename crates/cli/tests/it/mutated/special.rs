//! What is no file where one is expected, for reading and for writing: devices, pipes, folders, sockets, links, files
//! that are too large.

use std::sync::OnceLock;

use tresse_units::SplitMix;

use super::experiment::one_of;
use super::seeds::{BESIDE, EXPERIMENTS, FOREIGN, SCRIPT, foreign};
use super::{Input, Special, files};

const SPECIAL: [Special; 12] = [
    Special::Pipe,
    Special::Folder,
    Special::Socket,
    Special::Link("/dev/zero"),
    Special::Link("/dev/urandom"),
    Special::Link("/dev/null"),
    Special::Link("nowhere"),
    Special::Link("."),
    Special::Hole(0),
    Special::Hole(1 << 20),
    Special::Hole(16_000_001),
    Special::Hole(1 << 36),
];

/// What may be written to.
const OUTPUTS: [Special; 6] = [
    Special::Pipe,
    Special::Folder,
    Special::Socket,
    Special::Link("/dev/full"),
    Special::Link("nowhere/at/all"),
    Special::Link("out"),
];

/// Puts something else in the place of a file that the command reads.
pub fn replace_one(random: &mut SplitMix, input: &mut Input) {
    if input.files.is_empty() {
        return;
    }
    let (name, _) = one_of(random, &input.files).clone();
    input.special.push((name, one_of(random, &SPECIAL).clone()));
}

/// A command for each kind of file that is read or written, with something else in its place.
pub fn input(random: &mut SplitMix) -> Input {
    let words = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
    let mut input = match random.below(8) {
        // Where it is to write.
        0 | 1 => {
            let command: &[&str] = match random.below(4) {
                0 => &["report", "run", "-o", "out"],
                1 => &["export", "run", "--format", "csv", "-o", "out"],
                2 => &["export", "run", "--format", "arrow", "-o", "out", "--force"],
                _ => &["run", "rounds.toml", "--out", "out"],
            };
            let mut files = run("run");
            files.push((EXPERIMENTS[0].0.to_owned(), EXPERIMENTS[0].1.into()));
            let special = vec![("out".to_owned(), one_of(random, &OUTPUTS).clone())];
            return Input { arguments: words(command), files, special };
        }
        2 => {
            let (format, names) = *one_of(random, &FOREIGN);
            let files = names.iter().map(|name| ((*name).to_owned(), foreign(name).into())).collect();
            let arguments = words(&[&["import", format][..], names, &["-o", "x.toml", "--force"]].concat());
            Input { arguments, files, special: Vec::new() }
        }
        3 => Input {
            arguments: words(&["controller", "trace", "xmp", "--script", "script"]),
            files: vec![("script".to_owned(), SCRIPT.into())],
            special: Vec::new(),
        },
        4 | 5 => {
            let command: &[&str] = match random.below(5) {
                0 => &["report", "run", "-o", "page.html"],
                1 => &["show", "run"],
                2 => &["compare", "run"],
                3 => &["compare", "run", "run"],
                _ => &["export", "run", "--format", "perfetto"],
            };
            Input { arguments: words(command), files: run("run"), special: Vec::new() }
        }
        6 => {
            let command: &[&str] = match random.below(3) {
                0 => &["controller", "check", "file"],
                1 => &["sweep", "file"],
                _ => &["daemon", "--check", "--config", "file"],
            };
            Input {
                arguments: words(command),
                files: vec![("file".to_owned(), Vec::new())],
                special: Vec::new(),
            }
        }
        _ => {
            let (name, text) = *one_of(random, &EXPERIMENTS);
            let files = BESIDE.iter().map(|(name, bytes)| ((*name).to_owned(), bytes.to_vec()));
            let files = files.chain([(name.to_owned(), text.into())]).collect();
            Input { arguments: words(&["run", name]), files, special: Vec::new() }
        }
    };
    replace_one(random, &mut input);
    input
}

/// The files of a finished run, in the folder `of`.
fn run(of: &str) -> Vec<(String, Vec<u8>)> {
    static RUN: OnceLock<Vec<(String, Vec<u8>)>> = OnceLock::new();
    let run = RUN.get_or_init(|| files::a_run().to_vec());
    run.iter().map(|(name, bytes)| (format!("{of}/{name}"), bytes.clone())).collect()
}
