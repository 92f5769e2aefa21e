//! README.md and docs/tutorial: their commands are run, in order, and must print what the pages show.
//!
//! Each page has a folder of its own. A block ```` ```sh ```` is commands, and a block ```` ```text ````
//! below it what they print; there `…` stands for any part of a line, a line `…` for any lines, and times
//! may differ. A block with `title="FILE"` is a file that the reader writes, and ```` ```diff title="FILE" ````
//! a change of it. A comment right above commands says what the test does otherwise:
//!
//! - `<!-- test: skip, REASON -->`: it does not run them;
//! - `<!-- test: with FLAGS -->`: it adds this to the last one, to make it shorter;
//! - `<!-- test: exit CODE -->`: they end with this code;
//! - `<!-- test: differs from run to run -->`, above an output: it is not compared.

mod steps;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use tempfile::TempDir;

use self::steps::{NEEDS_ROOT, Run, Step, changed, steps};
use crate::attached::{Detached, kernel_is_here, say};
use crate::guide::without_numbers;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Writes the numbers that the commands print into the pages.
const UPDATE: &str = "TRESSE_UPDATE_DOCS";

/// What the page for root calls its namespaces and its controller.
const LESSON: &str = "lesson";

#[test]
fn the_readme() {
    follow("README.md", LESSON);
}

#[test]
fn first_run() {
    follow("docs/tutorial/first-run.md", LESSON);
}

#[test]
fn my_controller() {
    follow("docs/tutorial/my-controller.md", LESSON);
}

#[test]
fn my_fabric() {
    follow("docs/tutorial/my-fabric.md", LESSON);
}

#[test]
fn my_cluster() {
    follow("docs/tutorial/my-cluster.md", LESSON);
}

#[test]
fn on_linux() {
    let missing: Vec<&str> = ["ip", "mptcpize", "iperf3"].into_iter().filter(|p| !starts(p)).collect();
    if !Path::new("/proc/sys/net/mptcp/enabled").exists() {
        say("skipped: docs/tutorial/on-linux.md needs a kernel with MPTCP");
    } else if !missing.is_empty() {
        say(&format!("skipped: docs/tutorial/on-linux.md needs {}", missing.join(", ")));
    } else if kernel_is_here() {
        // As long as the page's, so that columns stay; the machine knows one of a name.
        let name = format!("l{:05x}", std::process::id() & 0xf_ffff);
        let _namespaces = Namespaces(&name);
        let kernel_name = format!("tr_{name}");
        let _controller = Detached(&kernel_name);
        follow("docs/tutorial/on-linux.md", &name);
    }
}

#[test]
fn every_lesson_is_followed() {
    let this = include_str!("tutorial.rs");
    for entry in fs::read_dir(Path::new(ROOT).join("docs/tutorial")).expect("the tutorial is there") {
        let file = entry.expect("it can be read").file_name().into_string().expect("a name in UTF-8");
        if !file.ends_with(".md") {
            continue;
        }
        let page = fs::read_to_string(Path::new(ROOT).join("docs/tutorial").join(&file)).expect("a page");
        if steps(&page).iter().any(|step| matches!(step, Step::Run(_))) {
            assert!(this.contains(&format!("follow(\"docs/tutorial/{file}\"")), "{file}");
        }
        assert_eq!(page.contains(NEEDS_ROOT), file == "on-linux.md", "{file}");
    }
}

#[test]
fn an_output_matches_with_gaps_and_other_times() {
    let matching = |expected: &str, printed: &str| {
        let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
        matches(&lines(expected), &lines(printed))
    };
    assert!(matching("a … c\n…\nz", "a b c\nd\ne\nz"));
    assert!(matching("3 flows in 0.4 s", "3 flows in 12 s"));
    assert!(matching("took 1 min 3 s", "took 2.5 s"));
    assert!(!matching("3 flows in 0.4 s", "4 flows in 0.4 s"));
    assert!(!matching("a\n…\nz", "a\nb"));
    assert!(!matching("a", "a\nb"));
}

