//! `tresse evaluate`: the number, its parts, and what has none.

use std::fs;
use std::path::Path;
use std::process::Output;

use serde_json::Value;
use tempfile::TempDir;

use crate::common::{fails, own_controller, tresse};

/// What `tresse evaluate` prints with `--json`, and its exit code.
fn evaluate(dir: &Path, arguments: &[&str]) -> (Value, Option<i32>) {
    let output = run(dir, &[arguments, &["--json"]].concat());
    let said = String::from_utf8_lossy(&output.stderr);
    let json =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("one JSON object: {e}: {said}"));
    (json, output.status.code())
}

fn run(dir: &Path, arguments: &[&str]) -> Output {
    tresse(dir).arg("evaluate").args(arguments).output().expect("the command starts")
}

fn folder(file: &str, text: &str) -> TempDir {
    let dir = TempDir::new().expect("a temporary folder");
    fs::write(dir.path().join(file), text).expect("a temporary file");
    dir
}

fn text<'a>(evaluation: &'a Value, artifact: &str) -> &'a str {
    evaluation["artifacts"][artifact].as_str().unwrap_or_else(|| panic!("no {artifact}: {evaluation}"))
}

/// A suite of one experiment: two senders share a link of 1 Gbit/s, for 20 ms or with messages of 200 kB.
fn suite(measure: &str, more: &str) -> String {
    let (pattern, rest) = match measure {
        "optimum" => ("permutation", "size = \"1TB\"\nrounds = 1\nduration = \"20ms\""),
        _ => ("incast", "servers = 2\nsize = \"200kB\"\nrounds = 2"),
    };
    format!(
        "title = \"One\"\n\n[[experiments]]\nname = \"one\"\nmeasure = \"{measure}\"\n\n[experiments.define]\n\
         title = \"One\"\n\n[experiments.define.fabric]\ntopology = \"leaf-spine\"\nleaves = 2\nspines = 1\n\
         hosts_per_leaf = 2\nrate = \"1Gbps\"\ndelay = \"10us\"\nqueue = \"100pkt\"\nmark = \"20pkt\"\n\
         host_queue = \"100pkt\"\n\n[experiments.define.transport]\nprofile = \"linux\"\nhandshake = false\n\n\
         [experiments.define.schemes.candidate]\ncontroller = \"reno\"\n\n\
         [experiments.define.workloads.one]\npattern = \"{pattern}\"\n{rest}\n{more}"
    )
}

#[test]
fn a_controller_has_a_score_and_its_parts_and_the_same_again() {
    let dir = TempDir::new().expect("a temporary folder");
    let (xmp, code) = evaluate(dir.path(), &["xmp", "--split", "all"]);
    assert_eq!((code, &xmp["status"]), (Some(0), &"ok".into()), "{xmp}");
    let keys: Vec<&String> = xmp.as_object().expect("an object").keys().collect();
    assert_eq!(keys, ["status", "combined_score", "metrics", "artifacts"]);
    let metrics = xmp["metrics"].as_object().expect("metrics");
    let parts: Vec<f64> =
        metrics.iter().filter(|(name, _)| name.contains('.')).filter_map(|(_, part)| part.as_f64()).collect();
    assert_eq!(parts.len(), 4, "{xmp}");
    assert!(parts.iter().all(|part| *part > 0.0 && *part <= 1.0), "{parts:?}");
    let mean = (parts.iter().map(|part| part.ln()).sum::<f64>() / 4.0).exp();
    assert!((xmp["combined_score"].as_f64().expect("a number") - mean).abs() < 1e-12);
    for split in ["train", "test"] {
        assert!(metrics[split].is_f64(), "{xmp}");
    }
    // The kernel was asked, or the reason is given.
    assert!(
        metrics["verifier"] == 1.0 || metrics["verifier"].is_null() && !text(&xmp, "verifier").is_empty()
    );
    assert!(text(&xmp, "check").starts_with("11 invariants hold"), "{xmp}");
    assert_eq!(text(&xmp, "worst").lines().count(), 4);
    assert!(text(&xmp, "suite").starts_with("smoke, split all, SHA-256 "));
    assert_eq!(evaluate(dir.path(), &["xmp", "--split", "all", "--parallel", "1"]).0, xmp);
    assert!(fs::read_dir(dir.path()).expect("the folder").next().is_none(), "it leaves nothing behind");
}

