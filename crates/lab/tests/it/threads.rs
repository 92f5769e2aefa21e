//! What a case measures does not depend on how many threads work on it.

use std::sync::atomic::AtomicBool;

use tresse_experiment::plan::Case;
use tresse_experiment::{Profile, Source, find, load, resolve};
use tresse_lab::engine::replication;
use tresse_lab::undivided;
use tresse_results::record::progress::Progress;
use tresse_units::SECOND;

use crate::sample;

/// All that a run leaves of `case`.
fn outcome(case: &Case, threads: usize) -> String {
    let (stop, progress) = (AtomicBool::new(false), Progress::default());
    let mut rows = String::new();
    let outcome = replication::run(case, 3, threads, &stop, &progress, |more| {
        rows += &format!("{more:?}\n");
        Ok::<_, std::convert::Infallible>(())
    });
    let Ok(outcome) = outcome;
    rows + &serde_json::to_string(&outcome).expect("it is data")
}

/// The first cases of every experiment, or of a sample, for as long as its hosts need for some thousand packets.
#[test]
fn every_built_in_experiment_is_the_same_on_several_threads() {
    let (mut cut, mut whole) = (Vec::new(), Vec::new());
    for name in tresse_experiment::read::built_in::names().into_iter().step_by(sample()) {
        let loaded = load(find(name).expect("built in"), Profile::Quick, &[]).expect("valid");
        let plan = resolve(&loaded, &[]).expect("valid");
        let hosts = plan.fabric().network.hosts as usize;
        let rate: u64 = plan.fabric().configs.iter().take(hosts).map(|config| config.rate).sum();
        let enough = (20_000 * 12_000 * u128::from(SECOND) / u128::from(rate)) as u64;
        for mut case in plan.cases.into_iter().take(2) {
            case.duration = Some(case.duration.unwrap_or(enough).min(enough));
            if undivided(&case, 3).is_some() {
                whole.push(name);
                continue;
            }
            cut.push(name);
            assert_eq!(outcome(&case, 1), outcome(&case, 3), "{name}: {}", case.label());
        }
    }
    assert!(cut.len() > 40 / sample(), "{} cases are cut, and these are not: {whole:?}", cut.len());
}

/// Messages that wait for each other, on hosts whose cores let packets wait and then take them together.
#[test]
fn so_is_a_ring_of_hosts_whose_cores_wake_up() {
    let text = "title = 'ring'\n[fabric]\ntopology = 'fat-tree'\nk = 4\nrate = '10Gbps'\ndelay = '1us'\nqueue = '200pkt'\n\
                mark = '65pkt'\nhost_cpu = { wake = '20us', receive = { packet = '1us' } }\n\
                [transport]\nprofile = 'linux'\n[schemes.xmp]\ncontroller = 'xmp'\nsubflows = 2\n\
                [workloads.w]\npattern = 'collective'\ncollective = 'ring-all-reduce'\nsize = '400kB'\n";
    let file = Source { name: "ring.toml".to_owned(), text: text.to_owned() };
    let plan = resolve(&load(file, Profile::Quick, &[]).expect("valid"), &[]).expect("valid");
    assert_eq!(undivided(&plan.cases[0], 2), None);
    assert_eq!(outcome(&plan.cases[0], 1), outcome(&plan.cases[0], 2));
}
