//! Time series as SVG: panels one below the other over one time axis.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// A figure.
pub struct Figure {
    pub title: String,
    /// Seconds.
    pub times: Vec<f64>,
    pub panels: Vec<Panel>,
}

/// Lines over one vertical axis, which begins at 0.
pub struct Panel {
    /// Quantity and unit.
    pub label: String,
    /// Names, and a value for each of the times.
    pub lines: Vec<(String, Vec<f64>)>,
}

const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 220.0;
const LEFT: f64 = 60.0;
const RIGHT: f64 = 150.0;
const TOP: f64 = 40.0;
const GAP: f64 = 20.0;
const BOTTOM: f64 = 50.0;
/// Okabe and Ito's colours, which the colour-blind can tell apart.
const COLOURS: [&str; 6] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"];

impl Figure {
    /// Writes the file, and its directory if there is none.
    pub fn write(&self, file: &Path) {
        fs::create_dir_all(file.parent().expect("a file lies in a directory"))
            .expect("figures can be written");
        fs::write(file, self.svg()).expect("figures can be written");
    }

    fn svg(&self) -> String {
        let panels = self.panels.len() as f64;
        let (width, height) = (LEFT + WIDTH + RIGHT, TOP + panels * (HEIGHT + GAP) + BOTTOM);
        let end = self.times.last().copied().unwrap_or(0.0);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
             font-family=\"sans-serif\" font-size=\"13\">\n\
             <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
        );
        text(&mut svg, LEFT, TOP / 2.0, "start", &self.title);
        let mut base = TOP;
        for panel in &self.panels {
            base += HEIGHT;
            self.draw(panel, base, end, &mut svg);
            base += GAP;
        }
        base -= GAP;
        for tick in ticks(end) {
            text(&mut svg, LEFT + tick / end * WIDTH, base + 18.0, "middle", &short(tick));
        }
        text(&mut svg, LEFT + WIDTH / 2.0, base + 38.0, "middle", "time, s");
        svg + "</svg>\n"
    }

    /// One panel, whose time axis lies at `base`.
    fn draw(&self, panel: &Panel, base: f64, end: f64, svg: &mut String) {
        let most = panel.lines.iter().flat_map(|(_, values)| values).copied().fold(1.0, f64::max);
        let x = |t: f64| LEFT + t / end * WIDTH;
        let y = |v: f64| base - v / most * HEIGHT;
        for tick in ticks(most) {
            line(svg, (LEFT, y(tick)), (LEFT + WIDTH, y(tick)), "#dddddd");
            text(svg, LEFT - 6.0, y(tick) + 4.0, "end", &short(tick));
        }
        for tick in ticks(end) {
            line(svg, (x(tick), base - HEIGHT), (x(tick), base), "#dddddd");
        }
        line(svg, (LEFT, base - HEIGHT), (LEFT, base), "black");
        line(svg, (LEFT, base), (LEFT + WIDTH, base), "black");
        let (at, middle) = (15.0, base - HEIGHT / 2.0);
        writeln!(
            svg,
            "<text x=\"{at}\" y=\"{middle}\" text-anchor=\"middle\" \
             transform=\"rotate(-90 {at} {middle})\">{}</text>",
            panel.label
        )
        .expect("writing to a string");
        for (i, (name, values)) in panel.lines.iter().enumerate() {
            let colour = COLOURS[i % COLOURS.len()];
            let mut points = String::new();
            for (t, v) in self.times.iter().zip(values) {
                write!(points, "{:.1},{:.1} ", x(*t), y(*v)).expect("writing to a string");
            }
            writeln!(svg, "<polyline fill=\"none\" stroke=\"{colour}\" points=\"{points}\"/>")
                .expect("writing to a string");
            let row = base - HEIGHT + 12.0 + 18.0 * i as f64;
            line(svg, (LEFT + WIDTH + 10.0, row - 4.0), (LEFT + WIDTH + 30.0, row - 4.0), colour);
            text(svg, LEFT + WIDTH + 36.0, row, "start", name);
        }
    }
}

/// Round numbers up to `most`, some five of them, with 0.
fn ticks(most: f64) -> Vec<f64> {
    let power = 10f64.powf((most / 5.0).log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|m| m * power).into_iter().find(|s| most / s <= 6.0).unwrap_or(most);
    (0..=(most / step) as u32).map(|i| f64::from(i) * step).collect()
}

/// A tick's number: ticks have at most one digit behind the point here.
fn short(tick: f64) -> String {
    format!("{tick:.1}").trim_end_matches(".0").to_owned()
}

fn text(svg: &mut String, x: f64, y: f64, anchor: &str, text: &str) {
    writeln!(svg, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{text}</text>")
        .expect("writing to a string");
}

fn line(svg: &mut String, from: (f64, f64), to: (f64, f64), colour: &str) {
    writeln!(
        svg,
        "<line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\" stroke=\"{colour}\"/>",
        from.0, from.1, to.0, to.1
    )
    .expect("writing to a string");
}
