//! Common parts of pages: tables, commands, times, and the names of a paper's figures.

use super::Reproduced;
use crate::PaperExperiment;

pub(super) fn row(cells: &[String]) -> String {
    format!("| {} |\n", cells.join(" | "))
}

/// The line below the head of a table.
pub(super) fn rule(head: &[String]) -> String {
    format!("|{}\n", "---|".repeat(head.len()))
}

/// Text escaped for a table cell.
pub(super) fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

/// A block that a reader can open.
pub(super) fn details(summary: &str, inner: &str) -> String {
    format!("<details><summary>{summary}</summary>\n\n{inner}\n</details>\n")
}

pub(super) fn counted(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// A time for people: `8.2 s`, `3 min 20 s`, `1 h 5 min`.
pub(super) fn duration(seconds: f64) -> String {
    let whole = seconds.round() as u64;
    match whole {
        0..60 => format!("{seconds:.1} s"),
        60..3600 => format!("{} min {} s", whole / 60, whole % 60),
        _ => format!("{} h {} min", whole / 3600, whole % 3600 / 60),
    }
}

/// The command that makes a result: `tresse run NAME` or `tresse testbed run NAME`, with its profile and
/// changed settings.
pub(super) fn command(name: &str, result: &Reproduced) -> String {
    let profile = match &*result.profile {
        "quick" => String::new(),
        profile => format!(" --profile {profile}"),
    };
    let settings = result.changed.iter().map(|change| match change.setting().replace(" = ", "=") {
        setting if setting.contains([' ', '"', '[', '{']) => format!(" --set '{setting}'"),
        setting => format!(" --set {setting}"),
    });
    let (of, scale) = match &result.testbed {
        Some(testbed) if testbed.scale == "1" => ("testbed ", String::new()),
        Some(testbed) => ("testbed ", format!(" --scale {}", testbed.scale)),
        None => ("", String::new()),
    };
    format!("tresse {of}run {name}{profile}{scale}{}", settings.collect::<String>())
}

/// The name of an experiment without its paper's: `xmp/fig1` is `fig1`.
pub(super) fn file(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

/// The tables and figures of an experiment.
pub(super) fn rows(name: &str, experiment: &PaperExperiment) -> Vec<String> {
    experiment.rows.clone().unwrap_or_else(|| vec![file(name).to_owned()])
}

/// `fig9` for people: `Fig. 9`.
pub(super) fn row_name(row: &str) -> String {
    for (short, long) in [("fig", "Fig. "), ("table", "Table ")] {
        if let Some(number) = row.strip_prefix(short).filter(|n| n.starts_with(|c: char| c.is_ascii_digit()))
        {
            return format!("{long}{number}");
        }
    }
    row.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_names_are_as_people_write_them() {
        assert_eq!([8.21, 200.0, 3900.0].map(duration), ["8.2 s", "3 min 20 s", "1 h 5 min"]);
        assert_eq!(
            ["fig9", "table3.4", "figure", "coexist"].map(row_name),
            ["Fig. 9", "Table 3.4", "figure", "coexist"]
        );
        assert_eq!((file("xmp/fig1"), file("mine")), ("fig1", "mine"));
        assert_eq!((counted(1, "claim"), counted(2, "claim")), ("1 claim".to_owned(), "2 claims".to_owned()));
    }
}
