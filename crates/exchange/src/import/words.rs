//! Text as words on lines, each with its position.

use tresse_experiment::diagnostic::Diagnostic;

/// An imported file: its name in messages, and its text.
#[derive(Debug, Clone, Copy)]
pub struct Input<'a> {
    /// Its name in messages.
    pub name: &'a str,
    pub text: &'a str,
}

impl Input<'_> {
    /// An error at a position in the file.
    pub(crate) fn error<T>(
        &self,
        line: usize,
        column: usize,
        message: impl AsRef<str>,
    ) -> Result<T, Diagnostic> {
        Err(Diagnostic::at(self.name, self.text, line, column, message.as_ref()))
    }

    /// An error about a file that ends too early.
    pub(crate) fn ends<T>(&self, expected: &str) -> Result<T, Diagnostic> {
        let line = self.text.lines().count();
        let message = if self.text.trim().is_empty() {
            format!("{}: the file is empty; expected {expected}", self.name)
        } else {
            format!("{}:{line}: the file ends here; expected {expected}: is it truncated?", self.name)
        };
        Err(Diagnostic::input(message))
    }
}

/// A word and its position.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Word<'a> {
    pub line: usize,
    pub column: usize,
    pub text: &'a str,
}

impl Word<'_> {
    /// The word as a number, or an error that says what was expected.
    pub fn number<N: std::str::FromStr>(&self, input: &Input, what: &str) -> Result<N, Diagnostic> {
        self.text.parse().or_else(|_| self.error(input, format!("expected {what}, found `{}`", self.text)))
    }

    /// An error about this word.
    pub fn error<T>(&self, input: &Input, message: impl AsRef<str>) -> Result<T, Diagnostic> {
        input.error(self.line, self.column, message)
    }
}

/// The words of a line, numbered from 1, up to a comment: a word that begins with `#`.
pub(crate) fn of_line(line: usize, text: &str) -> Vec<Word<'_>> {
    let mut words = Vec::new();
    let mut rest = text;
    let mut column = 1;
    loop {
        let blank = rest.chars().take_while(|c| c.is_whitespace()).count();
        rest = rest.trim_start();
        if rest.is_empty() {
            return words;
        }
        column += blank;
        if rest.starts_with('#') {
            return words;
        }
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        words.push(Word { line, column, text: &rest[..end] });
        column += rest[..end].chars().count();
        rest = &rest[end..];
    }
}
