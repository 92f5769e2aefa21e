//! The page of the topics of `tresse explain`: the parts and topics that have a page in `docs/explain/`, by
//! kind.

use std::fmt::Write as _;
use std::path::Path;

use tresse_experiment::read::paper_networks;
use tresse_workbench::catalogue::{Kind, list};

const KINDS: [(Kind, &str); 8] = [
    (Kind::Topics, "Topics"),
    (Kind::Topologies, "Topologies"),
    (Kind::Workloads, "Workloads"),
    (Kind::Distributions, "Flow-size distributions"),
    (Kind::LoadBalancers, "Load balancers and routing"),
    (Kind::HostBalancers, "Balancers of hosts"),
    (Kind::PathManagers, "Path managers"),
    (Kind::Schedulers, "Schedulers"),
];

/// `docs/reference/topics.md`.
pub fn page(root: &Path) -> String {
    let mut page = "# Topics\n\n\
        <!-- `cargo xtask pages` writes this page from what `tresse list` knows. -->\n\n\
        What `tresse explain NAME` tells. [Controllers](controllers.md) have pages of their own; experiments are in \
        [papers/](../../papers).\n"
        .to_owned();
    for (kind, heading) in KINDS {
        write!(page, "\n## {heading}\n\n| name | what it is |\n|---|---|\n").expect("a string");
        for entry in list(kind) {
            let (name, title) = (&entry.name, entry.title.replace('|', "\\|"));
            let link = match kind {
                Kind::HostBalancers => format!("[{name}](balancers.md#{name})"),
                _ if ["columns", "metrics"].contains(&&**name)
                    || paper_networks::find(name).is_some()
                    || root.join(format!("docs/explain/{name}.md")).exists() =>
                {
                    format!("[{name}](../explain/{name}.md)")
                }
                _ => name.clone(),
            };
            writeln!(page, "| {link} | {title} |").expect("a string");
        }
    }
    page
}