#[test]
fn a_file_is_scored_as_the_controller_that_it_is_and_its_runs_can_be_kept() {
    let dir = folder("mine.c", &own_controller());
    let (mine, code) = evaluate(dir.path(), &["mine.c", "--out", "runs"]);
    assert_eq!(code, Some(0), "{mine}");
    let (reno, _) = evaluate(dir.path(), &["reno"]);
    assert_eq!(mine["metrics"], reno["metrics"]);
    assert!(dir.path().join("runs/train.websearch/flows.parquet").exists());
    let said = fails(tresse(dir.path()).args(["evaluate", "mine.c", "--out", "runs"]), 2);
    assert!(said.contains("the folder is not empty"), "{said}");
}

/// A first look by rounds is near the score by packets and says what it is; what rounds refuse is by packets.
#[test]
fn rounds_screen_and_say_so() {
    let busy = suite("completion", "").replace("host_queue = ", "host_processing = \"1us\"\nhost_queue = ");
    // Long enough for cuts that packets make one by one (`reduction`) and rounds at once.
    let long = suite("completion", "").replace("200kB", "2MB");
    for (text, told) in [
        (long, "1 of 1 parts by rounds: confirm the score by packets"),
        (
            busy,
            "0 of 1 parts by rounds: confirm the score by packets; train.one is by packets: rounds cannot simulate \
             `host_processing`",
        ),
    ] {
        let dir = folder("one.toml", &text);
        let [packets, rounds] = ["packets", "rounds"].map(|fidelity| {
            evaluate(dir.path(), &["dctcp", "--suite", "one.toml", "--fidelity", fidelity]).0
        });
        assert!(packets["artifacts"].get("fidelity").is_none(), "{packets}");
        assert_eq!(self::text(&rounds, "fidelity"), told);
        let [first, confirmed] =
            [&rounds, &packets].map(|own| own["combined_score"].as_f64().expect("a number"));
        let by_packets = told.starts_with('0');
        assert_eq!(first == confirmed, by_packets, "{first}, {confirmed}");
        assert!((first / confirmed - 1.0).abs() < 0.05, "{first}, {confirmed}");
    }
}

