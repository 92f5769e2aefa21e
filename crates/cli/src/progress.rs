//! Progress on stderr: simulated time, packet-hops a second, time left.

use std::io::{IsTerminal, stderr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use clap::ValueEnum;
use indicatif::{ProgressBar, ProgressStyle};
use tresse_lab::Watch;
use tresse_lab::record::progress::Progress;

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
    /// 0 to 1, by bytes carried or by time; units that have not begun count as large as the others, and those of which
    /// the end is not known as not begun.
    share: f64,
    /// How far they are is known of all units that run.
    known: bool,
    hops: u64,
    /// The units that run now, with their simulated time.
    running: Vec<String>,
    units: usize,
    done: usize,
    /// The claims for which the run goes on.
    undecided: Vec<String>,
}

fn sum(watch: &Watch) -> Sum {
    let planned = watch.planned.lock().expect("no holder of the lock panics").clone();
    let undecided = planned.undecided;
    let mut sum = Sum { share: 0.0, known: true, hops: 0, running: Vec::new(), units: 0, done: 0, undecided };
    for (name, p) in planned.places.iter().map(|&place| &watch.replications[place]) {
        let hops = p.hops.load(Ordering::Relaxed);
        sum.hops += hops;
        if p.done.load(Ordering::Relaxed) {
            sum.share += 1.0;
            sum.done += 1;
            continue;
        }
        let share = share(p);
        sum.share += share.unwrap_or(0.0);
        if share.is_some() || hops > 0 {
            sum.known &= share.is_some();
            let now = tresse_units::seconds(p.now.load(Ordering::Relaxed));
            sum.running.push(format!("{name} at {now:.1} s"));
        }
    }
    sum.units = planned.places.len();
    sum.share /= sum.units.max(1) as f64;
    sum
}

/// How far a unit is, 0 to 1: by its bytes or by its time, whichever is further, for it ends with the first of the two.
/// `None` if neither is known, or if it has not begun.
fn share(p: &Progress) -> Option<f64> {
    // What is to be carried is a mean, and segments that were sent twice arrive twice.
    let part = |done: &AtomicU64, all: &AtomicU64| match all.load(Ordering::Relaxed) {
        0 => None,
        all => Some((done.load(Ordering::Relaxed) as f64 / all as f64).min(1.0)),
    };
    let (bytes, time) = (part(&p.bytes, &p.expected_bytes), part(&p.now, &p.expected_ps));
    bytes.into_iter().chain(time).reduce(f64::max)
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
        let left = if s.known && s.share > 0.01 { elapsed * (1.0 - s.share) / s.share } else { f64::NAN };
        if let Some(bar) = &bar {
            bar.set_position((s.share * 1000.0) as u64);
            let left = if left.is_nan() { "…".to_owned() } else { format!("{left:.0} s left") };
            let undecided = match &s.undecided[..] {
                [] => String::new(),
                claims => format!("  undecided: {}", claims.join(", ")),
            };
            let running = s.running.join(", ");
            bar.set_message(format!("{:.1} M packet-hops/s, {left}  {running}{undecided}", speed / 1e6));
        } else {
            let line = serde_json::json!({
                "schema": "tresse/progress/1", "share": s.share, "units": s.units, "units_done": s.done,
                "packet_hops": s.hops, "packet_hops_per_s": speed, "left_s": (!left.is_nan()).then_some(left),
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

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use tresse_lab::runner::Planned;

    use super::*;

    /// A unit at `bytes` of `expected_bytes`, and at `now` of `expected_ps`.
    fn unit([bytes, expected_bytes, now, expected_ps]: [u64; 4], hops: u64) -> Progress {
        Progress {
            now: now.into(),
            hops: hops.into(),
            bytes: bytes.into(),
            expected_bytes: expected_bytes.into(),
            expected_ps: expected_ps.into(),
            done: false.into(),
        }
    }

    #[test]
    fn a_unit_is_as_far_as_its_bytes_or_its_time() {
        for (of, wanted) in [
            ([0, 0, 0, 0], None),
            ([1, 4, 7, 0], Some(0.25)),
            ([9, 4, 7, 0], Some(1.0)),
            ([9, 0, 1, 2], Some(0.5)),
            ([1, 4, 1, 2], Some(0.5)),
            ([3, 4, 1, 2], Some(0.75)),
            ([9, 0, 7, 0], None),
        ] {
            assert_eq!(share(&unit(of, 1)), wanted, "{of:?}");
        }
    }

    #[test]
    fn units_of_which_the_end_is_not_known_run_too() {
        let done = unit([4, 4, 0, 0], 10);
        done.done.store(true, Ordering::Relaxed);
        let units = [done, unit([0, 0, 5, 0], 7), unit([0; 4], 0), unit([1, 2, 0, 0], 3)];
        let units: Vec<_> = units.into_iter().map(|p| ("a unit".to_owned(), p)).collect();
        let mut watch = Watch::default();
        let planned = |places: &[usize], claims: &[&str]| {
            let undecided = claims.iter().map(|&claim| claim.to_owned()).collect();
            Mutex::new(Planned { places: places.to_vec(), undecided })
        };
        (watch.planned, watch.replications) = (planned(&[0, 1, 2, 3], &[]), units);
        let s = sum(&watch);
        assert_eq!((s.share, s.known, s.hops, s.done, s.running.len()), (0.375, false, 20, 1, 2));
        // Units that may not be needed do not count.
        watch.planned = planned(&[0, 3], &["fast"]);
        let s = sum(&watch);
        assert_eq!((s.share, s.units, s.hops, s.running.len()), (0.75, 2, 13, 1));
        assert_eq!(s.undecided, ["fast"]);
    }
}
