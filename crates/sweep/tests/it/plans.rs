use std::fs;
use std::path::Path;

use tempfile::tempdir;
use tresse_sweep::{Plan, Shard, Sweep};

use crate::{OWNERS, PLAN, Wrong, open, plan, refused, steps};

/// The settings of the points, in the plan's order.
fn points(designs: &str) -> Vec<String> {
    let dir = tempdir().expect("a folder");
    let sweep = open(&plan(designs), dir.path()).expect("it can be opened");
    let settings = |spec: String| {
        let spec: serde_json::Value = serde_json::from_str(&spec).expect("JSON");
        let all = spec["settings"].as_array().expect("settings").iter();
        all.map(|setting| setting.as_str().expect("text").to_owned()).collect::<Vec<_>>().join(" ")
    };
    sweep.todo().into_iter().map(|(_, spec)| settings(spec)).collect()
}

#[test]
fn designs_make_points() {
    assert_eq!(
        points(
            "[[designs]]\nkeys = { workloads = { long = { flows = [1, 2] } }, fabric = { mark = [\"5pkt\", \"6pkt\"] } }"
        ),
        [
            "fabric.mark=5pkt workloads.long.flows=1",
            "fabric.mark=6pkt workloads.long.flows=1",
            "fabric.mark=5pkt workloads.long.flows=2",
            "fabric.mark=6pkt workloads.long.flows=2",
        ]
    );
    assert_eq!(
        points(
            "[set]\n\"fabric.queue\" = \"90pkt\"\n[[designs]]\nkind = \"points\"\npoints = [{ \"workloads.long.flows\" = 3 }, {}]"
        ),
        ["fabric.queue=90pkt workloads.long.flows=3", "fabric.queue=90pkt"]
    );
    assert_eq!(
        points(
            "[[designs]]\nkind = \"sobol\"\npoints = 4\n\
             keys = { \"workloads.long.flows\" = { from = 1, to = 8 }, \"fabric.mark\" = [\"5pkt\", \"6pkt\"] }"
        ),
        [
            "fabric.mark=5pkt workloads.long.flows=1",
            "fabric.mark=5pkt workloads.long.flows=3",
            "fabric.mark=6pkt workloads.long.flows=5",
            "fabric.mark=6pkt workloads.long.flows=7",
        ]
    );
    // A point that two designs have is one.
    let twice = "[[designs]]\nkeys = { \"workloads.long.flows\" = [1, 2] }\n";
    assert_eq!(points(&format!("{twice}{twice}")).len(), 2);
}

#[test]
fn what_is_wrong_with_a_plan_is_told_with_its_place() {
    for (designs, wanted) in [
        ("", "the plan has no points"),
        ("[[designs]]\nkeys = { \"fabric.marks\" = [1, 2] }", "marks"),
        ("[[designs]]\nkeys = { \"fabric.mark\" = [\"5 apples\"] }", "apples"),
        ("[[designs]]\nkeys = { \"workloads.long.flows\" = { from = 1 } }", "the range has no `to`"),
        (
            "[[designs]]\nkeys = { \"workloads.long.flows\" = { from = 1, to = 4 } }",
            "the range needs `steps`",
        ),
        (
            "[[designs]]\nkind = \"sobol\"\nkeys = { \"workloads.long.flows\" = [1] }",
            "the number of points is missing",
        ),
        ("[[designs]]\nkind = \"points\"", "a design of points needs `points`"),
        (
            "[[designs]]\nkind = \"grid\"\nseed = 3\nkeys = { \"workloads.long.flows\" = [1] }",
            "has no `seed`",
        ),
        ("[only]\nscheme = \"xmp\"\n[[designs]]\nkeys = { \"workloads.long.flows\" = [1] }", "xmp"),
        ("[set]\n\"fabric.pears\" = 1\n[[designs]]\nkeys = { \"workloads.long.flows\" = [1] }", "pears"),
    ] {
        let dir = tempdir().expect("a folder");
        let error = refused(&plan(designs), dir.path());
        assert!(error.0.contains(wanted), "{designs}: {error:?}");
        assert!(error.0.contains("plan.toml"), "{designs}: {error:?}");
        if !designs.is_empty() {
            assert!(error.0.contains("plan.toml:"), "it has no place: {error:?}");
        }
    }
    let error = Plan::parse("plan.toml", format!("colour = 3\n{PLAN}")).expect_err("there is no such key");
    assert!(error.to_string().contains("colour"), "{error}");
}

#[test]
fn files_lie_beside_the_plan() {
    let dir = tempdir().expect("a folder");
    let text = PLAN.split_once("[experiment]").expect("a plan").1.replace("[experiment.", "[");
    fs::write(dir.path().join("small.toml"), text).expect("it can be written");
    let name = dir.path().join("plan.toml").display().to_string();
    let text =
        "experiment = \"small.toml\"\n[[designs]]\nkeys = { \"workloads.long.flows\" = [1] }".to_owned();
    let plan = Plan::parse(&name, text.clone()).expect("the plan can be read");
    open(&plan, &dir.path().join("out")).expect("it can be opened");
    let plan = Plan::parse(&name, text.replace("small", "smell")).expect("the plan can be read");
    let error = refused(&plan, &dir.path().join("other"));
    assert!(error.0.contains("plan.toml:1"), "{error:?}");
    assert!(error.0.contains("smell.toml"), "{error:?}");
}

#[test]
fn a_folder_with_something_else_is_left_alone() {
    let dir = tempdir().expect("a folder");
    fs::write(dir.path().join("thesis.tex"), "years of work").expect("it can be written");
    let error = refused(&plan("[[designs]]\nkeys = { \"workloads.long.flows\" = [1] }"), dir.path());
    assert!(error.0.contains("is not empty and has no sweep"), "{error:?}");
}

#[test]
fn a_shard_is_one_of_several() {
    for wrong in ["0/3", "4/3", "1", "a/b", "1/0", ""] {
        assert!(wrong.parse::<Shard>().is_err(), "{wrong}");
    }
    let shard: Shard = "3/10".parse().expect("a shard");
    assert_eq!(shard.to_string(), "3/10");
    let error = Sweep::open::<Wrong>(
        &plan("[[designs]]\nkeys = { \"workloads.long.flows\" = [1] }"),
        OWNERS,
        None,
        Some(shard),
        &mut steps,
    );
    assert!(error.is_err_and(|error| error.0.contains("--out DIR")));
    let error = tresse_sweep::merge(Path::new("/nowhere/at/all")).expect_err("there is nothing");
    assert!(error.to_string().contains("cannot be read"), "{error}");
}