#[test]
fn the_table_is_for_people() {
    let dir = folder("one.toml", &suite("optimum", ""));
    let output = run(dir.path(), &["dctcp", "--suite", "one.toml"]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let table = String::from_utf8(output.stdout).expect("UTF-8");
    for part in ["dctcp · one.toml, split train", "train.one  0.", "score: 0.", "worst: train.one (0."] {
        assert!(table.contains(part), "{part}: {table}");
    }
}

/// A candidate that a search may come up with has no score, and the search reads why.
#[test]
fn what_breaks_its_contract_is_invalid() {
    let reno = own_controller();
    let head = "static u64 increase(const struct subflow *s)\n{\n";
    let body = reno.find(head).expect("its one function") + head.len();
    let with = |statement: &str| format!("{}{statement}{}", &reno[..body], &reno[body..]);
    for (what, candidate, told) in [
        ("no C", "CONTROLLER(mine, nothing".to_owned(), "it does not compile"),
        ("no controller", "int x;\n".to_owned(), "no controller is declared"),
        (
            "the name is taken",
            reno.replace("CONTROLLER(mine", "CONTROLLER(xmp"),
            "there is already a controller `xmp`",
        ),
        (
            "divides by 0",
            with("\tstatic volatile u32 zero;\n\tif (zero == 0) return 1000 / zero;\n"),
            "divides by 0",
        ),
        ("never returns", with("\tstatic volatile u32 zero;\n\twhile (zero == 0);\n"), "breaks `returns`"),
    ] {
        let dir = folder("mine.c", &candidate);
        let (evaluation, code) = evaluate(dir.path(), &["mine.c"]);
        assert_eq!(code, Some(0), "{what}: {evaluation}");
        assert_eq!(evaluation["status"], "invalid", "{what}: {evaluation}");
        assert_eq!(evaluation["combined_score"], 0.0, "{what}");
        assert!(text(&evaluation, "error").contains(told), "{what}: {evaluation}");
    }
    // No port of its fabrics tells what HOLNET-UTA asks for: that is no mistake of the suite.
    let (evaluation, code) = evaluate(Path::new("."), &["holnet_uta"]);
    assert_eq!((code, &evaluation["status"]), (Some(0), &"invalid".into()), "{evaluation}");
    let dir = folder("mine.c", &with("\tstatic volatile u32 zero;\n\tif (zero == 0) return 1000 / zero;\n"));
    let said = fails(tresse(dir.path()).args(["evaluate", "mine.c"]), 1);
    assert!(said.contains("mine breaks `returns`: divides by 0"), "{said}");
    // The hint speaks of a script above it.
    let script = said.find("\nack ").or_else(|| said.find("ack "));
    assert!(script.is_some_and(|at| said.find("the script above").is_some_and(|hint| at < hint)), "{said}");
}

#[test]
fn a_wrong_suite_is_told_with_its_place() {
    let good = suite("makespan", "");
    for (wrong, told) in [
        (
            good.replace("[[experiments]]\n", "[[experiments]]\nseed = \"x\"\n"),
            ["suite.toml:4:8", "invalid type"],
        ),
        (good.replace("measure = \"makespan\"", "measure = \"speed\""), ["suite.toml:5:11", "`optimum`"]),
        (good.replace("measure = \"makespan\"\n", ""), ["suite.toml:3:1", "`measure` is missing"]),
        (
            good.replace("measure", "like = \"two\"\nmeasure"),
            ["suite.toml:3:1", "no experiment above it has that name"],
        ),
        (good.replace("schemes.candidate", "schemes.other"), ["suite.toml:3:1", "has no scheme `candidate`"]),
        (good.replace("measure", "weight = -1\nmeasure"), ["suite.toml:3:1", "must be at least 0"]),
        (good.replace("measure", "weight = 0\nmeasure"), ["suite.toml", "has a weight above 0"]),
        (good.replace("servers = 2", "servers = 200"), ["suite.toml (one)", "servers"]),
        (
            good.replace("size = \"200kB\"", "size = [\"1kB\", \"2kB\"]").replace("incast", "nothing"),
            ["(one)", "nothing"],
        ),
    ] {
        let dir = folder("suite.toml", &wrong);
        let (evaluation, code) = evaluate(dir.path(), &["reno", "--suite", "suite.toml"]);
        assert_eq!((code, &evaluation["status"]), (Some(2), &"error".into()), "{evaluation}");
        assert_eq!(evaluation["combined_score"], 0.0);
        for part in told {
            assert!(text(&evaluation, "error").contains(part), "{part}: {}", text(&evaluation, "error"));
        }
    }
    let dir = TempDir::new().expect("a temporary folder");
    let said = fails(tresse(dir.path()).args(["evaluate", "reno", "--suite", "smok"]), 2);
    assert!(said.contains("there is no suite `smok`") && said.contains("did you mean `smoke`"), "{said}");
    let said = fails(tresse(dir.path()).args(["evaluate", "none.c"]), 2);
    assert!(said.contains("none.c"), "{said}");
}

/// Two messages of 200 kB are 139 packets each, with 52 bytes of headers: (200000 + 139 x 52) x 2 x 8 bits at 1 Gbit/s. One
/// packet alone takes its ideal time. Two hosts of a rack share the one link that leads out of it.
#[test]
fn the_ceilings_are_those_that_one_works_out() {
    let worst = |suite: &str| {
        let dir = folder("suite.toml", suite);
        let (evaluation, _) = evaluate(dir.path(), &["dctcp", "--suite", "suite.toml"]);
        let score = evaluation["combined_score"].as_f64().expect("a number");
        assert!(score > 0.0, "{evaluation}");
        (score, text(&evaluation, "worst").to_owned())
    };
    let (score, rounds) = worst(&suite("makespan", ""));
    assert!(score < 1.0 && rounds.ends_with("its busiest link needs 3.316 ms"), "{rounds}");
    let one = suite("completion", "").replace("servers = 2", "servers = 1").replace("200kB", "1kB");
    assert_eq!(worst(&one).0, 1.0);
    let (score, lasting) = worst(&suite("optimum", "").replace("permutation", "rack-to-rack"));
    assert!(score < 1.0 && lasting.ends_with("the optimum is 500.0"), "{lasting}");
}

/// The busiest link gets wider during the run, so that its round takes less than the ceiling knows of.
#[test]
fn what_is_above_its_ceiling_is_an_error() {
    let change = "\n[[experiments.define.changes]]\nat = \"100us\"\nlink = [\"leaf 0\", \"host 0\"]\nrate = \"10Gbps\"\n";
    let dir = folder("suite.toml", &suite("makespan", change));
    let (evaluation, code) = evaluate(dir.path(), &["reno", "--suite", "suite.toml"]);
    assert_eq!((code, &evaluation["status"]), (Some(1), &"error".into()), "{evaluation}");
    assert!(text(&evaluation, "error").contains("above the ceiling of 1"), "{evaluation}");
}
