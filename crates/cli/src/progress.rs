//! Progress on stderr: simulated time, packet-hops per second, time left, and each row of the table when it is known.

use std::collections::BTreeSet;
use std::io::{IsTerminal, Write, stderr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use clap::ValueEnum;
use indicatif::{ProgressBar, ProgressStyle};
use tresse_lab::Watch;
use tresse_lab::forecast::{about, about_hops};
use tresse_lab::runner::Standing;
use tresse_results::CaseResult;
use tresse_workbench::progress::Progress;

use crate::report;

/// How progress is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Mode {
    /// A bar if stderr is a terminal; the row of each case as soon as it is complete, if the run takes longer than
    /// ten seconds
    Auto,
    /// Nothing
    Never,
    /// One line of JSON per second
    Json,
}

/// A display that runs until it is told to finish.
struct Display {
    end: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// A run that ends sooner shows its rows in its table only.
const PATIENCE: Duration = Duration::from_secs(10);

/// After this time a run that is far from its end says how long it takes.
const FORECAST: Duration = Duration::from_secs(3);

/// So far, in seconds.
const FAR: f64 = 30.0;

/// How runs show their progress.
pub fn shown(mode: Mode) -> Progress {
    Arc::new(move |watch| {
        let display = start(watch, mode);
        Box::new(|| display.finish())
    })
}

/// Shows the progress of the units of `watch`.
fn start(watch: &Arc<Watch>, mode: Mode) -> Display {
    let end = Arc::new(AtomicBool::new(false));
    let thread = (mode != Mode::Never).then(|| {
        let (watch, end) = (Arc::clone(watch), Arc::clone(&end));
        thread::spawn(move || display(&watch, mode, &end))
    });
    Display { end, thread }
}

impl Display {
    /// Removes the display.
    fn finish(mut self) {
        self.end.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // A display that failed has nothing to say about the run.
            let _ = thread.join();
        }
    }
}

fn display(watch: &Watch, mode: Mode, end: &AtomicBool) {
    let start = clock();
    let bar = (mode == Mode::Auto && stderr().is_terminal()).then(|| {
        let bar = ProgressBar::new(1000);
        let style = "{bar:24} {percent:>3} %  {msg}";
        bar.set_style(ProgressStyle::with_template(style).expect("the template is constant"));
        bar
    });
    let (mut rows, mut is_told) = (Rows::default(), false);
    // Real hosts are first built; that says nothing about how long the rest takes.
    let mut built = Duration::ZERO;
    while !end.load(Ordering::Relaxed) {
        thread::park_timeout(Duration::from_millis(if bar.is_some() { 200 } else { 1000 }));
        let s = watch.standing();
        let elapsed = start.elapsed();
        let speed = s.hops as f64 / elapsed.as_secs_f64();
        if s.share == 0.0 {
            built = elapsed;
        }
        let since = elapsed.saturating_sub(built);
        let left = s.left(since.as_secs_f64());
        if mode == Mode::Json {
            let line = serde_json::json!({
                "schema": "tresse/progress/1", "share": s.share, "units": s.units, "units_done": s.done,
                "packet_hops": s.hops, "packet_hops_per_s": speed, "left_s": left,
                "undecided": s.undecided,
            });
            eprintln!("{line}");
            continue;
        }
        if let Some(left) = left.filter(|_| !is_told && since > FORECAST) {
            is_told = true;
            print_above(bar.as_ref(), forecast(&s, left, since));
        }
        let left = left.map_or("…".to_owned(), |left| format!("{left:.0} s left"));
        if elapsed > PATIENCE && s.done < s.units {
            for row in watch.complete(rows.seen).map(|cases| rows.new_lines(&cases)).unwrap_or_default() {
                let row = if bar.is_some() { row } else { format!("{row}  ({left})") };
                print_above(bar.as_ref(), Some(row));
            }
        }
        if let Some(bar) = &bar {
            bar.set_position((s.share * 1000.0) as u64);
            let undecided = match &s.undecided[..] {
                [] => String::new(),
                claims => format!("  undecided: {}", claims.join(", ")),
            };
            let running = s.running.join(", ");
            bar.set_message(format!("{:.1} M packet-hops/s, {left}  {running}{undecided}", speed / 1e6));
        }
    }
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
}

/// How much there is to do, and how long that takes, if it is long.
fn forecast(s: &Standing, left: f64, elapsed: Duration) -> Option<String> {
    let hops = about_hops(s.hops as f64 / s.share);
    let (units, first) = (s.units, elapsed.as_secs_f64());
    (left > FAR)
        .then(|| format!("{} left, by the first {first:.0} s: cases and seeds: {units}, {hops}", about(left)))
}

/// Prints a line, above the bar if there is one.
fn print_above(bar: Option<&ProgressBar>, line: Option<String>) {
    match (bar, line) {
        (_, None) => {}
        (Some(bar), Some(line)) => bar.println(line),
        (None, Some(line)) => drop(writeln!(stderr(), "{line}")), // it may be closed
    }
}

/// The rows of the table that were shown while the run goes on.
#[derive(Default)]
struct Rows {
    /// How many cases were complete at the last look.
    seen: usize,
    /// The labels of the cases whose rows were shown.
    shown: BTreeSet<String>,
    /// The columns of the rows that were shown last.
    columns: Vec<String>,
}

impl Rows {
    /// The lines for the cases that are new: the head first, if these are the first or have other columns than those
    /// before.
    fn new_lines(&mut self, cases: &[CaseResult]) -> Vec<String> {
        self.seen = cases.len();
        // As wide as it is: a line is a row.
        let table = report::usual(cases).text(None);
        let mut lines = table.lines();
        let head = lines.next();
        let labels: Vec<String> = cases.iter().map(CaseResult::label).collect();
        let new = labels.into_iter().zip(lines).filter(|(label, _)| self.shown.insert(label.clone()));
        let rows: Vec<_> = new.map(|(_, line)| line.to_owned()).collect();
        let head = head.filter(|head| !rows.is_empty() && self.has_other(head));
        head.map(str::to_owned).into_iter().chain(rows).collect()
    }

    /// Whether this head has other columns than the one before. A column in which every cell is empty is not shown, so
    /// the first case with an optimum adds some.
    fn has_other(&mut self, head: &str) -> bool {
        let names = head.split("  ").map(str::trim).filter(|name| !name.is_empty());
        let columns: Vec<String> = names.map(str::to_owned).collect();
        let is_other = columns != self.columns;
        self.columns = columns;
        is_other
    }
}

#[expect(clippy::disallowed_methods, reason = "the time that is left is wall time")]
fn clock() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests {
    use super::Rows;

    /// The first case had no optimum, the second one has.
    #[test]
    fn the_head_is_shown_again_when_columns_are_added() {
        let mut rows = Rows::default();
        assert!(rows.has_other("scheme   pattern  Mbit/s   p10   p90"));
        assert!(!rows.has_other("scheme   pattern    Mbit/s   p10    p90"), "only wider");
        assert!(rows.has_other("scheme   pattern  Mbit/s  optimum  apart %   p10   p90"));
    }
}
