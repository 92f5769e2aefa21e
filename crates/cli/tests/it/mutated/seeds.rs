//! What is right: the inputs that others are made of.

/// Small experiments of every topology's and pattern's kind, each a tenth of a second.
pub const EXPERIMENTS: [(&str, &str); 4] = [
    ("rounds.toml", include_str!("seeds/rounds.toml")),
    ("arrivals.toml", include_str!("seeds/arrivals.toml")),
    ("listed.toml", include_str!("seeds/listed.toml")),
    ("changes.toml", include_str!("seeds/changes.toml")),
];

/// Some of the papers', for the keys that they use; too long to be run to their end.
pub const PAPERS: [(&str, &str); 8] = [
    ("table1.toml", include_str!("../../../../../papers/xmp/table1.toml")),
    ("fig7.toml", include_str!("../../../../../papers/xmp/fig7.toml")),
    ("fig4.toml", include_str!("../../../../../papers/opn/fig4.toml")),
    ("last-hop.toml", include_str!("../../../../../papers/opn/last-hop.toml")),
    ("table4.1.toml", include_str!("../../../../../papers/holnet/table4.1.toml")),
    ("fig3.5.toml", include_str!("../../../../../papers/holnet/fig3.5.toml")),
    ("deadlines.toml", include_str!("../../../../../papers/vmcc/deadlines.toml")),
    ("shift.toml", include_str!("../../../../../papers/dcm/shift.toml")),
];

/// What the experiments read.
pub const BESIDE: [(&str, &[u8]); 8] = [
    ("flows.csv", include_bytes!("seeds/flows.csv")),
    ("sizes.cdf", include_bytes!("seeds/sizes.cdf")),
    ("graph.json", include_bytes!("seeds/graph.json")),
    ("graph.graphml", include_bytes!("seeds/graph.graphml")),
    ("trace.goal", include_bytes!("seeds/trace.goal")),
    ("trace.bin", include_bytes!("seeds/trace.bin")),
    ("job.0.et", include_bytes!("seeds/job.0.et")),
    ("job.1.et", include_bytes!("seeds/job.1.et")),
];

/// Other simulators' files, with the format that `import` knows each pair by.
pub const FOREIGN: [(&str, &[&str]); 5] = [
    ("htsim-cm", &["matrix.cm"]),
    ("htsim-cm", &["matrix.cm", "clos.topo"]),
    ("htsim-topo", &["clos.topo"]),
    ("hpcc", &["topology.txt", "flow.txt"]),
    ("hpcc-cdf", &["sizes.cdf"]),
];

/// Their texts.
pub fn foreign(name: &str) -> &'static str {
    match name {
        "matrix.cm" => include_str!("seeds/matrix.cm"),
        "clos.topo" => include_str!("seeds/clos.topo"),
        "topology.txt" => include_str!("seeds/topology.txt"),
        "flow.txt" => include_str!("seeds/flow.txt"),
        "sizes.cdf" => include_str!("seeds/sizes.cdf"),
        other => panic!("no seed is called {other}"),
    }
}

/// A script for `controller trace`.
pub const SCRIPT: &str = include_str!("../../../../../docs/examples/marks.txt");
