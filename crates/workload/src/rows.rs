//! The lines of a distribution's file in the forms that people publish: two columns, Homa's with the mean in front,
//! ns-2's with three columns, with commas, with a heading.

use crate::distribution::{BadDistribution, MOST_LINES, bad};

const EXPECTED: &str = "expected a size in bytes and a probability, such as `10000 0.15`";

/// A line with its numbers as words, and where each begins.
pub(super) struct Row<'a> {
    pub line: usize,
    pub text: &'a str,
    pub size: (usize, &'a str),
    pub share: (usize, &'a str),
}

/// The lines of a file, and what it has beside them.
#[derive(Default)]
pub(super) struct Rows<'a> {
    pub rows: Vec<Row<'a>>,
    /// A heading, as it is written.
    pub heading: Option<&'a str>,
    /// A number that stands alone in the first line.
    pub mean: Option<&'a str>,
    /// Whether each line has three columns.
    pub three: bool,
}

type Words<'a> = Vec<(usize, &'a str)>;

/// Reads the lines of `text`; a comment begins with `#`.
pub(super) fn read(text: &str) -> Result<Rows<'_>, BadDistribution> {
    let mut lines = Vec::new();
    for (text, line) in text.lines().zip(1..) {
        if line > MOST_LINES {
            return Err(bad(line, text, 0, format!("a distribution has at most {MOST_LINES} lines")));
        }
        let words = words(text);
        if !words.is_empty() {
            lines.push((line, text, words));
        }
    }
    let mut own = Rows::default();
    let mut lines = lines.into_iter().peekable();
    let is_number = |(_, word): &(usize, &str)| word.parse::<f64>().is_ok();
    let is_heading =
        |words: &Words| words.len() > 1 && !words.iter().any(|w| w.1.contains(|c: char| c.is_ascii_digit()));
    if let Some((line, text, _)) = lines.next_if(|(_, _, words)| is_heading(words)) {
        check_units(line, text)?;
        own.heading = Some(text.trim());
    }
    // A file of one such line is something else.
    let is_mean = |words: &Words| words.len() == 1 && is_number(&words[0]);
    if lines.len() > 1
        && let Some((_, _, words)) = lines.next_if(|(_, _, words)| is_mean(words))
    {
        own.mean = Some(words[0].1);
    }
    own.three = lines.peek().is_some_and(|(_, _, words)| words.len() == 3 && words.iter().all(is_number));
    for (line, text, words) in lines {
        let (size, share) = match (&words[..], own.three) {
            (&[size, share], false) | (&[size, _, share], true) => (size, share),
            (&[size, ..], true) => {
                let message = format!("{} columns, but the first line has three", words.len());
                return Err(bad(line, text, size.0, message));
            }
            (&[_, _, third, ..], false) => {
                let message = "a line has two numbers: a size in bytes and a probability";
                return Err(bad(line, text, third.0, message));
            }
            _ => return Err(bad(line, text, words[0].0, EXPECTED)),
        };
        own.rows.push(Row { line, text, size, share });
    }
    if own.heading.is_some() && own.rows.is_empty() {
        return Err(bad(1, own.heading.unwrap_or_default(), 0, EXPECTED));
    }
    Ok(own)
}

/// The words of a line before its comment: between commas or semicolons if it has any, else between blanks.
fn words(text: &str) -> Words<'_> {
    let data = text.split('#').next().unwrap_or_default();
    let at = |word: &str| word.as_ptr() as usize - text.as_ptr() as usize;
    if data.contains([',', ';']) {
        return data.split([',', ';']).map(str::trim).map(|word| (at(word), word)).collect();
    }
    data.split_whitespace().map(|word| (at(word), word)).collect()
}

/// A heading that names another unit than bytes.
fn check_units(line: usize, text: &str) -> Result<(), BadDistribution> {
    let lower = text.to_lowercase();
    let unit = ["kb", "kib", "mb", "mib", "gb", "packet", "pkt", "bits", "flits"]
        .into_iter()
        .find(|u| lower.contains(u));
    match unit {
        Some(unit) => {
            let message = format!("the heading names another unit, `{unit}`: sizes here are in bytes");
            Err(bad(line, text, 0, message))
        }
        None => Ok(()),
    }
}
