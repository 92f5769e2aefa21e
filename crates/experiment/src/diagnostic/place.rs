//! Places in text files, as messages show them: `file:line:column`, the line, and a caret under the column.

use crate::diagnostic::LabError;

/// An error about what stands in `line` (from 1) of `text`, at `column` (from 1, in characters).
pub fn at(name: &str, text: &str, line: usize, column: usize, message: &str) -> LabError {
    /// More of a line helps nobody.
    const LONGEST: usize = 160;
    let whole = text.lines().nth(line - 1).unwrap_or("");
    let shown: String = whole.chars().take(LONGEST).collect();
    let gutter = " ".repeat(line.to_string().len());
    let caret = " ".repeat(column.saturating_sub(1).min(LONGEST));
    LabError::Input(format!(
        "{name}:{line}:{column}: {message}\n{gutter} |\n{line} | {shown}\n{gutter} | {caret}^"
    ))
}

/// An error about what stands `offset` bytes from the start of `text`.
pub(crate) fn of(name: &str, text: &str, offset: usize, message: &str) -> LabError {
    let end = (0..=offset.min(text.len())).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0);
    let before = &text[..end];
    let start = before.rfind('\n').map_or(0, |i| i + 1);
    at(name, text, before.matches('\n').count() + 1, before[start..].chars().count() + 1, message)
}
