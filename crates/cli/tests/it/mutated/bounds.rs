//! Sizes at their bounds: as many values, levels, schemes, variants or claims as there may be, and one more.

use tresse_units::SplitMix;

use super::Input;
use super::experiment::{command, one_of};
use super::seeds::EXPERIMENTS;

/// What is repeated, and where it goes: the experiment, and a text in it that is replaced.
struct Repeated {
    replaced: &'static str,
    before: &'static str,
    /// `#` is the number of the repetition.
    each: &'static str,
    after: &'static str,
    /// How often, at the bound; one of these, one less or one more.
    counts: &'static [usize],
}

/// Of `changes.toml`.
const REPEATED: [Repeated; 10] = [
    Repeated {
        replaced: "\"50pkt\"",
        before: "[",
        each: "\"#pkt\",",
        after: "]",
        counts: &[1, 2, 1000, 100_000],
    },
    Repeated {
        replaced: "flow = [",
        before: "flow = [",
        each: "{ from = 0, to = 3, start = \"#us\", size = \"1kB\" },",
        after: "",
        counts: &[1000, 10_000, 100_000],
    },
    Repeated { replaced: "count = 2", before: "count = 1", each: "0", after: "", counts: &[3, 6, 9, 10, 40] },
    Repeated {
        replaced: "[measure]",
        before: "",
        each: "[schemes.s#]\ncontroller = \"reno\"\n",
        after: "[measure]",
        counts: &[100, 1000],
    },
    Repeated {
        replaced: "[measure]",
        before: "",
        each: "[variants.v#]\nfabric.host_queue = \"1#pkt\"\n",
        after: "[measure]",
        counts: &[10, 100],
    },
    Repeated { replaced: "\"50pkt\"", before: "", each: "[", after: "", counts: &[64, 80, 10_000] },
    Repeated { replaced: "\"50pkt\"", before: "{ ", each: "a.", after: "a = 1 }", counts: &[64, 80, 10_000] },
    Repeated {
        replaced: "[measure]",
        before: "[[claims]]\nid = \"{a}{b}\"\ntext = \"t\"\nmetric = \"goodput_mean_bps\"\nleft = {}\nabove = 1\n\
                 for_each = { b = [1, 2, 3], a = [",
        each: "#,",
        after: "] }\n[measure]",
        counts: &[3, 3334, 66_667, 100_000],
    },
    Repeated { replaced: "pairs = 3", before: "pairs = 3", each: "0", after: "", counts: &[1, 3, 5, 9, 20] },
    Repeated {
        replaced: "title = \"",
        before: "title = \"",
        each: "words ",
        after: "",
        counts: &[1000, 1_000_000],
    },
];

pub fn input(random: &mut SplitMix) -> Input {
    let (name, text) = EXPERIMENTS[3];
    let mut text = text.to_owned();
    for _ in 0..=random.below(2) {
        let Repeated { replaced, before, each, after, counts } = one_of(random, &REPEATED);
        let count = (one_of(random, counts) + random.below(3) as usize).saturating_sub(1);
        let all: String = (0..count).map(|n| each.replace('#', &n.to_string())).collect();
        text = text.replacen(replaced, &format!("{before}{all}{after}"), 1);
    }
    let mut arguments = command(random, name);
    if random.below(4) == 0 {
        let depth = one_of(random, &[1, 63, 64, 65, 80, 10_000]);
        let nested = match random.below(3) {
            0 => format!("fabric.queue={}{}", "[".repeat(*depth), "]".repeat(*depth)),
            1 => format!("{}queue=1pkt", "fabric.".repeat(*depth)),
            _ => format!("fabric.queue={}1{}", "{a=".repeat(*depth), "}".repeat(*depth)),
        };
        arguments.extend(["--set".to_owned(), nested]);
    }
    Input { arguments, files: vec![(name.to_owned(), text.into_bytes())], special: Vec::new() }
}
