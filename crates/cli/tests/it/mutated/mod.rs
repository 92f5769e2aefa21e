//! Inputs that are wrong in small ways: what the command is given by hand, by other programs and by accident.
//!
//! Every input is made of one that is right, by a seed: so a number names it forever. What it must not do, whatever
//! it is given: panic, hang, take the machine's memory, leave with an exit code that design rule 9 does not know, or
//! fail without a word of its own.
//!
//! `scripts/fuzz-inputs N [SEED]` tries N of them; the tests try a hundred.

mod arguments;
mod bounds;
mod experiment;
mod files;
mod judge;
pub mod seeds;
mod special;

use std::sync::atomic::{AtomicU64, Ordering};
use std::{env, thread};

use tresse_units::SplitMix;

use judge::Verdict;

/// How many inputs the tests try.
const IN_TESTS: u64 = 60;

/// The variables by which `scripts/fuzz-inputs` asks for more.
const COUNT: &str = "TRESSE_FUZZ_INPUTS";
const SEED: &str = "TRESSE_FUZZ_SEED";

/// A command with the files that it finds in its folder.
#[derive(Debug)]
struct Input {
    arguments: Vec<String>,
    files: Vec<(String, Vec<u8>)>,
    /// What is no ordinary file: it stands in the place of a file with the same name.
    special: Vec<(String, Special)>,
}

/// What may stand where a file is expected.
#[derive(Debug, Clone, PartialEq)]
enum Special {
    /// A pipe that nobody writes to or reads from.
    Pipe,
    Folder,
    Socket,
    /// A link to another path.
    Link(&'static str),
    /// A file of this size, nothing but zeros, which takes no room.
    Hole(u64),
}

/// The `seed`-th input.
fn input(seed: u64) -> Input {
    let mut random = SplitMix::named(seed, 0, 0);
    let mut input = match random.below(24) {
        0..=9 => experiment::input(&mut random),
        10..=13 => files::beside_an_experiment(&mut random),
        14 | 15 => files::imported(&mut random),
        16 => files::played(&mut random),
        17 => files::stored(&mut random),
        18 | 19 => arguments::input(&mut random),
        20 | 21 => bounds::input(&mut random),
        _ => return special::input(&mut random),
    };
    // Whatever it is, one of its files may be no file.
    if random.below(25) == 0 {
        special::replace_one(&mut random, &mut input);
    }
    input
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the script says how many by variables")]
fn no_input_is_too_much() {
    let number = |name: &str| env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let (count, first) = (number(COUNT).unwrap_or(IN_TESTS), number(SEED).unwrap_or(1));
    let next = AtomicU64::new(0);
    let work = || {
        let mut failures = Vec::new();
        loop {
            let k = next.fetch_add(1, Ordering::Relaxed);
            if k >= count {
                return failures;
            }
            let seed = first + k;
            let input = input(seed);
            if let Verdict::Fails(why) = judge::judge(&input) {
                let kept = judge::keep(seed, &input, &why);
                eprintln!("input {seed}: {why}\n  kept in {}", kept.display());
                failures.push(seed);
            }
            if count > IN_TESTS && (k + 1).is_multiple_of(500) {
                eprintln!("{} of {count}", k + 1);
            }
        }
    };
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let failures: Vec<u64> = thread::scope(|scope| {
        let all: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        all.into_iter().flat_map(|one| one.join().expect("it does not panic")).collect()
    });
    assert!(failures.is_empty(), "{} of {count} inputs fail: {failures:?}", failures.len());
}

#[test]
fn an_input_is_the_same_whenever_it_is_made() {
    for seed in 0..200 {
        let [one, other] = [input(seed), input(seed)];
        assert!(
            one.arguments == other.arguments && one.files == other.files && one.special == other.special,
            "input {seed}"
        );
    }
}
