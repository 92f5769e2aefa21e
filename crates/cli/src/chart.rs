//! A line chart as text, in braille: a character has two dots beside each other and four above each other.

use std::fmt::Write as _;
use std::iter;

use anstyle::{AnsiColor, Style};

/// The lines of the area inside the axes: odd, so that the middle label is in the middle.
const ROWS: usize = 13;
/// The bits of a character's dots, by their place from the top left.
const DOTS: [[u8; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];
/// One for each line, in turn; they are distinguishable on dark and light terminals.
const COLOURS: [AnsiColor; 8] = [
    AnsiColor::Blue,
    AnsiColor::Yellow,
    AnsiColor::Cyan,
    AnsiColor::Red,
    AnsiColor::Magenta,
    AnsiColor::Green,
    AnsiColor::White,
    AnsiColor::BrightBlack,
];

/// A chart.
pub struct Chart<'a> {
    pub x: Axis<'a>,
    pub y: Axis<'a>,
    /// Names, and points that are connected in this order.
    pub lines: Vec<(&'a str, &'a [(f64, f64)])>,
}

/// An axis.
pub struct Axis<'a> {
    pub title: &'a str,
    /// The values at its ends, which must differ.
    pub ends: [f64; 2],
    /// At its beginning, its middle and its end.
    pub labels: [String; 3],
}

impl Axis<'_> {
    /// The dot of a value, of so many.
    fn dot(&self, value: f64, dots: usize) -> usize {
        let [first, last] = self.ends;
        ((value - first) / (last - first) * (dots - 1) as f64).round().clamp(0.0, (dots - 1) as f64) as usize
    }
}

/// The area inside the axes.
struct Canvas {
    columns: usize,
    /// The dots of each character, row by row.
    dots: Vec<u8>,
    /// The line that was last drawn through each character.
    lines: Vec<usize>,
}

impl Canvas {
    fn new(columns: usize) -> Self {
        Self { columns, dots: vec![0; columns * ROWS], lines: vec![0; columns * ROWS] }
    }

    /// Dots are counted from the bottom left.
    fn dot(&mut self, [x, y]: [usize; 2], line: usize) {
        let y = 4 * ROWS - 1 - y;
        let cell = y / 4 * self.columns + x / 2;
        self.dots[cell] |= DOTS[y % 4][x % 2];
        self.lines[cell] = line;
    }

    fn segment(&mut self, from: [usize; 2], to: [usize; 2], line: usize) {
        let steps = from[0].abs_diff(to[0]).max(from[1].abs_diff(to[1])).max(1);
        let between = |a: usize, b: usize, step: usize| (a * (steps - step) + b * step + steps / 2) / steps;
        for step in 0..=steps {
            self.dot([between(from[0], to[0], step), between(from[1], to[1], step)], line);
        }
    }

    /// A row as text with colours, without blanks at its end.
    fn row(&self, row: usize) -> String {
        let cells = row * self.columns..(row + 1) * self.columns;
        let (dots, lines) = (&self.dots[cells.clone()], &self.lines[cells]);
        let end = dots.iter().rposition(|dots| *dots != 0).map_or(0, |last| last + 1);
        let (mut text, mut style) = (String::new(), Style::new());
        for (dots, line) in dots[..end].iter().zip(lines) {
            let own = if *dots == 0 { style } else { colour(*line) };
            if own != style {
                let _ = write!(text, "{style:#}{own}");
                style = own;
            }
            text.push(if *dots == 0 {
                ' '
            } else {
                char::from_u32(0x2800 + u32::from(*dots)).unwrap_or(' ')
            });
        }
        let _ = write!(text, "{style:#}");
        text
    }
}

fn colour(line: usize) -> Style {
    Style::new().fg_color(Some(COLOURS[line % COLOURS.len()].into()))
}

fn length(text: &str) -> usize {
    text.chars().count()
}