/// Carries a page out. `name` is what the test calls what the page calls `lesson`.
#[expect(clippy::disallowed_methods, reason = "how a developer asks for the page, and where programs are")]
fn follow(page: &str, name: &str) {
    let file = Path::new(ROOT).join(page);
    let text = fs::read_to_string(&file).expect("the page is there");
    let dir = TempDir::new().expect("a temporary folder");
    let binary = assert_cmd::cargo::cargo_bin("tresse");
    let folder = binary.parent().expect("a file lies in a folder").display();
    let path = format!("{folder}:{}", std::env::var("PATH").expect("there is a path"));
    let update = std::env::var(UPDATE).is_ok();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let mut wrong = Vec::new();
    for step in steps(&text) {
        match step {
            Step::Write { name, text } => fs::write(dir.path().join(name), text).expect("a file"),
            Step::Change { name, lines } => {
                let file = dir.path().join(name);
                let text = fs::read_to_string(&file).expect("the page has a file to change");
                fs::write(&file, changed(&text, &lines)).expect("a file");
            }
            Step::Run(run) => {
                let printed = output(&run, dir.path(), &path, name).unwrap_or_else(|why| {
                    panic!("{page}:{}: {}\n{why}", run.line, run.script);
                });
                let Some((first, shown)) = &run.output else { continue };
                if matches(shown, &printed) {
                    continue;
                }
                let at = shown.iter().position(|line| !printed.iter().any(|p| line_matches(line, p)));
                let at = first + 1 + at.unwrap_or(0);
                wrong.push(format!("{page}:{at}: {}\nprints\n{}", run.script, printed.join("\n")));
                for (place, line) in lines[*first..].iter_mut().take(shown.len()).enumerate() {
                    *line = renewed(shown, place, &printed);
                }
            }
        }
    }
    if update && !wrong.is_empty() {
        fs::write(file, lines.join("\n") + "\n").expect("the page can be written");
    }
    assert!(
        wrong.is_empty(),
        "{}\n\nhint: {UPDATE}=1 cargo test -p tresse --test long tutorial writes the numbers that have \
         changed; other words are yours to write",
        wrong.join("\n\n")
    );
}

/// What commands print, on both streams.
fn output(run: &Run, dir: &Path, path: &str, name: &str) -> Result<Vec<String>, String> {
    let output = Command::new("sh")
        .args(["-ec", &format!("exec 2>&1\n{}", run.script.replace(LESSON, name))])
        .current_dir(dir)
        .env("PATH", path)
        .stdin(Stdio::null())
        .output()
        .expect("a shell");
    let text = String::from_utf8(output.stdout).expect("output is UTF-8").replace(name, LESSON);
    match output.status.code() {
        code if code == Some(run.exit_code) => {
            Ok(text.trim_end().lines().map(|l| l.trim_end().to_owned()).collect())
        }
        code => Err(format!("ends with {code:?} instead of {}:\n{text}", run.exit_code)),
    }
}

/// Whether `printed` is what a page shows.
fn matches(shown: &[String], printed: &[String]) -> bool {
    let Some((first, rest)) = shown.split_first() else { return printed.is_empty() };
    if first.trim() == "…" {
        return (0..=printed.len()).any(|skipped| matches(rest, &printed[skipped..]));
    }
    printed.split_first().is_some_and(|(line, printed)| line_matches(first, line) && matches(rest, printed))
}

fn line_matches(shown: &str, printed: &str) -> bool {
    fn gaps(shown: &str, printed: &str) -> bool {
        match shown.split_once('…') {
            None => shown == printed,
            Some((before, after)) => printed.strip_prefix(before).is_some_and(|rest| {
                (0..=rest.len()).any(|i| rest.get(i..).is_some_and(|rest| gaps(after, rest)))
            }),
        }
    }
    gaps(&without_times(shown.trim_end()), &without_times(printed))
}

/// `line` without its times, such as `0.4 s` or `1 min 3 s`.
fn without_times(line: &str) -> String {
    let words: Vec<&str> = line.split(' ').collect();
    let number = |word: &str| word.parse::<f64>().is_ok();
    let unit = |word: &str| ["s", "min", "h"].contains(&word.trim_end_matches([',', ';', '.']));
    let mut kept = Vec::new();
    let mut at = 0;
    while at < words.len() {
        if number(words[at]) && words.get(at + 1).is_some_and(|word| unit(word)) {
            if kept.last() != Some(&"TIME") {
                kept.push("TIME");
            }
            at += 2;
        } else {
            kept.push(words[at]);
            at += 1;
        }
    }
    kept.join(" ")
}

/// The printed line that differs from the shown one in its numbers only, or the shown one.
fn renewed(shown: &[String], place: usize, printed: &[String]) -> String {
    let line = &shown[place];
    let is_alike = |own: &&String| without_numbers(own) == without_numbers(line);
    let alike: Vec<&String> = printed.iter().filter(is_alike).collect();
    let before = shown[..place].iter().filter(is_alike).count();
    let of_page = shown.iter().filter(is_alike).count();
    match alike.get(before) {
        Some(own) if alike.len() == of_page && !printed.iter().any(|own| line_matches(line, own)) => {
            (*own).clone()
        }
        _ => line.clone(),
    }
}

fn starts(program: &str) -> bool {
    let found = Command::new("sh").args(["-c", &format!("command -v {program}")]).output();
    found.is_ok_and(|output| output.status.success())
}

/// Removes the network namespaces of a name at the end, however the test ends.
struct Namespaces<'a>(&'a str);

impl Drop for Namespaces<'_> {
    fn drop(&mut self) {
        let remove = format!(
            "for n in $(ip netns list | cut -d ' ' -f 1 | grep '^{}-'); do ip netns delete $n; done",
            self.0
        );
        let _ = Command::new("sh").args(["-c", &remove]).status();
    }
}
