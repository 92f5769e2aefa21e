//! Reads the rows' files, and examines the results.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, OnceLock, PoisonError};

use tresse_experiment::plan::bound_scheme::BoundScheme;
use tresse_experiment::plan::network::Routing;
use tresse_experiment::plan::parts::Part;
use tresse_experiment::schema::Experiment;
use tresse_experiment::{Case, Loaded, Plan, Profile, Source, find};
use tresse_fabric::Path;
use tresse_lab::{Options, Watch};
use tresse_reproduction::run;
use tresse_results::{CaseResult, Status};
use tresse_units::{NEVER, Time};
use tresse_workload::{Action, Job, Start};

use crate::OWNERS;

/// A row's experiment, ready to run.
pub struct Row {
    loaded: Loaded,
    /// Its resolved plan.
    pub plan: Plan,
}

/// All built-in experiments, as `paper/row`.
pub fn files() -> Vec<String> {
    tresse_experiment::read::built_in::names().into_iter().map(str::to_owned).collect()
}

/// The text of a row.
pub fn source(row: &str) -> Source {
    find(row).unwrap_or_else(|e| panic!("{row}: {e}"))
}

/// The row at the paper's size, which is built once for all tests.
pub fn full(row: &str) -> &'static Row {
    static ROWS: Mutex<BTreeMap<String, &OnceLock<Row>>> = Mutex::new(BTreeMap::new());
    let mut rows = ROWS.lock().unwrap_or_else(PoisonError::into_inner);
    let cell: &OnceLock<Row> = rows.entry(row.to_owned()).or_insert_with(|| Box::leak(Box::default()));
    drop(rows);
    cell.get_or_init(|| Row::new(source(row), Profile::Full, &[], &[]))
}

/// The row at the paper's size, with these settings.
pub fn with(row: &str, settings: &[&str]) -> Row {
    Row::new(source(row), Profile::Full, settings, &[])
}

/// The row with every time of its workloads, changes and samples a hundredth as long: 5 s become 50 ms.
pub fn fast(row: &str) -> Source {
    let Source { name, text } = source(row);
    let (fabric, workloads) = text.split_once("\n[workloads.").expect("a workload");
    let ends = ["\n[measure.windows]", "\n[profile.", "\n[published]", "\n[[claims]]"];
    let ends = ends.into_iter().filter_map(|end| workloads.find(end));
    let workloads = &workloads[..ends.min().unwrap_or(workloads.len())];
    let mut fast = format!("{fabric}\n[workloads.");
    let mut before = ' ';
    for (at, c) in workloads.char_indices() {
        if before.is_ascii_digit() && workloads[at..].starts_with("s\"") {
            fast.push_str("0m");
        }
        fast.push(c);
        before = c;
    }
    Source { name, text: fast + "\n" }
}

impl Row {
    /// The experiment of this text; `only` as on the command line.
    pub fn new(source: Source, profile: Profile, settings: &[&str], only: &[&str]) -> Self {
        let owned = |all: &[&str]| all.iter().map(|&s| s.to_owned()).collect::<Vec<_>>();
        let loaded = OWNERS.load(source, profile, &owned(settings)).unwrap_or_else(|e| panic!("{e}"));
        let plan = OWNERS.resolve(&loaded, &owned(only)).unwrap_or_else(|e| panic!("{e}"));
        Self { loaded, plan }
    }

    /// The number of changes by the profile.
    pub fn cuts(&self) -> usize {
        self.loaded.cuts.len()
    }

    /// The experiment in the file.
    pub fn experiment(&self) -> &Experiment {
        &self.loaded.experiment
    }

    /// The only case with this label.
    pub fn case(&self, label: &str) -> &Case {
        let mut cases = self.plan.cases.iter().filter(|c| c.label() == label);
        let labels = || self.plan.cases.iter().map(Case::label).collect::<Vec<_>>();
        cases.next().unwrap_or_else(|| panic!("no {label}: {:?}", labels()))
    }

    /// The bound scheme of this name in any case.
    pub fn bound_scheme(&self, scheme: &str) -> &BoundScheme {
        let mut all = self.plan.cases.iter().flat_map(|c| &c.bound_schemes);
        all.find(|c| c.scheme == scheme).unwrap_or_else(|| panic!("no bound_scheme {scheme}"))
    }

    /// The number of a node.
    pub fn node(&self, name: &str) -> u32 {
        self.plan.fabric().node(name).unwrap_or_else(|| panic!("no node {name}"))
    }

    /// The host with this name.
    pub fn host(&self, name: &str) -> u32 {
        self.node(name) / self.plan.fabric().addresses(0).len() as u32
    }

    /// All paths of a packet of the first case from one host to another.
    pub fn routes(&self, from: u32, to: u32) -> Vec<Path> {
        match &*self.plan.cases[0].bound_schemes[0].routing {
            Routing::Fixed(routes) => routes.all(from, to, 65_536),
            Routing::Nodes { paths, .. } => {
                let [from, to] = [from, to].map(|host| self.plan.fabric().addresses(host).start);
                (0..paths.count(from, to)).map(|k| paths.path(from, to, k)).collect()
            }
        }
    }

