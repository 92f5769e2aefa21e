//! As many seeds as it takes: what a file may say, and when a run has enough of them.

use tempfile::TempDir;
use tresse_experiment::plan::Case;
use tresse_experiment::schema::stopping_rule::Replications;
use tresse_experiment::{Loaded, Profile, Source, load, resolve};
use tresse_lab::judge::{Judge, Jumps, Numbers};
use tresse_lab::stopping_rule::{Undecided, Verdicts};
use tresse_lab::{Options, Watch, runner};
use tresse_results::{Report, Status};

use crate::reading::measure;

/// Flows of random sizes over a dumbbell: their goodput depends on the seed.
const TEXT: &str = r#"title = "Replications"
replications = 2

[fabric]
topology = "dumbbell"
pairs = 2
rate = "1Gbps"
delay = "10us"
queue = "100pkt"
host_queue = "unlimited"

[transport]
profile = "ns3"

[schemes.reno]
controller = "reno"

[workloads.pairs]
pattern = "permutation"
size = ["10kB", "90kB"]

[profile.quick]
workloads.pairs.rounds = 1
"#;

fn loaded(replications: &str) -> Result<Loaded, String> {
    let text = TEXT.replace("replications = 2", &format!("replications = {replications}"));
    load(Source { name: "r.toml".into(), text }, Profile::Full, &[]).map_err(|e| e.to_string())
}

fn run(replications: &str, parallel: usize) -> Report {
    let dir = TempDir::new().expect("a temporary folder");
    let loaded = loaded(replications).expect("valid");
    let plan = resolve(&loaded, &[]).expect("valid");
    let replications = loaded.experiment.replications.clone();
    measure(&(loaded, plan), dir.path(), replications, parallel)
}

/// Half the interval of the goodput as a share of its mean.
fn width(report: &Report) -> f64 {
    let case = &report.cases[0];
    case.ci95["goodput_mean_bps"] / case.metrics["goodput_mean_bps"].value()
}

#[test]
fn a_file_says_a_number_or_a_width() {
    assert_eq!(loaded("5").expect("valid").experiment.replications, Replications::Count(5));
    let until = loaded("{ width = 0.1 }").expect("valid").experiment.replications;
    assert_eq!((until.least(), until.most()), (3, 20));
    for (wrong, message) in [
        ("0", "0: 1 to 1000 seeds"),
        ("1001", "1001: 1 to 1000 seeds"),
        ("\"five\"", "a number of seeds such as 5, a width such as"),
        ("{ most = 5 }", "it needs a condition to stop: `width = 0.05`, or `until = \"decided\"`"),
        ("{ width = 0.1, until = \"decided\" }", "it cannot be combined with `width`"),
        ("{ until = \"narrow\" }", "unknown value `narrow`, expected `decided`"),
        ("{ width = 0.05, at_most = 5 }", "unknown key `at_most`"),
        ("{ width = 1.5 }", "1.5: a share above 0 and below 1"),
        ("{ width = 0.05, of = \"goodput\" }", "there is no metric `goodput`"),
        ("{ width = 0.05, least = 1 }", "1: 2 to 1000 seeds; a single one has no interval"),
        ("{ width = 0.05, least = 5, most = 4 }", "4: 5 (`least`) to 1000 seeds"),
    ] {
        let error = loaded(wrong).expect_err(wrong);
        assert!(error.starts_with("r.toml:2:") && error.contains(message), "{wrong}: {error}");
    }
}

/// Batch after batch until the interval is narrow, whoever runs them; and no seed more.
#[test]
fn seeds_are_run_until_the_interval_is_narrow() {
    let two = run("2", 1);
    assert_eq!((two.replications, &*two.cases[0].ci95_over), (2, "seeds"));
    let rule = "{ width = 0.1, least = 2, most = 200 }";
    let report = run(rule, 1);
    assert!(report.replications > 2 && report.replications < 200, "{}", report.replications);
    assert!(width(&two) > 0.1 && width(&report) <= 0.1, "{} {}", width(&two), width(&report));
    assert_eq!(report.cases[0].metrics["flows"].value(), 4.0 * f64::from(report.replications));
    assert!(report.too_wide.is_empty());
    // The same as if so many had been asked for, on any number of threads.
    let asked = run(&report.replications.to_string(), 2);
    assert_eq!((&asked.digest, asked.packet_hops), (&report.digest, report.packet_hops));
    assert_eq!(run(rule, 3).digest, report.digest);
}

