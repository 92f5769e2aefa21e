//! Progress on stderr: simulated time, packet-hops per second, time left.

use std::io::{IsTerminal, stderr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use clap::ValueEnum;
use indicatif::{ProgressBar, ProgressStyle};
use tresse_lab::Watch;

/// How progress is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Mode {
    /// A bar if stderr is a terminal
    Auto,
    /// Nothing
    Never,
    /// One line of JSON per second
    Json,
}

/// A display that runs until it is told to finish.
pub struct Display {
    end: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// Shows the progress of the units of `watch`.
pub fn start(watch: &Arc<Watch>, mode: Mode) -> Display {
    let end = Arc::new(AtomicBool::new(false));
    let shown = mode == Mode::Json || (mode == Mode::Auto && stderr().is_terminal());
    let thread = shown.then(|| {
        let (watch, end) = (Arc::clone(watch), Arc::clone(&end));
        thread::spawn(move || display(&watch, mode, &end))
    });
    Display { end, thread }
}

impl Display {
    /// Removes the display.
    pub fn finish(mut self) {
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
    let bar = (mode == Mode::Auto).then(|| {
        let bar = ProgressBar::new(1000);
        let style = "{bar:24} {percent:>3} %  {msg}";
        bar.set_style(ProgressStyle::with_template(style).expect("the template is constant"));
        bar
    });
    while !end.load(Ordering::Relaxed) {
        thread::park_timeout(Duration::from_millis(if bar.is_some() { 200 } else { 1000 }));
        let s = watch.standing();
        let elapsed = start.elapsed().as_secs_f64();
        let speed = s.hops as f64 / elapsed;
        let left = s.left(elapsed);
        if let Some(bar) = &bar {
            bar.set_position((s.share * 1000.0) as u64);
            let left = left.map_or("…".to_owned(), |left| format!("{left:.0} s left"));
            let undecided = match &s.undecided[..] {
                [] => String::new(),
                claims => format!("  undecided: {}", claims.join(", ")),
            };
            let running = s.running.join(", ");
            bar.set_message(format!("{:.1} M packet-hops/s, {left}  {running}{undecided}", speed / 1e6));
        } else {
            let line = serde_json::json!({
                "schema": "tresse/progress/1", "share": s.share, "units": s.units, "units_done": s.done,
                "packet_hops": s.hops, "packet_hops_per_s": speed, "left_s": left,
                "undecided": s.undecided,
            });
            eprintln!("{line}");
        }
    }
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
}

#[expect(clippy::disallowed_methods, reason = "the time that is left is wall time")]
fn clock() -> Instant {
    Instant::now()
}
