//! The text of a controller as Eva gets it, and what can be seen there only.

use std::path::Path;

use tresse_controllers::{Controller, headers, included};

use super::Open;

/// The contract's own headers, which are read as they are.
const CONTRACT: [&str; 3] = ["controller.h", "fix.h", "law.h"];

/// A file that a controller consists of.
pub(super) struct Part {
    /// The name under which it is included.
    pub name: String,
    /// The name to show.
    pub shown: String,
    pub text: String,
}

/// The controller's file, then the headers that it may include.
pub(super) fn parts(controller: &Controller) -> Vec<Part> {
    let name_of = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let file = controller.source_file();
    let mut parts = vec![Part {
        name: name_of(file),
        shown: file.display().to_string(),
        text: controller.text().to_owned(),
    }];
    if let Some(own) = controller.file() {
        parts.extend(included(own).into_iter().map(|(path, text)| Part {
            name: name_of(&path),
            shown: path.display().to_string(),
            text,
        }));
    }
    for (name, text) in headers() {
        // A header beside the user's file is found first.
        if parts.iter().all(|part| part.name != *name) {
            parts.push(Part {
                name: (*name).to_owned(),
                shown: format!("controllers/{name}"),
                text: (*text).to_owned(),
            });
        }
    }
    parts
}

impl Part {
    /// The text for Eva: `a->delivered` is a variable of host.h there.
    pub(super) fn for_eva(&self) -> String {
        if CONTRACT.contains(&&*self.name) {
            return self.text.clone();
        }
        let mut text = String::with_capacity(self.text.len());
        for piece in self.text.split_inclusive("a->delivered") {
            match piece.strip_suffix("a->delivered") {
                Some(before) if !before.ends_with(is_of_name) => {
                    text += before;
                    text += "delivered_now";
                }
                _ => text += piece,
            }
        }
        text
    }

    fn includes(&self) -> impl Iterator<Item = &str> {
        self.text.lines().filter_map(|line| line.strip_prefix("#include \"")?.split('"').next())
    }
}

fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// The statements that set a window themselves, not by the functions of controller.h: of those host.h knows
/// nothing.
pub(super) fn direct_writes(controller: &Controller) -> Vec<Open> {
    let parts = parts(controller);
    let mut reached = vec![0];
    let mut next = 0;
    while let Some(&at) = reached.get(next) {
        let found = parts[at].includes().filter_map(|name| parts.iter().position(|part| part.name == name));
        for part in found {
            if !reached.contains(&part) && !CONTRACT.contains(&&*parts[part].name) {
                reached.push(part);
            }
        }
        next += 1;
    }
    let written = |part: &Part| {
        let lines = part.text.lines().zip(1..).filter(|(text, _)| writes_window(text));
        let open = |(text, line): (&str, u32)| Open {
            file: part.shown.clone(),
            line: Some(line),
            condition: text.trim().to_owned(),
        };
        lines.map(open).collect::<Vec<_>>()
    };
    reached.into_iter().flat_map(|at| written(&parts[at])).collect()
}

/// Whether a line assigns to a field `cwnd`, or takes its address.
fn writes_window(line: &str) -> bool {
    let field = "cwnd";
    line.match_indices(field).any(|(at, _)| {
        let (before, after) = (&line[..at], line[at + field.len()..].trim_start());
        let Some(object) = before.strip_suffix("->").or_else(|| before.strip_suffix('.')) else {
            return false;
        };
        let start = object.trim_end_matches(is_of_name).trim_end();
        let moved = ["++", "--"].iter().any(|op| start.ends_with(op) || after.starts_with(op));
        let taken = start.ends_with('&') && !start.ends_with("&&");
        let operator = after.trim_start_matches(['+', '-', '*', '/', '%', '&', '|', '^', '<', '>']);
        let compared =
            after.starts_with(['<', '>']) && !after.starts_with("<<=") && !after.starts_with(">>=");
        let assigned = operator.starts_with('=') && !operator.starts_with("==") && !compared;
        !after.starts_with(is_of_name) && (moved || taken || assigned)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_of_the_window_are_seen() {
        for line in
            ["s->cwnd = 1;", "s->cwnd += x;", "s->cwnd<<=1;", "s->cwnd--;", "++s->cwnd;", "f(&s->cwnd);"]
        {
            assert!(writes_window(line), "{line}");
        }
        for line in
            ["if (s->cwnd == 1)", "x = s->cwnd;", "s->cwnd <= x", "s->cwnd >= x", "a && s->cwnd", "cwnd = 1;"]
        {
            assert!(!writes_window(line), "{line}");
        }
    }

    #[test]
    fn only_a_packet_count_of_the_ack_is_renamed() {
        let part = Part {
            name: "x.c".into(),
            shown: String::new(),
            text: "d->n += a->delivered; alpha->delivered;".into(),
        };
        assert_eq!(part.for_eva(), "d->n += delivered_now; alpha->delivered;");
    }
}
