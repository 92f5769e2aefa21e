//! What is measured: flows on fat trees.

use tresse_experiment::plan::{Plan, resolve};
use tresse_experiment::{Diagnostic, Profile, find, load};

/// A benchmark: flows on a fat tree.
#[derive(Debug, Clone, Copy)]
pub(super) struct Benchmark {
    /// Topology and scheme; then the pattern or, under Permutation, what differs.
    pub name: &'static str,
    /// Ports a switch.
    k: u32,
    /// Simulated time.
    milliseconds: u32,
    flows: Flows,
    /// How many threads it may use.
    pub threads: usize,
}

/// What starts the flows, and who carries them.
#[derive(Debug, Clone, Copy)]
enum Flows {
    /// Permutation, XMP with two subflows, with what differs from `xmp/table1`.
    Xmp(Option<&'static str>),
    /// Permutation, LIA with two subflows, whose losses are repaired so.
    Lia(&'static str),
    /// Permutation, XMP's window over the paths that REPS picks, and ports that trim.
    Sprayed,
    /// By DCTCP, as this workload starts them.
    Dctcp(&'static str),
}

const fn benchmark(name: &'static str, k: u32, milliseconds: u32, flows: Flows) -> Benchmark {
    Benchmark { name, k, milliseconds, flows, threads: 1 }
}

/// A case on two threads.
const fn on_two(name: &'static str, k: u32, milliseconds: u32, flows: Flows) -> Benchmark {
    Benchmark { threads: 2, ..benchmark(name, k, milliseconds, flows) }
}

const fn xmp(name: &'static str, setting: &'static str) -> Benchmark {
    benchmark(name, 8, 50, Flows::Xmp(Some(setting)))
}

/// Fixed routes over plain ports first, which the others of the same k are compared with, and these on two threads;
/// then every kind of switch that decides for each packet, and ports with a real server; then losses, and flows
/// that start and finish.
const BENCHMARKS: [Benchmark; 23] = [
    benchmark("fat-tree-k8-xmp2-permutation", 8, 200, Flows::Xmp(None)),
    benchmark("fat-tree-k16-xmp2-permutation", 16, 30, Flows::Xmp(None)),
    benchmark("fat-tree-k32-xmp2-permutation", 32, 6, Flows::Xmp(None)),
    on_two("fat-tree-k8-xmp2-2-threads", 8, 200, Flows::Xmp(None)),
    on_two("fat-tree-k16-xmp2-2-threads", 16, 30, Flows::Xmp(None)),
    on_two("fat-tree-k32-xmp2-2-threads", 32, 6, Flows::Xmp(None)),
    xmp("fat-tree-k8-xmp2-ecmp", r#"fabric.routing="ecmp""#),
    xmp("fat-tree-k8-xmp2-spray", r#"fabric.routing="spray""#),
    xmp("fat-tree-k8-xmp2-drill", r#"fabric.routing="drill""#),
    xmp("fat-tree-k8-xmp2-holnet-percentage", r#"fabric.routing="holnet-percentage""#),
    xmp("fat-tree-k8-xmp2-holnet-rate", r#"fabric.routing="holnet-rate""#),
    xmp("fat-tree-k8-xmp2-servers", r#"fabric.classes=[{ quantum = "1500B" }]"#),
    benchmark("fat-tree-k8-xmp-sprayed", 8, 50, Flows::Sprayed),
    benchmark("fat-tree-k16-xmp-sprayed", 16, 30, Flows::Sprayed),
    benchmark("fat-tree-k8-lia2-newreno", 8, 50, Flows::Lia("newreno")),
    benchmark("fat-tree-k8-lia2-sack", 8, 50, Flows::Lia("sack")),
    benchmark("fat-tree-k8-lia2-rack", 8, 50, Flows::Lia("rack")),
    benchmark("fat-tree-k16-lia2-sack", 16, 30, Flows::Lia("sack")),
    benchmark("fat-tree-k8-arrivals", 8, 50, Flows::Dctcp(ARRIVALS)),
    benchmark("fat-tree-k16-web-search", 16, 100, Flows::Dctcp(WEB_SEARCH)),
    on_two("fat-tree-k16-web-search-2-threads", 16, 100, Flows::Dctcp(WEB_SEARCH)),
    benchmark("fat-tree-k8-ring", 8, 500, Flows::Dctcp(RING)),
    on_two("fat-tree-k8-ring-2-threads", 8, 500, Flows::Dctcp(RING)),
];

/// The benchmarks that have one of `only` in their name; all if that is empty.
///
/// # Errors
/// If no name contains one of `only`.
pub(super) fn chosen(only: &[String]) -> Result<Vec<Benchmark>, Diagnostic> {
    for text in only {
        if !BENCHMARKS.iter().any(|b| b.name.contains(text)) {
            let names = BENCHMARKS.map(|b| b.name).join(", ");
            return Err(Diagnostic::input("no benchmark has this text in its name")
                .of(format!("--only {text}"))
                .hint(format!("available: {names}")));
        }
    }
    Ok(BENCHMARKS.into_iter().filter(|b| is_chosen(b.name, only)).collect())
}

/// Whether `only` keeps the case of this name.
pub(super) fn is_chosen(name: &str, only: &[String]) -> bool {
    only.is_empty() || only.iter().any(|text| name.contains(text))
}

impl Benchmark {
    /// XMP's Permutation with fixed routes over plain ports, on the same fabric for the same time.
    pub fn on_fixed_routes(self) -> Self {
        Self { flows: Flows::Xmp(None), ..self }
    }

    /// The name of the benchmark with fixed routes over plain ports on the same fabric.
    pub fn name_on_fixed_routes(&self) -> String {
        format!("fat-tree-k{}-xmp2-permutation", self.k)
    }

    /// Its plan: one case, which ends after the simulated time.
    ///
    /// # Errors
    /// None that a user could cause: the experiment is built in.
    pub fn plan(&self) -> Result<Plan, Diagnostic> {
        let (scheme, pattern, settings): (_, _, &[&str]) = match &self.flows {
            Flows::Xmp(setting) => (["scheme=xmp", "subflows=2"], PERMUTATION, setting.as_slice()),
            // Table 1's own recovery, ACKs and handshake are XMP's reading of ns-3: here they are the profile's.
            Flows::Lia(_) => (["scheme=lia", "subflows=2"], PERMUTATION, &DROP_TAIL),
            Flows::Sprayed => (["scheme=xmp", "subflows=1"], PERMUTATION, &SPRAYED),
            &Flows::Dctcp(workload) => (["scheme=dctcp", "subflows=1"], workload, &[]),
        };
        let recovery = match self.flows {
            Flows::Lia(recovery) => Some(format!("transport.recovery={recovery}")),
            Flows::Xmp(_) | Flows::Sprayed | Flows::Dctcp(_) => None,
        };
        let duration = self.milliseconds;
        let own = [
            format!("fabric.k={}", self.k),
            format!("workloads.benchmark={{ {pattern}, duration = \"{duration}ms\" }}"),
        ];
        let settings: Vec<String> =
            own.into_iter().chain(settings.iter().map(|&s| s.to_owned())).chain(recovery).collect();
        let loaded = load(find("xmp/table1")?, Profile::Full, &settings)?;
        let [scheme, subflows] = scheme;
        resolve(&loaded, &[scheme, subflows, "pattern=benchmark"].map(str::to_owned))
    }
}

/// A host sends to one other as long as the case lasts.
const PERMUTATION: &str = r#"pattern = "permutation""#;

/// A thousand flows a millisecond on 128 hosts at 1 Gbit/s: 48 of 128 Gbit/s.
const ARRIVALS: &str = r#"pattern = "poisson", size = "6kB", load = 0.375, load_on = "access""#;

/// Flows of 1.7 MB on average, most of them much smaller, to 60 % of the load that the network can carry.
const WEB_SEARCH: &str =
    r#"pattern = "poisson", size = { distribution = "websearch-hpcc" }, load = 0.6, load_on = "access""#;

/// Messages of 64 kB from each of 128 hosts to its neighbour, one step after the other.
const RING: &str = r#"pattern = "collective", collective = "ring-all-reduce", size = "8MB""#;

/// Table 1's packets, sprayed. A sprayed connection has no handshake.
const SPRAYED: [&str; 6] = [
    r#"fabric.routing="ecmp""#,
    r#"fabric.trim="64B""#,
    "transport.handshake=false",
    r#"schemes.xmp.transport={ profile = "spray", ack_every = "1pkt" }"#,
    r#"schemes.xmp.balancer="reps""#,
    "schemes.xmp.subflows=1",
];

/// Queues of Table 1, which drop what comes beyond 100 packets, for a transport by its profile.
const DROP_TAIL: [&str; 3] =
    ["transport.ack_every=2pkt", "transport.handshake=false", "transport.initial_ssthresh=100pkt"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn benchmarks_are_chosen_by_a_part_of_their_name() {
        let names = |only: &[&str]| -> Result<Vec<&str>, Diagnostic> {
            let only: Vec<String> = only.iter().map(|&text| text.to_owned()).collect();
            Ok(chosen(&only)?.iter().map(|b| b.name).collect())
        };
        assert_eq!(names(&[]).map(|all| all.len()), Ok(BENCHMARKS.len()));
        let some = ["fat-tree-k8-lia2-sack", "fat-tree-k16-lia2-sack", "fat-tree-k8-arrivals"];
        assert_eq!(names(&["arrivals", "sack"]), Ok(some.to_vec()));
        let message = names(&["sack", "cubic"]).expect_err("there is none").to_string();
        assert!(message.starts_with("--only cubic: no benchmark has this text in its name\n"), "{message}");
        assert!(message.contains("fat-tree-k8-lia2-rack, "), "{message}");
    }

    /// Where one is compared with others, it is by what its name says.
    #[test]
    fn benchmarks_are_what_their_names_say() {
        for b in BENCHMARKS {
            assert!(b.name.starts_with(&format!("fat-tree-k{}-", b.k)), "{}", b.name);
            assert!(BENCHMARKS.iter().any(|fixed| fixed.name == b.name_on_fixed_routes()), "{}", b.name);
        }
        let config = |name: &str| {
            let [benchmark] = chosen(&[name.to_owned()]).expect("it is there")[..] else { panic!("{name}") };
            benchmark.plan().expect("it is built in").cases[0].bound_schemes[0].transport
        };
        let [newreno, sack, rack] = ["k8-lia2-newreno", "k8-lia2-sack", "k8-lia2-rack"].map(config);
        for other in [newreno, rack] {
            assert_ne!(other.recovery, sack.recovery);
            assert_eq!(tresse_transport::Config { recovery: sack.recovery, ..other }, sack);
        }
    }
}