#[test]
fn a_run_that_has_enough_seeds_but_no_narrow_interval_says_so() {
    let report = run("{ width = 0.0001, most = 4 }", 2);
    assert_eq!((report.status, report.replications), (Status::Complete, 4));
    let [line] = &report.too_wide[..] else { panic!("{:?}", report.too_wide) };
    assert!(line.starts_with("reno-1 pairs: goodput_mean_bps is known to ±"), "{line}");
    assert!(line.ends_with(" %, not to ±0.01 %"), "{line}");
    // What a case does not have, nobody waits for.
    let report = run("{ width = 0.0001, of = \"jct_mean_s\" }", 2);
    assert_eq!((report.replications, report.too_wide.len()), (3, 0));
}

/// The second case is undecided until it has 7 seeds.
struct UntilSevenSeeds;

impl Judge for UntilSevenSeeds {
    fn published(&self, _: &Case) -> Numbers {
        Numbers::default()
    }

    fn jumps(&self) -> Vec<Jumps> {
        Vec::new()
    }

    fn verdicts(&self, report: &Report) -> Verdicts {
        let seeds = report.cases[1].seeds.len() as u32;
        let own =
            Undecided { claim: "c".to_owned(), cases: vec![1], seeds, by: (6.9 / f64::from(seeds)).sqrt() };
        Verdicts { claims: Vec::new(), undecided: (seeds < 7).then_some(own).into_iter().collect() }
    }
}

/// Two cases, of which the second is undecided until it has 7 seeds.
fn run_until_decided(replications: &str, parallel: usize) -> Report {
    let dir = TempDir::new().expect("a temporary folder");
    let text = format!("{TEXT}\n[schemes.dctcp]\ncontroller = \"dctcp\"\n");
    let text = text.replace("replications = 2", &format!("replications = {replications}"));
    let loaded = load(Source { name: "r.toml".into(), text }, Profile::Full, &[]).expect("valid");
    let plan = resolve(&loaded, &[]).expect("valid");
    let options = Options {
        profile: Profile::Full,
        seed: 1,
        replications: loaded.experiment.replications.clone(),
        parallel,
        threads: 1,
        out: Some(dir.path().to_owned()),
        judge: false,
        figure: None,
    };
    let watch = Watch::new(&plan, &options).expect("few seeds");
    let report = runner::run(&loaded, &plan, &options, &watch, &UntilSevenSeeds);
    let planned = watch.planned.lock().expect("nobody panics").clone();
    let report = report.expect("the folder can be written");
    let all: usize = report.cases.iter().map(|case| case.seeds.len()).sum();
    assert_eq!((planned.places.len(), &planned.undecided[..]), (all, &["c".to_owned()][..]));
    report
}

#[test]
fn only_undecided_cases_get_more_seeds() {
    let rule = "{ until = \"decided\", least = 2, most = 12 }";
    let report = run_until_decided(rule, 1);
    let seeds = |report: &Report| report.cases.iter().map(|case| case.seeds.len()).collect::<Vec<_>>();
    assert_eq!((seeds(&report), report.replications, report.fewest_seeds()), (vec![2, 7], 7, 2));
    assert_eq!(report.cases[1].metrics["flows"].value(), 28.0);
    // The same on any number of threads, and each case as if it had been run alone.
    let again = run_until_decided(rule, 3);
    assert_eq!(
        (&again.digest, again.packet_hops, seeds(&again)),
        (&report.digest, report.packet_hops, vec![2, 7])
    );
    let all = run("2", 1);
    assert_eq!(all.cases[0].digest, report.cases[0].digest);
    assert_eq!(seeds(&run_until_decided("{ until = \"decided\", least = 2, most = 5 }", 2)), [2, 5]);
}
