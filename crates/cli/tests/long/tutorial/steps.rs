//! What a page asks its reader to do, in order: the blocks that a test can carry out.

/// A step of a page. Lines are counted from 0.
pub enum Step {
    /// A file that the reader writes.
    Write {
        name: String,
        text: String,
    },
    /// A file that the reader changes: lines of a diff without line numbers.
    Change {
        name: String,
        lines: Vec<String>,
    },
    Run(Run),
}

/// Commands with what the page says of them.
pub struct Run {
    pub line: usize,
    pub script: String,
    pub exit_code: i32,
    /// What the page shows that they print, and the line of the page where it begins.
    pub output: Option<(usize, Vec<String>)>,
}

/// What a comment above a block says to the test.
enum Note {
    Skip,
    With(String),
    Exit(i32),
    /// What is shown is what was printed once.
    Differs,
}

/// The comment that makes a page one for root on a machine with eBPF and MPTCP.
pub const NEEDS_ROOT: &str = "<!-- test: needs root, eBPF, MPTCP and iperf3 -->";

/// The steps of a page.
///
/// # Panics
/// If the page does not keep to the convention, which ../tutorial.rs has.
pub fn steps(page: &str) -> Vec<Step> {
    let lines: Vec<&str> = page.lines().collect();
    let mut steps = Vec::new();
    let mut note = None;
    // Whether the output below belongs to commands that are run.
    let mut output_is_of = Kind::Other;
    let mut at = 0;
    while at < lines.len() {
        let line = lines[at];
        at += 1;
        let Some(info) = line.strip_prefix("```") else {
            if let Some(text) = line.strip_prefix("<!-- test: ").filter(|_| line != NEEDS_ROOT) {
                note = Some(read_note(text.strip_suffix(" -->").expect("a comment ends in its line")));
            } else {
                assert!(note.is_none(), "line {at}: a block comes right below its comment");
                assert!(!is_hidden(line), "line {at}: commands belong in a block ```sh: {line}");
            }
            continue;
        };
        let first = at;
        let length = lines[at..].iter().position(|l| *l == "```").expect("a block ends");
        at += length + 1;
        let text: Vec<String> = lines[first..first + length].iter().map(|&l| l.to_owned()).collect();
        let (language, title) = info.split_once(" title=").unwrap_or((info, ""));
        let name = title.trim_matches('"').to_owned();
        output_is_of = match (language, note.take()) {
            ("sh", note) => match run(first, text, note) {
                Some(run) => {
                    steps.push(Step::Run(run));
                    Kind::Run
                }
                None => Kind::Skipped,
            },
            ("text", None | Some(Note::Differs)) if matches!(output_is_of, Kind::Other) => {
                panic!("line {first}: an output comes after its commands")
            }
            ("text", Some(Note::Differs)) => Kind::Other,
            ("text", None) => {
                if let (Kind::Run, Some(Step::Run(run))) = (output_is_of, steps.last_mut()) {
                    run.output = Some((first, text));
                }
                Kind::Other
            }
            ("console" | "bash" | "shell", _) => panic!("line {first}: commands are ```sh here"),
            ("diff", None) if !name.is_empty() => {
                steps.push(Step::Change { name, lines: text });
                Kind::Other
            }
            (_, None) if !name.is_empty() => {
                steps.push(Step::Write { name, text: text.join("\n") + "\n" });
                Kind::Other
            }
            (_, None) => Kind::Other,
            (_, Some(_)) => panic!("line {first}: only commands and outputs have a comment"),
        };
    }
    steps
}

/// What the block above was.
#[derive(Clone, Copy)]
enum Kind {
    Run,
    Skipped,
    Other,
}

/// Commands that no test would see.
fn is_hidden(line: &str) -> bool {
    let indented = line.strip_prefix("    ").or_else(|| line.strip_prefix('\t'));
    indented.is_some_and(|code| code.starts_with("tresse ") || code.starts_with("make "))
}

fn read_note(text: &str) -> Note {
    let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
    match word {
        "skip," if !rest.is_empty() => Note::Skip,
        "with" => Note::With(rest.to_owned()),
        "exit" => Note::Exit(rest.parse().expect("an exit code")),
        "differs" => Note::Differs,
        _ => panic!("`{text}`: a comment is `skip, REASON`, `with FLAGS`, `exit CODE` or `differs …`"),
    }
}

fn run(line: usize, text: Vec<String>, note: Option<Note>) -> Option<Run> {
    let mut run = Run { line, script: text.join("\n"), exit_code: 0, output: None };
    match note {
        Some(Note::Skip) => return None,
        Some(Note::With(flags)) => run.script = format!("{} {flags}", run.script),
        Some(Note::Exit(code)) => run.exit_code = code,
        Some(Note::Differs) => panic!("line {line}: it is outputs that differ"),
        None => {}
    }
    Some(run)
}

/// `text` with the change that `diff` shows: lines that begin with a space or `-` become those that begin
/// with a space or `+`.
///
/// # Panics
/// If the old lines are not there once.
pub fn changed(text: &str, diff: &[String]) -> String {
    let side = |sign: char| {
        let kept = diff.iter().filter(|l| l.is_empty() || l.starts_with([' ', sign]));
        kept.map(|line| format!("{}\n", line.get(1..).unwrap_or(""))).collect::<String>()
    };
    let (old, new) = (side('-'), side('+'));
    assert_eq!(text.matches(&old).count(), 1, "the page changes what is not there once:\n{old}");
    text.replace(&old, &new)
}
