//! Shows a location in a text: `file:line:column: message`, the line, and a caret under the column.

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

use crate::diagnostic::Place;

/// The width to which a longer line is cut, around the caret.
const WIDTH: usize = 240;

/// `message` about the text at `place` in the file with this name.
pub fn draw(name: &str, place: &Place, message: &str) -> String {
    let Place { line, column, text } = place;
    // The renderer measures a line before it cuts it: of one without an end, what is near is enough.
    let far = text.char_indices().nth(column + 2 * WIDTH).map_or(text.len(), |(end, _)| end);
    let near = &text[..far];
    let start = near.char_indices().nth(column.saturating_sub(1)).map_or(near.len(), |(start, _)| start);
    let caret = AnnotationKind::Primary.span(start..start);
    let snippet = Snippet::source(near).line_start(*line).fold(false).annotation(caret);
    let drawing =
        Renderer::plain().term_width(WIDTH + 12).render(&[Group::with_level(Level::ERROR).element(snippet)]);
    format!("{name}:{line}:{column}: {message}\n{drawing}")
}

#[cfg(test)]
mod tests {
    use super::draw;
    use crate::diagnostic::Place;

    fn drawn(line: usize, column: usize, text: &str) -> String {
        draw("f.toml", &Place { line, column, text: text.to_owned() }, "no")
    }

    #[test]
    fn the_caret_is_under_the_column() {
        assert_eq!(drawn(12, 5, "k = 7 # odd"), "f.toml:12:5: no\n   |\n12 | k = 7 # odd\n   |     ^");
        assert_eq!(drawn(3, 6, "k = 7"), "f.toml:3:6: no\n  |\n3 | k = 7\n  |      ^", "after the end");
        assert_eq!(drawn(1, 1, ""), "f.toml:1:1: no\n  |\n1 |\n  | ^");
    }

    #[test]
    fn tabs_wide_characters_and_long_lines_move_it() {
        assert_eq!(drawn(1, 3, "a\tb"), "f.toml:1:3: no\n  |\n1 | a    b\n  |      ^");
        assert_eq!(drawn(1, 3, "日本x"), "f.toml:1:3: no\n  |\n1 | 日本x\n  |     ^");
        let long = drawn(1, 1001, &("x".repeat(1000) + "here" + &"y".repeat(1_000_000)));
        let lines: Vec<&str> = long.lines().collect();
        let caret = lines[3].find('^').expect("a caret");
        assert_eq!(&lines[2][caret..caret + 4], "here", "{long}");
        assert!(lines[2].len() < 280, "{}", lines[2].len());
    }
}
