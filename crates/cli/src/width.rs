//! The width of the output terminal, and sentences that fit it.

use std::env;
use std::io;

use terminal_size::{Width, terminal_size_of};
use textwrap::{Options, WordSplitter};

/// Below this many columns nothing can be laid out.
const NARROWEST: usize = 20;

/// The columns of standard output: COLUMNS, or those of the terminal. `None` if it is a file or a pipe; lines are
/// then not wrapped.
pub fn of_stdout() -> Option<usize> {
    #[expect(clippy::disallowed_methods, reason = "COLUMNS is for whoever prints")]
    let said = env::var("COLUMNS").ok().and_then(|text| text.parse().ok());
    let terminal = || terminal_size_of(io::stdout()).map(|(Width(columns), _)| columns.into());
    said.or_else(terminal).filter(|columns| *columns >= NARROWEST)
}

/// `text` in lines that fit standard output, all but the first indented by `indent` columns.
pub fn sentence(text: &str, indent: usize) -> String {
    match of_stdout() {
        Some(width) => fold(text, width, indent.min(width / 2)).join("\n"),
        None => text.to_owned(),
    }
}

/// `text` in lines of at most `width` columns, all but the first indented; names with hyphens stay whole.
pub fn fold(text: &str, width: usize, indent: usize) -> Vec<String> {
    let indent = " ".repeat(indent);
    let options = Options::new(width).subsequent_indent(&indent).word_splitter(WordSplitter::NoHyphenation);
    textwrap::wrap(text, options).into_iter().map(|line| line.into_owned()).collect()
}
