//! A user's own controller file: a good one runs, and a bad one is told what is wrong and where.

use std::path::PathBuf;
use std::sync::Arc;

use tempfile::TempDir;
use tresse_controllers::trace::{Script, play};
use tresse_controllers::{ConfiguredController, Controller, LoadError, Signal, find, load};

/// Reno with a gentler cut. A name can be taken once in a process, and the tests share theirs:
/// so each test has its own.
const GENTLE: &str = r#"
#include "controller.h"

#define PARAMETERS(P) P(divisor, 4, 2, 64, "", "a congestion cuts cwnd by cwnd / divisor")
DECLARE_PARAMETERS

struct gentle {
	u64 credit;
};
DECLARE_STATE(struct gentle)

static void gentle_grow(struct subflow *s, const struct ack *a)
{
	u32 left = slow_start(s, a->delivered);

	if (left)
		raise_window(s, &state_of(s)->credit, left, reno_increase(s));
}

static u32 gentle_congestion(struct subflow *s, enum cause cause)
{
	return max_u32(s->cwnd - s->cwnd / (u32)PARAMETER(s, divisor), 2);
}

CONTROLLER(NAME,
	.title = "Reno with a gentle cut",
	.source = "none",
	.signals = SIGNAL_LOSS,
	.min_cwnd = 2,
	WITH_PARAMETERS,
	.grow = gentle_grow,
	.congestion = gentle_congestion);
"#;

fn gentle(name: &str) -> String {
    GENTLE.replace("CONTROLLER(NAME", &format!("CONTROLLER({name}"))
}

/// The folder must live as long as the path is used.
fn file(name: &str, text: &str) -> (TempDir, PathBuf) {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join(name);
    std::fs::write(&path, text).expect("a temporary file");
    (dir, path)
}

fn loaded(text: &str) -> Result<Vec<Controller>, LoadError> {
    let (_dir, path) = file("mine.c", text);
    load(&path)
}

/// The windows after each event of `script`, from 16 packets.
fn windows(controller: Controller, settings: &[(&str, u64)], script: &str) -> Vec<u32> {
    let scheme = ConfiguredController::new(controller, settings.iter().copied()).expect("settings in range");
    let script = Script::parse(script).expect("a good script");
    play(Arc::new(scheme), &script, 16).iter().map(|step| step.cwnd).collect()
}

#[test]
fn a_good_file_runs() {
    let text = gentle("gentle");
    let controllers = loaded(&text).expect("it compiles");
    let [gentle] = controllers[..] else { panic!("one is declared, not {controllers:?}") };
    assert_eq!((gentle.name(), gentle.title()), ("gentle", "Reno with a gentle cut"));
    assert_eq!((gentle.source(), gentle.text()), ("none", text.as_str()));
    assert_eq!((gentle.signals(), gentle.min_cwnd()), (vec![Signal::Loss], 2));
    let build = gentle.build().expect("it was compiled");
    assert!(build.compiler.contains(|c: char| c.is_ascii_digit()), "its version: {build:?}");
    assert!(build.flags.contains(&"-O2"), "{build:?}");
    assert_eq!(find("reno").and_then(|reno| reno.build()), None);
    let [divisor] = gentle.parameters()[..] else { panic!("it has one parameter") };
    assert_eq!(
        (divisor.name, divisor.range.default, divisor.range.min, divisor.range.max),
        ("divisor", 4, 2, 64)
    );

    assert!(find("gentle").is_some(), "found by its name from now on");

    // Slow start to 32; a loss takes a quarter, or a half.
    assert_eq!(windows(gentle, &[], "ack 16\nloss"), [32, 24]);
    assert_eq!(windows(gentle, &[("divisor", 2)], "ack 16\nloss"), [32, 16]);
    // 32 packets end the reduction: 32/24 = 1.33 of them is a packet.
    assert_eq!(windows(gentle, &[], "ack 16\nloss\nack 32"), [32, 24, 25]);
}

#[test]
fn a_file_may_declare_several() {
    let second = "\nCONTROLLER(second, .title = \"\", .source = \"\", .signals = SIGNAL_LOSS, \
                  .min_cwnd = 2, WITH_PARAMETERS, .congestion = gentle_congestion);\n";
    let controllers = loaded(&(gentle("first") + second)).expect("it compiles");
    let names: Vec<_> = controllers.iter().map(Controller::name).collect();
    assert_eq!(names, ["first", "second"]);
    // Without a `grow` hook the window stays.
    assert_eq!(windows(controllers[1], &[], "ack 16\nloss"), [16, 12]);
}

