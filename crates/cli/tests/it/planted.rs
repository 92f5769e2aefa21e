//! Controllers with planted defects: each keeps its contract, and fails some cases of the report card.

use std::fs;
use std::path::Path;

/// A defect. All controllers say that they are coupled, so that the cases of multipath are about them.
pub struct Defect {
    /// The controller's name.
    pub name: &'static str,
    /// What is wrong.
    what: &'static str,
    signals: &'static str,
    /// The body of `grow`.
    grow: &'static str,
    /// The body of `congestion`.
    cut: &'static str,
}

/// Growth as in Reno, with this increase for each packet delivered.
macro_rules! by {
    ($increase:literal) => {
        concat!("raise_window(s, &state_of(s)->credit, slow_start(s, a->delivered), ", $increase, ");")
    };
}

const RENO: &str = by!("reno_increase(s)");
const HALF: &str = "return half_window(s);";
const LOSSES: &str = "SIGNAL_LOSS";
const MARKS: &str = "SIGNAL_LOSS | SIGNAL_ECN | SIGNAL_CE_EXACT";

/// All of them.
pub const DEFECTS: [Defect; 11] = [
    Defect {
        name: "deaf",
        what: "losses do not lower its window",
        signals: LOSSES,
        grow: RENO,
        cut: "return max_u32(s->cwnd, 2);",
    },
    Defect {
        name: "numb",
        what: "marks do not lower its window",
        signals: MARKS,
        grow: "s->cwnd += a->delivered;",
        cut: "return max_u32(s->cwnd, 2);",
    },
    Defect {
        name: "ignores",
        what: "it goes on although marks arrive",
        signals: MARKS,
        grow: RENO,
        cut: "return cause == MARK && s->cwnd >= s->ssthresh ? IGNORE_MARK : half_window(s);",
    },
    Defect {
        name: "greedy",
        what: "its window doubles in every round",
        signals: LOSSES,
        grow: "s->cwnd += a->delivered;",
        cut: HALF,
    },
    Defect {
        name: "scalable",
        what: "its window grows in proportion to itself",
        signals: LOSSES,
        grow: by!("1ULL << 44"),
        cut: "return max_u32(s->cwnd - s->cwnd / 8, 2);",
    },
    Defect {
        name: "timid",
        what: "its window never grows",
        signals: MARKS,
        grow: "(void)s, (void)a;",
        cut: "(void)s; return 2;",
    },
    Defect {
        name: "panics",
        what: "every mark and loss leaves it two packets",
        signals: MARKS,
        grow: RENO,
        cut: "(void)s; return 2;",
    },
    Defect {
        name: "twice",
        what: "it halves its window twice",
        signals: LOSSES,
        grow: RENO,
        cut: "return max_u32(s->cwnd / 4, 2);",
    },
    Defect {
        name: "calls",
        what: "it counts ACKs, not packets",
        signals: LOSSES,
        grow: "if (a->delivered) raise_window(s, &state_of(s)->credit, slow_start(s, 1), reno_increase(s));",
        cut: HALF,
    },
    Defect { name: "loner", what: "it ignores its siblings", signals: LOSSES, grow: RENO, cut: HALF },
    Defect {
        name: "sulks",
        what: "it never recovers from a timeout",
        signals: LOSSES,
        grow: concat!("if (state_of(s)->timeouts) return; ", by!("reno_increase(s)")),
        cut: HALF,
    },
];

/// Writes the file of the defect `name` into a folder, and returns its name there.
pub fn write(dir: &Path, name: &str) -> String {
    let defect = DEFECTS.iter().find(|own| own.name == name).unwrap_or_else(|| panic!("no defect `{name}`"));
    let Defect { what, signals, grow, cut, .. } = defect;
    let exceptions = if cut.contains("IGNORE_MARK") { "EXCEPTION_IGNORES_MARK" } else { "0" };
    let text = format!(
        "#include \"controller.h\"\n\
         struct planted {{ u64 credit, timeouts; }};\n\
         DECLARE_STATE(struct planted)\n\
         static void grow(struct subflow *s, const struct ack *a) {{ {grow} }}\n\
         static u32 cut(struct subflow *s, enum cause cause) {{ (void)cause; {cut} }}\n\
         static void timeout(struct subflow *s) {{ state_of(s)->timeouts++; }}\n\
         CONTROLLER({name}, .title = \"{what}\", .source = \"a test\", .signals = {signals},\n\
         .exceptions = {exceptions}, .coupled = 1, .min_cwnd = 2,\n\
         .grow = grow, .congestion = cut, .timeout = timeout);\n"
    );
    let file = format!("{name}.c");
    fs::write(dir.join(&file), text).expect("a temporary file");
    file
}
