//! Progress on stderr: simulated time, packet-hops a second, time left.

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
    /// A line of JSON a second
    Json,
}

/// A display that runs until it is told to finish.
pub struct Display {
    end: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// Shows how far the units of `watch` are.
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
    /// Takes the display away.
    pub fn finish(mut self) {
        self.end.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // A display that failed has nothing to say about the run.
            let _ = thread.join();
        }
    }
}

/// What all units together have done.
struct Sum {
    /// 0 to 1, by bytes carried; units that have not begun count as large as the others.
    share: f64,
    hops: u64,
    /// The units that run now, with their simulated time.
    running: Vec<String>,
    done: usize,
}

fn sum(watch: &Watch) -> Sum {
    let mut sum = Sum { share: 0.0, hops: 0, running: Vec::new(), done: 0 };
    for (name, p) in &watch.units {
        let total = p.expected_bytes.load(Ordering::Relaxed);
        if total == 0 {
            continue;
        }
        sum.hops += p.hops.load(Ordering::Relaxed);
        if p.done.load(Ordering::Relaxed) {
            sum.share += 1.0;
            sum.done += 1;
        } else {
            // What is to be carried is a mean, and segments that were sent twice arrive twice.
            sum.share += (p.bytes.load(Ordering::Relaxed) as f64 / total as f64).min(1.0);
            let now = tresse_fabric::seconds(p.now.load(Ordering::Relaxed));
            sum.running.push(format!("{name} at {now:.1} s"));
        }
    }
    sum.share /= watch.units.len().max(1) as f64;
    sum
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
        let s = sum(watch);
        let elapsed = start.elapsed().as_secs_f64();
        let speed = s.hops as f64 / elapsed;
        let left = if s.share > 0.01 { elapsed * (1.0 - s.share) / s.share } else { f64::NAN };
        if let Some(bar) = &bar {
            bar.set_position((s.share * 1000.0) as u64);
            let left = if left.is_nan() { "…".to_owned() } else { format!("{left:.0} s left") };
            bar.set_message(format!("{:.1} M packet-hops/s, {left}  {}", speed / 1e6, s.running.join(", ")));
        } else {
            let line = serde_json::json!({
                "schema": "tresse/progress/1", "share": s.share, "units": watch.units.len(), "units_done": s.done,
                "packet_hops": s.hops, "packet_hops_per_s": speed, "left_s": (!left.is_nan()).then_some(left),
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