/// A second name has its own title, and all else of the controller.
#[test]
fn a_file_may_give_second_names() {
    let second = "\nALIAS(second_name, first_name, .title = \"another\", .source = \"elsewhere\");\n";
    let controllers = loaded(&(gentle("first_name") + second)).expect("it compiles");
    let [first, second] = controllers[..] else { panic!("{controllers:?}") };
    assert_eq!((first.alias_of(), second.alias_of()), (None, Some("first_name")));
    assert_eq!((second.name(), second.title(), second.source()), ("second_name", "another", "elsewhere"));
    assert_eq!(second.parameters(), first.parameters());
    let script = "ack 16\nloss\nack 32";
    assert_eq!(windows(second, &[], script), windows(first, &[], script));
    assert!(find("second_name").is_some_and(|found| found.alias_of() == Some("first_name")));

    let taken = "\nALIAS(lia, original, .title = \"\", .source = \"\");\n";
    let message = loaded(&(gentle("original") + taken)).expect_err("there is a LIA").to_string();
    assert!(message.contains("there is already a controller `lia`"), "{message}");
}

/// LIA's increase and DCTCP's estimate serve users' files too, wherever those lie.
#[test]
fn a_file_may_include_every_header() {
    let text = gentle("lender")
        .replace("#include \"controller.h\"", "#include \"coupled.h\"\n#include \"dctcp_alpha.h\"")
        .replace("reno_increase(s)", "lia_increase(s)");
    let lender = loaded(&text).expect("it compiles")[0];
    // One subflow of LIA is Reno; see `a_good_file_runs`.
    assert_eq!(windows(lender, &[], "ack 16\nloss\nack 32"), [32, 24, 25]);
}

#[test]
fn an_unknown_parameter_and_a_value_out_of_range_are_refused() {
    let gentle = loaded(&gentle("strict")).expect("it compiles")[0];
    let error =
        |settings| ConfiguredController::new(gentle, settings).expect_err("a bad setting").to_string();
    assert_eq!(error([("beta", 4)]), "strict has no parameter `beta` (it has: divisor)");
    assert_eq!(error([("divisor", 1)]), "divisor = 1 is not from 2 to 64 (strict)");
}

#[test]
fn the_compiler_s_message_names_file_and_line() {
    let broken = gentle("broken").replace("slow_start(s, a->delivered)", "slow_start(s, a->packets)");
    let line = 1 + broken.lines().position(|line| line.contains("a->packets")).expect("it is there");
    let (_dir, path) = file("broken.c", &broken);
    let error = load(&path).expect_err("`packets` is no member of `struct ack`");
    assert!(matches!(&error, LoadError::Compile { path: named, .. } if *named == path), "{error:?}");
    let text = error.to_string();
    assert!(text.starts_with(&format!("{}: it does not compile\n", path.display())), "{text}");
    assert!(text.contains(&format!("{}:{line}:", path.display())), "{text}");
    assert!(text.contains("packets"), "{text}");
}

/// A warning is as good as an error: there is nobody else to see it.
#[test]
fn a_warning_is_an_error() {
    let careless = gentle("careless").replace("\tu32 left = ", "\tint unused;\n\tu32 left = ");
    let error = loaded(&careless).expect_err("an unused variable").to_string();
    assert!(error.contains("unused"), "{error}");
}

#[test]
fn floating_point_is_refused_with_a_hint() {
    let floats = gentle("floats")
        .replace("\tu32 left = ", "\tdouble half = s->cwnd;\n\tu32 left = (u32)(half * 0.5) + ");
    let error = loaded(&floats).expect_err("floating point").to_string();
    assert!(error.contains("integers only"), "{error}");
    assert_eq!(error.matches("In function").count(), 1, "{error}");
}

#[test]
fn flags_and_names_that_mean_nothing_are_refused() {
    let refused = |name: &str, line: &str| {
        let text = gentle(name).replace("\t.min_cwnd = 2,", &format!("\t.min_cwnd = 2,\n\t{line}"));
        assert!(text.contains(line), "{text}");
        loaded(&text).expect_err("it means nothing").to_string()
    };
    let error = refused("of_nonsense", ".single = \"nonsense\",");
    assert!(error.contains(".single names `nonsense`, which is no controller (available: "), "{error}");
    for (name, field) in [("flags1", "exceptions"), ("flags2", "claims")] {
        let error = refused(name, &format!(".{field} = 64,"));
        assert!(
            error.contains(&format!(".{field} has flags that controller.h does not define (0x40)")),
            "{error}"
        );
    }
}

#[test]
fn a_private_state_that_is_too_large_does_not_compile() {
    let large = gentle("large").replace("\tu64 credit;", "\tu64 credit, history[9];"); // 10 words; 9 fit
    let error = loaded(&large).expect_err("the state is too large");
    assert!(matches!(error, LoadError::Compile { .. }), "{error:?}");
    assert!(error.to_string().contains("private state too large"), "{error}");
    let fitting = gentle("fitting").replace("\tu64 credit;", "\tu64 credit, history[8];");
    loaded(&fitting).expect("9 words fit");
}

#[test]
fn a_file_without_a_declaration_is_told_how_to_declare() {
    let (_dir, path) = file("silent.c", &gentle("silent").replace("CONTROLLER(", "OTHERWISE("));
    let error = load(&path).expect_err("nothing is declared");
    assert!(matches!(&error, LoadError::NoDeclaration { path: named, .. } if *named == path), "{error:?}");
    let expected = "no controller is declared\n\nhint: a line must begin with `CONTROLLER(name, …)`";
    assert!(error.to_string().contains(expected), "{error}");
}

