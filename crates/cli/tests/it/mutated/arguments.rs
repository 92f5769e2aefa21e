//! Command lines that somebody mistyped.

use tresse_units::SplitMix;

use super::Input;
use super::experiment::one_of;
use super::seeds::{BESIDE, EXPERIMENTS};

/// What begins a command. None that would change the machine.
const COMMANDS: [&[&str]; 17] = [
    &["run", "rounds.toml"],
    &["check", "rounds.toml"],
    &["run", "listed.toml"],
    &["run", "xmp/table1"],
    &["run"],
    &["paper", "xmp"],
    &["paper"],
    &["optimum", "rounds.toml"],
    &["topology", "show", "arrivals.toml"],
    &["topology", "show", "xmp/table1", "host 0"],
    &["list"],
    &["explain"],
    &["compare", "."],
    &["controller", "new", "mine"],
    &["controller", "trace", "xmp"],
    &["export", "."],
    &["schema"],
];

/// What may follow.
const WORDS: [&[&str]; 36] = [
    &["--only", "scheme=xmp"],
    &["--only", "scheme=nobody"],
    &["--only", "subflows=2,1"],
    &["--only", "="],
    &["--only", "pattern"],
    &["--set", "fabric.k=6"],
    &["--set", "fabric.k=100000"],
    &["--set", "fabric.k=5"],
    &["--set", "fabric.mark=-1pkt"],
    &["--set", "schemes.xmp.parameters.beta=99"],
    &["--set", "workloads.permutation.size=7TB"],
    &["--set", "a.b.c=1"],
    &["--set", ".=.."],
    &["--set", "fabric"],
    &["--set", "fabric={"],
    &["--profile", "full"],
    &["--profile", "none"],
    &["--seed", "18446744073709551615"],
    &["--seed", "-1"],
    &["--replications", "0"],
    &["--replications", "3"],
    &["--replications", "0%"],
    &["--replications", "4294967295"],
    &["--parallel", "0"],
    &["--parallel", "1024"],
    &["--out", "runs"],
    &["--out", "/proc/none"],
    &["--out", ""],
    &["--json"],
    &["--controller", "rounds.toml"],
    &["--controller", "nobody.c"],
    &["--script", "flows.csv"],
    &["--format", "dot"],
    &["--progress", "always"],
    &["controllers"],
    &["ä\u{202e}\n"],
];

pub fn input(random: &mut SplitMix) -> Input {
    let mut arguments = one_of(random, &COMMANDS).to_vec();
    for _ in 0..random.below(4) {
        arguments.extend(*one_of(random, &WORDS));
    }
    if random.below(4) == 0 {
        let k = random.below(arguments.len() as u64) as usize;
        arguments.remove(k);
    }
    let experiments = EXPERIMENTS.map(|(name, text)| (name, text.as_bytes()));
    let files = BESIDE.into_iter().chain(experiments);
    let files = files.map(|(name, bytes)| (name.to_owned(), bytes.to_vec())).collect();
    Input { arguments: arguments.into_iter().map(str::to_owned).collect(), files, special: Vec::new() }
}