impl Chart<'_> {
    /// As text, at most `width` columns wide, which must be at least 40.
    pub fn draw(&self, width: usize) -> String {
        let [bottom, middle, top] = &self.y.labels;
        let gutter = self.y.labels.iter().map(|label| length(label)).max().unwrap_or(0);
        let columns = width - gutter - 1;
        let mut canvas = Canvas::new(columns);
        for (line, (_, points)) in self.lines.iter().enumerate() {
            let dots = points.iter().map(|(x, y)| [self.x.dot(*x, 2 * columns), self.y.dot(*y, 4 * ROWS)]);
            let dots: Vec<[usize; 2]> = dots.collect();
            // A line of one point is a dot.
            let from = dots.first().into_iter().chain(&dots);
            from.zip(&dots).for_each(|(from, to)| canvas.segment(*from, *to, line));
        }
        let mut text = self.legend(width);
        for row in 0..ROWS {
            let label = match row {
                0 => top,
                _ if row == ROWS / 2 => middle,
                _ if row == ROWS - 1 => bottom,
                _ => "",
            };
            let _ = writeln!(text, "{label:>gutter$}│{}", canvas.row(row));
        }
        let blank = " ".repeat(gutter);
        let _ = writeln!(text, "{blank}└{}", "─".repeat(columns));
        let [left, middle, right] = &self.x.labels;
        let before = columns / 2 - length(middle) / 2;
        let after = columns - before - length(middle);
        let _ = writeln!(text, "{blank} {left:before$}{middle}{right:>after$}");
        let _ =
            writeln!(text, "{}", format_args!("{blank} {:^columns$}", self.x.title).to_string().trim_end());
        text
    }

    /// The title of the y axis, and the names of the lines in their colours.
    fn legend(&self, width: usize) -> String {
        let (mut text, mut used) = (self.y.title.to_owned(), length(self.y.title));
        for (line, (name, _)) in self.lines.iter().enumerate() {
            let sample = "  ── ";
            let room = width - sample.chars().count();
            let name: String = match length(name) {
                n if n <= room => (*name).to_owned(),
                _ => name.chars().take(room - 1).chain(iter::once('…')).collect(),
            };
            let more = length(sample) + length(&name);
            if used + more > width {
                text.push('\n');
                used = 0;
            }
            used += more;
            let style = colour(line);
            let _ = write!(text, "{style}{sample}{style:#}{name}");
        }
        text.push('\n');
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis<'a>(title: &'a str, labels: [&str; 3]) -> Axis<'a> {
        Axis { title, ends: [0.0, 1.0], labels: labels.map(str::to_owned) }
    }

    fn plain(text: &str) -> String {
        anstream::adapter::strip_str(text).to_string()
    }

    #[test]
    fn lines_go_from_corner_to_corner() {
        let rising = [(0.0, 0.0), (1.0, 1.0)];
        let edge = [(0.0, 0.0), (0.0, 1.0)];
        let (x, y) = (axis("time, s", ["0", "5", "10"]), axis("share", ["0.0", "0.5", "1.0"]));
        let text = Chart { x, y, lines: vec![("rising", &rising), ("edge", &edge)] }.draw(40);
        let expected = "\
share  ── rising  ── edge
1.0│⡇                                ⢀⠔⠊
   │⡇                             ⢀⠤⠊⠁
   │⡇                          ⢀⡠⠒⠁
   │⡇                        ⡠⠔⠁
   │⡇                     ⣀⠔⠊
   │⡇                  ⢀⠤⠊
0.5│⡇               ⢀⡠⠊⠁
   │⡇             ⡠⠒⠁
   │⡇          ⡠⠔⠉
   │⡇       ⢀⠔⠊
   │⡇    ⢀⠤⠊⠁
   │⡇ ⢀⡠⠒⠁
0.0│⡧⠔⠁
   └────────────────────────────────────
    0                 5               10
                  time, s
";
        assert_eq!(plain(&text), expected, "\n{}", plain(&text));
    }

    #[test]
    fn each_line_has_its_colour_and_those_behind_it_stay_visible() {
        let low = [(0.0, 0.0), (1.0, 0.0)];
        let dot = [(0.0, 0.05)];
        let (x, y) = (axis("x", ["0", "1", "2"]), axis("y", ["0", "1", "2"]));
        let text = Chart { x, y, lines: vec![("low", &low), ("dot", &dot)] }.draw(40);
        let row = text.lines().nth(ROWS).expect("the lowest row");
        let [low, dot] = [colour(0), colour(1)];
        assert!(row.starts_with(&format!("0│{dot}⣁{dot:#}{low}⣀⣀")), "{row:?}");
        assert!(row.ends_with(&format!("⣀{low:#}")), "{row:?}");
    }

    #[test]
    fn long_names_and_many_lines_fit_the_width() {
        let names: Vec<String> = (0..9).map(|n| format!("scheme {n}").repeat(1 + 5 * (n % 2))).collect();
        let points = [(0.0, 0.5), (1.0, 0.5)];
        let (x, y) = (axis("x", ["0", "1", "2"]), axis("y", ["0", "1", "2"]));
        let chart = Chart { x, y, lines: names.iter().map(|name| (&**name, &points[..])).collect() };
        let text = plain(&chart.draw(40));
        assert!(text.lines().all(|line| length(line) <= 40), "{text}");
        assert!(text.contains("── scheme 8") && text.contains("scheme 7scheme 7sc…"), "{text}");
    }

    #[test]
    fn values_beyond_the_ends_stay_at_the_border() {
        let points = [(-1.0, -1.0), (2.0, 2.0)];
        let (x, y) = (axis("x", ["0", "1", "2"]), axis("y", ["0", "1", "2"]));
        let text = Chart { x, y, lines: vec![("own", &points)] }.draw(40);
        assert!(plain(&text).lines().all(|line| length(line) <= 40), "{text}");
    }
}
