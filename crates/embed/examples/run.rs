//! Loads an experiment, plans it, runs it, and observes it meanwhile:
//! `cargo run --release -p tresse-embed --example run`.

use std::sync::atomic::Ordering;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use tresse_embed::experiment::{self, Diagnostic, Profile};
use tresse_embed::lab::stopping_rule::Verdicts;
use tresse_embed::lab::{Options, Watch, runner};

fn main() -> Result<(), Diagnostic> {
    let loaded =
        experiment::load(experiment::find("xmp/fig4")?, Profile::Quick, &["fabric.mark=20pkt".to_owned()])?;
    let plan = experiment::resolve(&loaded, &["scheme=beta-4,beta-6".to_owned()])?;
    let options = Options::default();
    let watch = Watch::new(&plan, &options)?;

    let report = thread::scope(|scope| {
        let (ended, end) = mpsc::channel::<()>();
        let run = scope.spawn(|| {
            let report = runner::measure(&loaded, &plan, &options, &watch, |_| Verdicts::default());
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