#[test]
fn a_file_that_does_not_exist_is_named() {
    let (_dir, path) = file("mine.c", "");
    let path = path.with_file_name("yours.c");
    let error = load(&path).expect_err("it does not exist");
    assert!(matches!(&error, LoadError::Read { path: named, .. } if *named == path), "{error:?}");
    assert!(error.to_string().starts_with(&format!("{}: ", path.display())), "{error}");
}

/// A declaration that the preprocessor drops is found in the text but not in the library.
#[test]
fn a_declaration_that_is_not_compiled_is_an_error() {
    let hidden = gentle("shown") + "#if 0\nCONTROLLER(hidden);\n#endif\n";
    let error = loaded(&hidden).expect_err("`hidden` is not there");
    assert!(matches!(error, LoadError::Library { .. }), "{error:?}");
    assert!(find("shown").is_none(), "a file is loaded whole or not at all");
}

/// Otherwise `find` could not tell them apart.
#[test]
fn a_name_can_be_taken_once() {
    loaded(&gentle("twice")).expect("it compiles");
    for name in ["twice", "reno"] {
        let (_dir, path) = file("mine.c", &gentle(name));
        let error = load(&path).expect_err("the name is taken").to_string();
        let expected = format!("there is already a controller `{name}`, in ");
        assert!(error.starts_with(&format!("{}: {expected}", path.display())), "{error}");
        let other =
            if name == "reno" { "reno.c; choose another name" } else { "mine.c; choose another name" };
        assert!(error.ends_with(other), "{error}");
    }
}

/// As a notebook does after an edit; who has the former one keeps it.
#[test]
fn a_file_that_is_loaded_again_takes_its_own_place() {
    let (_dir, path) = file("again.c", &gentle("again"));
    let before = load(&path).expect("it compiles")[0];
    std::fs::write(&path, gentle("again").replace("return ", "return 1 + ")).expect("it can be written");
    let after = load(&path).expect("it compiles")[0];
    assert_eq!(
        windows(find("again").expect("it is loaded"), &[], "ack 16\nloss"),
        windows(after, &[], "ack 16\nloss")
    );
    assert_ne!(windows(before, &[], "ack 16\nloss"), windows(after, &[], "ack 16\nloss"));
}

/// A controller of sprayed packets, with `more` in its declaration.
fn sprayed(name: &str, signals: &str, more: &str) -> Result<Vec<Controller>, LoadError> {
    let report = "#define UNUSED __attribute__((unused))\n\
                  UNUSED static u32 told(struct subflow *s, const struct report *r)\n\
                  {\n\ts->cwnd = r->lost ? 1 : s->cwnd + r->delivered;\n\treturn 0;\n}\n\
                  UNUSED static void timeout(struct subflow *s)\n{\n}\n";
    let declaration = format!(
        "CONTROLLER({name}, .title = \"\", .source = \"\", .signals = {signals}, .min_cwnd = 1, {more});\n"
    );
    loaded(&format!("#include \"controller.h\"\n{report}{declaration}"))
}

#[test]
fn a_controller_has_the_hooks_of_tcp_or_report() {
    let packets = "SIGNAL_LOSS | SIGNAL_PACKETS";
    let controller = sprayed("told_of_all", packets, ".report = told").expect("it is whole")[0];
    assert!(controller.reports() && !controller.attachable());
    assert_eq!(windows(controller, &[], "report delivered=3\nreport lost=2\nreport"), [19, 1, 1]);
    let script = Script::parse("report\nack 1 subflow=0").expect("a good script");
    let why = script.suits(controller).expect_err("it has no such hook");
    assert_eq!(why, "told_of_all has only the hook `report`, and `ack 1` is not one of its events");
    let why = script.suits(find("reno").expect("it is built in")).expect_err("it has no such hook");
    assert_eq!(why, "reno has no hook `report`, which `report` needs");

    for (name, signals, more, message) in [
        (
            "both_kinds",
            packets,
            ".report = told, .timeout = timeout",
            "both_kinds: .report replaces the hooks for TCP: leave out .timeout, or .report",
        ),
        (
            "unsaid",
            "SIGNAL_LOSS",
            ".report = told",
            "unsaid: .report needs SIGNAL_PACKETS among its .signals",
        ),
        (
            "deaf",
            packets,
            ".timeout = timeout",
            "deaf: SIGNAL_PACKETS is for the hook .report, which is missing",
        ),
        (
            "blind",
            "SIGNAL_LOSS | SIGNAL_TELEMETRY",
            ".timeout = timeout",
            "blind: SIGNAL_TELEMETRY needs the hook .report",
        ),
    ] {
        let error = sprayed(name, signals, more).expect_err(name).to_string();
        assert!(error.ends_with(message), "{error}");
    }
}
