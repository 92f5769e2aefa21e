//! What the pages of `tresse explain` show can be copied: every example of a workload and of a size.

use std::fs;
use std::path::Path;

use tresse_experiment::{Plan, Profile, Source, load, resolve};

/// The indented blocks of a page that have a table of workloads.
fn examples(page: &str) -> Vec<String> {
    let mut blocks = vec![String::new()];
    for line in page.lines() {
        match line.strip_prefix("    ") {
            Some(code) => *blocks.last_mut().expect("one") += &format!("{code}\n"),
            None if line.is_empty() => *blocks.last_mut().expect("one") += "\n",
            None => blocks.push(String::new()),
        }
    }
    blocks.retain(|b| b.contains("[workloads.") || b.contains("[[workloads."));
    blocks
}

/// An example in a fat tree of 16 hosts, with schemes of the names that pages use.
fn plan(example: &str, folder: &Path) -> Result<Plan, String> {
    let table = tresse_experiment::find("xmp/table1").expect("built in").text;
    let fabric = &table[..table.find("[schemes.").expect("it has schemes")];
    let fabric = match example.contains("DN1") {
        false => fabric.replace("k = 8 ", "k = 4 "),
        true => fabric
            .replace("\"fat-tree\"", "\"xmp-testbed-a\"")
            .replace("k = 8 ", "")
            .replace(
                "delay = { rack = \"20us\", aggregation = \"30us\", core = \"40us\" }",
                "delay = \"20us\"",
            )
            .replace("distinct = \"core\"", ""),
    };
    let scheme = |name: &str, more: &str| match example.contains(&format!("[schemes.{name}]")) {
        true => String::new(),
        false => format!("[schemes.{name}]\n{more}\n"),
    };
    let mut text = fabric.to_owned()
        + &scheme("dctcp", "controller = \"dctcp\"")
        + &scheme("tcp", "controller = \"reno\"\naxis = false")
        + &scheme("xmp", "controller = \"xmp\"\nsubflows = 2\naxis = false")
        + example;
    // Some show a workload that goes on until something else ends.
    if let Some(at) = example.find("[workloads.").filter(|_| !example.contains(".parts.")) {
        let name = &example[at + "[workloads.".len()..];
        let name = &name[..name.find(']').expect("a table")];
        if !text.contains("duration =") && (example.contains("on-off") || example.contains("\"random\"")) {
            let from = format!("[workloads.{name}]\n");
            text = text.replace(&from, &format!("{from}duration = \"1s\"\n"));
        }
    }
    let name = folder.join("example.toml").display().to_string();
    let loaded = load(Source { name, text }, Profile::Full, &[]).map_err(|e| e.to_string())?;
    resolve(&loaded, &[]).map_err(|e| e.to_string())
}

#[test]
fn what_pages_show_can_be_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let files = [
        ("mine.csv", "from,to,size,start\n0,8,2MB,0s\n"),
        ("mine.cdf", "0 0\n1000 1\n"),
        // Two ranks without nodes: an empty message is their metadata.
        ("llama.0.et", "\0"),
        ("llama.1.et", "\0"),
        ("groups.json", "{\"1\": [0, 1]}"),
        (
            "lulesh.goal",
            "num_ranks 2\nrank 0 {\nl1: send 10b to 1 tag 7\n}\nrank 1 {\nl1: recv 10b from 0 tag 7\n}\n",
        ),
    ];
    for (name, text) in files {
        fs::write(folder.path().join(name), text).expect("a file");
    }
    let pages = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/explain");
    let mut seen = 0;
    for page in fs::read_dir(pages).expect("the pages") {
        let path = page.expect("a page").path();
        for example in examples(&fs::read_to_string(&path).expect("a page")) {
            seen += 1;
            if let Err(e) = plan(&example, folder.path()) {
                panic!("{}:\n{example}\n{e}", path.display());
            }
        }
    }
    assert!(seen >= 12, "{seen} examples of workloads");
}
