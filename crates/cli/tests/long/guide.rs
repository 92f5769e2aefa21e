//! docs/controllers.md: its commands are run, in order, and must print what it shows.
//!
//! A block ```` ```console ```` has commands (`$ `; a `\` at the end goes on in the next line) and
//! what they print; `? 1` after a command is an exit code other than 0. `[..]` stands for any part of
//! a line, and a line `...` for any lines. A block ```` ```console root ```` runs where eBPF can be
//! loaded; its numbers are the kernel's affair, so any will do.

use std::fs;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use crate::attached::{Detached, kernel_is_here};

const DOCS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs");

/// Writes what the commands print into the page, where it differs.
const UPDATE: &str = "TRESSE_UPDATE_DOCS";

/// The page's controller.
const NAME: &str = "gentle";

/// One command with what the page says of it.
struct Shown {
    /// The line of the page where its output begins, from 0, and how many lines it has there.
    lines: (usize, usize),
    command: String,
    exit_code: i32,
    output: Vec<String>,
    root: bool,
}

fn shown(page: &str) -> Vec<Shown> {
    let mut all: Vec<Shown> = Vec::new();
    let mut block = None; // whether it needs root
    let mut goes_on = false;
    for (i, line) in page.lines().enumerate() {
        if let Some(info) = line.strip_prefix("```") {
            block = info.strip_prefix("console").filter(|_| block.is_none()).map(|rest| rest == " root");
            continue;
        }
        let Some(root) = block else { continue };
        if let Some(command) = line.strip_prefix("$ ") {
            let command = command.to_owned();
            all.push(Shown { lines: (i + 1, 0), command, exit_code: 0, output: Vec::new(), root });
        } else if goes_on {
            let last = all.last_mut().expect("a line goes on");
            last.command = format!("{}\n{line}", last.command);
            last.lines.0 = i + 1;
        } else {
            let last = all.last_mut().expect("a block begins with a command");
            match line.strip_prefix("? ") {
                Some(code) => {
                    last.exit_code = code.parse().expect("an exit code");
                    last.lines.0 = i + 1;
                }
                None => {
                    last.output.push(line.to_owned());
                    last.lines.1 += 1;
                }
            }
        }
        goes_on = (goes_on || line.starts_with("$ ")) && line.ends_with('\\');
    }
    all
}

/// Whether `lines` are what `expected` says, wildcards included.
fn matches(expected: &[String], lines: &[String]) -> bool {
    let Some((first, rest)) = expected.split_first() else { return lines.is_empty() };
    if first == "..." {
        return (0..=lines.len()).any(|skipped| matches(rest, &lines[skipped..]));
    }
    lines.split_first().is_some_and(|(line, lines)| line_matches(first, line) && matches(rest, lines))
}

fn line_matches(expected: &str, line: &str) -> bool {
    match expected.split_once("[..]") {
        None => expected == line,
        Some((before, after)) => line.strip_prefix(before).is_some_and(|rest| {
            (0..=rest.len()).any(|i| rest.get(i..).is_some_and(|r| line_matches(after, r)))
        }),
    }
}

/// `line` with every number 0 and every gap one space.
pub fn without_numbers(line: &str) -> String {
    let mut out = String::new();
    for c in line.chars() {
        let c = if c.is_ascii_digit() { '0' } else { c };
        if !((c == '0' || c == ' ') && out.ends_with(c)) {
            out.push(c);
        }
    }
    out
}

