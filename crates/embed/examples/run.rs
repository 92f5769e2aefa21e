//! Runs the cases of an experiment, and observes them meanwhile:
//! `cargo run --release -p tresse-embed --example run`.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use tresse_embed::workbench::Failure;
use tresse_embed::workbench::cases::{Cases, Experiment};
use tresse_embed::workbench::run::Request;

fn main() -> Result<(), Failure> {
    let mut cases = Cases::all(Experiment::named("xmp/fig4"));
    cases.experiment.set.push("fabric.mark=20pkt".to_owned());
    cases.only.push("scheme=beta-4,beta-6".to_owned());
    let run = Request::of(cases).prepare()?;
    let watch = Arc::clone(&run.watch);

    let report = thread::scope(|scope| {
        let (ended, end) = mpsc::channel::<()>();
        let run = scope.spawn(|| {
            let report = run.run();
            drop(ended);
            report
        });
        while end.recv_timeout(Duration::from_millis(50)) == Err(mpsc::RecvTimeoutError::Timeout) {
            for (case, progress) in &watch.replications {
                eprintln!("{case}: {:.3} s", progress.now.load(Ordering::Relaxed) as f64 / 1e12);
            }
        }
        run.join().expect("a run does not panic")
    })?;

    for case in &report.cases {
        for (name, value) in &case.metrics {
            println!("{} {name}: {}", case.scheme(), value.value());
        }
    }
    Ok(())
}
