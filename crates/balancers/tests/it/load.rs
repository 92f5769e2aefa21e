//! A user's own balancer: a good one runs, and for a bad one the error says what is wrong and where.

use std::path::PathBuf;
use std::sync::Arc;

use tempfile::TempDir;
use tresse_balancers::{Balancer, ConfiguredBalancer, Feedback, LoadError, Spread, declared_in, find, load};

/// Stays on a path until it is marked. A name can be used only once in a process: each test has its own.
const STEADY: &str = r#"
#include "balancer.h"

#define PARAMETERS(P) P(step, 1, 1, 100, "paths", "how far the next path is")
DECLARE_PARAMETERS

struct steady {
	u32 path;
};
DECLARE_STATE(struct steady)

static void steady_feedback(struct spread *s, u32 path, enum feedback what)
{
	if (what != GOOD && path == state_of(s)->path)
		state_of(s)->path = (path + (u32)PARAMETER(s, step)) % s->paths;
}

static u32 steady_pick(struct spread *s, u32 sequence)
{
	return state_of(s)->path;
}

BALANCER(NAME,
	.title = "stays where it is good",
	.source = "none",
	.flags = FLOW_LEVEL,
	WITH_PARAMETERS,
	WITH_STATE,
	.feedback = steady_feedback,
	.pick = steady_pick);
"#;

fn steady(name: &str) -> String {
    STEADY.replace("BALANCER(NAME", &format!("BALANCER({name}"))
}

/// The folder must live as long as the path is used.
fn file(text: &str) -> (TempDir, PathBuf) {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join("mine.c");
    std::fs::write(&path, text).expect("a temporary file");
    (dir, path)
}

fn loaded(text: &str) -> Result<Vec<Balancer>, LoadError> {
    let (_dir, path) = file(text);
    load(&path)
}

fn refused(text: &str) -> String {
    loaded(text).expect_err("it is wrong").to_string()
}

#[test]
fn a_good_file_runs() {
    let text = steady("steady");
    let (_dir, path) = file(&text);
    assert_eq!(declared_in(&path).expect("it can be read"), ["steady"]);
    let [balancer] = load(&path).expect("it compiles")[..] else { panic!("it declares one") };
    assert_eq!((balancer.name(), balancer.title()), ("steady", "stays where it is good"));
    assert_eq!((balancer.file(), balancer.source_file()), (Some(&*path), &*path));
    assert_eq!(balancer.text(), text);
    assert!(balancer.build().is_some_and(|build| build.flags.contains(&"-O2")));
    assert_eq!(find("steady").and_then(|b| b.file()), Some(&*path));
    let scheme = Arc::new(ConfiguredBalancer::new(balancer, [("step", 3)]).expect("in range"));
    let mut spread = Spread::new(scheme, 4, 1);
    assert_eq!(spread.pick(0, 1, 0), 0);
    spread.feedback(0, 0, Feedback::Ecn);
    assert_eq!((spread.pick(0, 1, 1), spread.pick(0, 1, 2)), (3, 3));
}

#[test]
fn a_file_may_include_every_header() {
    let text = steady("walker")
        .replace("balancer.h", "penalties.h")
        .replace("\tu32 path;\n};", "\tu32 path;\n\tstruct penalties all;\n};")
        .replace(
            "BALANCER(",
            "static u8 *penalty_of(const struct spread *s, u32 path)\n{\n\treturn 0;\n}\n\nBALANCER(",
        );
    loaded(&text).expect("it compiles");
}

#[test]
fn what_is_wrong_is_told() {
    let missing = refused("int x;\n");
    assert!(
        missing.contains("no balancer is declared\n\nhint: a line must begin with `BALANCER(name, …)`"),
        "{missing}"
    );
    assert!(missing.ends_with("as in balancers/oblivious.c"), "{missing}");
    let broken = steady("broken").replace("return state_of(s)->path;", "return state_of(s)->lane;");
    let line = 1 + broken.lines().position(|l| l.contains("lane")).expect("it is there");
    let message = refused(&broken);
    assert!(
        message.contains("it does not compile") && message.contains(&format!("mine.c:{line}:")),
        "{message}"
    );
    let taken = refused(&steady("reps"));
    assert!(
        taken.ends_with("there is already a balancer `reps`, in balancers/reps.c; choose another name"),
        "{taken}"
    );
    for (name, from, to, message) in [
        ("no_pick", "\t.pick = steady_pick", "\t.init = 0", "no_pick: .pick is missing"),
        ("bad_flag", "FLOW_LEVEL", "64", ".flags has a flag"),
        ("odd", "\tWITH_STATE", "\t.state_bytes = 12", "odd: .state_bytes is not a multiple of 8"),
        ("fat", "\tWITH_STATE", "\tWITH_STATE, .path_bytes = 1000", ".path_bytes at most 256"),
        ("range", "step, 1, 1, 100", "step, 1, 2, 100", "the default of step, 1, is not from 2 to 100"),
        ("old", "\t.title", "\t.abi = 7, .title", "has ABI 7; this program has 1"),
    ] {
        let text =
            steady(name).replace("static u32 steady_pick", "__attribute__((unused)) static u32 steady_pick");
        assert!(text.contains(from), "{from}");
        // A field may be set twice only without the warning.
        let text =
            format!("#pragma GCC diagnostic ignored \"-Woverride-init\"\n{}", text.replacen(from, to, 1));
        let said = refused(&text);
        assert!(said.contains(message), "{name}: {said}");
        assert!(find(name).is_none(), "{name}");
    }
}

#[test]
fn a_path_that_is_not_there_is_brought_into_the_range() {
    let text = steady("far").replace("return state_of(s)->path;", "return state_of(s)->path + 7;");
    let [far] = loaded(&text).expect("it compiles")[..] else { panic!("it declares one") };
    let scheme = Arc::new(ConfiguredBalancer::new(far, []).expect("defaults"));
    assert_eq!(Spread::new(scheme, 4, 1).pick(0, 1, 0), 3);
}