    /// The same by the hosts' names.
    pub fn named(&self, from: &str, to: &str) -> Vec<Path> {
        self.routes(self.host(from), self.host(to))
    }

    /// The RTTs of empty paths between two hosts, us: with propagation alone, and with the packets of the
    /// first scheme and its ACKs. All paths between them have the same.
    pub fn rtt_us(&self, from: u32, to: u32) -> (f64, f64) {
        let transport = &self.plan.cases[0].bound_schemes[0].transport;
        let sizes = [(0, 0), (transport.mss + transport.header, transport.ack)];
        let routes = self.routes(from, to);
        let [bare, full] = sizes.map(|(data, ack)| {
            let rtts: Vec<f64> = routes
                .iter()
                .map(|r| self.plan.fabric().base_rtt(&r.there, data, ack) as f64 / 1e6)
                .collect();
            assert!(rtts.iter().all(|rtt| *rtt == rtts[0]), "{rtts:?}");
            rtts[0]
        });
        (bare, full)
    }

    /// The RTT of propagation alone on a route, us.
    pub fn rtt_us_of(&self, route: &Path) -> f64 {
        self.plan.fabric().base_rtt(&route.there, 0, 0) as f64 / 1e6
    }

    /// The rates of the links on a route, Mbit/s.
    pub fn rates(&self, route: &Path) -> Vec<u64> {
        route.there.iter().map(|&port| self.plan.fabric().rate(port) / 1_000_000).collect()
    }

    /// The names of the nodes that a route passes.
    pub fn passes(&self, route: &Path) -> Vec<&str> {
        route.there.iter().map(|&port| self.plan.fabric().end_names(port)[1]).collect()
    }

    /// Runs it under seed 1, and gives the results of its cases.
    pub fn run(&self) -> Vec<CaseResult> {
        let out = tempfile::tempdir().expect("a temporary folder");
        let (profile, out) = (Profile::Quick, out.path().to_owned());
        let options = Options {
            profile,
            seed: 1,
            replications: 1.into(),
            parallel: 1,
            threads: 1,
            out: Some(out),
            judge: false,
            figure: None,
        };
        let watch = Watch::new(&self.plan, &options).expect("one seed");
        let report = run(&self.loaded, &self.plan, &options, &watch).unwrap_or_else(|e| panic!("{e}"));
        assert!(report.status == Status::Complete, "{:?}", report.errors);
        report.cases
    }
}

/// The behaviour of a part of a workload if each of its flows takes a given time.
#[derive(Debug, Default)]
pub struct Seen {
    /// The flows that started, and when.
    pub starts: Vec<(Time, Start)>,
    /// When the flows ended that finished or were stopped.
    pub ends: BTreeMap<u64, Time>,
    /// The jobs that ended.
    pub jobs: Vec<Job>,
}

impl Seen {
    /// Bytes of all flows.
    pub fn bytes(&self) -> u64 {
        self.starts.iter().filter_map(|(_, start)| start.bytes).sum()
    }

    /// The most flows at one time for which `key` is the same; those that end at an instant do not count in
    /// it.
    pub fn most_at_a_time(&self, key: impl Fn(&Start) -> u32) -> i64 {
        let mut events = Vec::new();
        for (at, start) in &self.starts {
            events.push((*at, 1, key(start)));
            events.extend(self.ends.get(&start.name).map(|end| (*end, -1, key(start))));
        }
        events.sort_unstable();
        let mut now: BTreeMap<u32, i64> = BTreeMap::new();
        let most = events.iter().map(|(_, change, key)| {
            let count = now.entry(*key).or_default();
            *count += change;
            *count
        });
        most.max().unwrap_or(0)
    }
}

/// The behaviour of `part` under seed 1 until `until`, if its flows take the times given by `takes`.
pub fn seen(part: &Part, until: Time, takes: impl Fn(&Start) -> Time) -> Seen {
    let mut source = part.source(1);
    let (mut seen, mut under_way) = (Seen::default(), BTreeSet::<(Time, u64)>::new());
    let mut now = 0;
    while now <= until {
        while let Some(action) = source.poll(now) {
            match action {
                Action::Start(start) => {
                    seen.starts.push((now, start));
                    if start.bytes.is_some() {
                        let end = now.saturating_add(takes(&start));
                        seen.ends.insert(start.name, end);
                        under_way.insert((end, start.name));
                    }
                }
                Action::Stop(name) => {
                    seen.ends.insert(name, now);
                    under_way.retain(|(_, flow)| *flow != name);
                }
                Action::Ended(job) => seen.jobs.push(job),
            }
        }
        let finished = under_way.first().copied();
        match finished {
            Some((end, name)) if end <= source.next() => {
                now = end;
                under_way.remove(&(end, name));
                source.handle_finished(now, name);
            }
            _ if source.next() == NEVER => break,
            _ => now = source.next(),
        }
    }
    seen.ends.retain(|_, end| *end <= until);
    seen
}

/// Whether two numbers differ by at most this share of the second.
pub fn within(share: f64, is: f64, wanted: f64) -> bool {
    (is - wanted).abs() <= share * wanted
}