/// The examples under `name`: the kernel knows one control of a name, whoever runs tests beside us.
fn copy_of_examples(to: &Path, name: &str) {
    fs::create_dir(to.join("examples")).expect("a folder");
    for entry in fs::read_dir(Path::new(DOCS).join("examples")).expect("the examples are there") {
        let path = entry.expect("the examples can be read").path();
        let file = path.file_name().expect("a file has a name").to_string_lossy().replace(NAME, name);
        let text = fs::read_to_string(&path).expect("an example is text").replace(NAME, name);
        fs::write(to.join("examples").join(file), text).expect("the folder can be written");
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "how a developer asks for the page, and where programs are")]
fn the_guide_s_commands_print_what_it_shows() {
    let page_file = Path::new(DOCS).join("controllers.md");
    let page = fs::read_to_string(&page_file).expect("the page is there");
    let dir = TempDir::new().expect("a temporary folder");
    // As long as the page's, so that columns stay.
    let name = format!("g{:05x}", std::process::id() & 0xf_ffff);
    copy_of_examples(dir.path(), &name);
    let binary = assert_cmd::cargo::cargo_bin("tresse");
    let folder = binary.parent().expect("a file lies in a folder").display();
    let path = format!("{folder}:{}", std::env::var("PATH").expect("there is a path"));
    let update = std::env::var(UPDATE).is_ok();
    let kernel = kernel_is_here();
    let kernel_name = format!("tr_{name}");
    let _guard = kernel.then(|| Detached(&kernel_name));

    let mut lines: Vec<String> = page.lines().map(str::to_owned).collect();
    let all = shown(&page);
    assert!(all.len() > 5, "the page shows commands");
    let (mut wrong, mut moved) = (Vec::new(), 0_isize);
    for shown in all.iter().filter(|shown| kernel || !shown.root) {
        let output = Command::new("sh")
            .args(["-c", &format!("({}) 2>&1", shown.command.replace(NAME, &name))])
            .current_dir(dir.path())
            .env("PATH", &path)
            .output()
            .expect("a shell");
        let text = String::from_utf8(output.stdout).expect("output is UTF-8").replace(&name, NAME);
        let said: Vec<&str> = text.lines().collect();
        let code = output.status.code();
        assert_eq!(code, Some(shown.exit_code), "line {}: {}\n{text}", shown.lines.0, shown.command);
        let compared = |line: &str| if shown.root { without_numbers(line) } else { line.to_owned() };
        let expected: Vec<String> = shown.output.iter().map(|line| compared(line)).collect();
        if matches(&expected, &said.iter().map(|line| compared(line)).collect::<Vec<_>>()) {
            continue;
        }
        let (first, count) = (shown.lines.0.wrapping_add_signed(moved), shown.lines.1);
        lines.splice(first..first + count, said.iter().map(|&line| line.to_owned()));
        moved += said.len() as isize - count as isize;
        wrong.push(format!("line {}: $ {}\n{text}", shown.lines.0, shown.command));
    }
    if update {
        fs::write(page_file, lines.join("\n") + "\n").expect("the page can be written");
        return;
    }
    assert!(
        wrong.is_empty(),
        "docs/controllers.md shows something else than:\n{}\n\
         hint: {UPDATE}=1 cargo test -p tresse --test it guide writes it; then put `[..]` back",
        wrong.join("\n")
    );
}

#[test]
fn wildcards_match_what_they_should() {
    let matching = |expected: &str, text: &str| {
        let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
        matches(&lines(expected), &lines(text))
    };
    assert!(matching("a [..] c\n...\nz", "a b c\nd\ne\nz"));
    assert!(matching("...", ""));
    assert!(!matching("a [..] c", "a b d"));
    assert!(!matching("a", "a\nb"));
    assert!(!matching("a\n...\nz", "a\nb"));
    assert_eq!(without_numbers("grow   535  1346 B"), without_numbers("grow  12      7 B"));
    assert_ne!(without_numbers("grow   535  1346 B"), without_numbers("grow  12 B"));
}

#[test]
fn the_guide_names_every_exception_and_every_claim() {
    let page = fs::read_to_string(Path::new(DOCS).join("controllers.md")).expect("the page is there");
    let contract = include_str!("../../../../controllers/controller.h");
    let defined =
        contract.lines().filter_map(|line| line.strip_prefix("#define ")?.split_whitespace().next());
    let named = |name: &&str| name.starts_with("EXCEPTION_") || name.starts_with("CLAIM_");
    let names: Vec<&str> = defined.filter(named).collect();
    assert!(names.len() > 3, "{names:?}");
    for name in names {
        assert!(page.contains(&format!("| `{name}` |")), "{name}");
    }
}
