//! The page of the topics of `tresse explain`: the parts and topics that have a page in `docs/explain/`, by
//! kind.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use tresse_experiment::read::paper_networks;
use tresse_workbench::catalogue::{Kind, list};

use crate::networks_page;

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
                _ => {
                    place(root, name).map_or_else(|| name.clone(), |at| format!("[{name}](../explain/{at})"))
                }
            };
            writeln!(page, "| {link} | {title} |").expect("a string");
        }
    }
    page
}

/// Where `name` is explained: on its page, or on the page that has an anchor of this name.
fn place(root: &Path, name: &str) -> Option<String> {
    let folder = root.join("docs/explain");
    if ["columns", "metrics"].contains(&name) || folder.join(format!("{name}.md")).exists() {
        return Some(format!("{name}.md"));
    }
    if paper_networks::find(name).is_some() {
        return Some(format!("{}#{name}", networks_page::file_of(name)));
    }
    let anchor = format!("<a id=\"{name}\"></a>");
    let pages = fs::read_dir(folder).ok()?.filter_map(Result::ok);
    let page = pages
        .map(|page| page.path())
        .find(|page| fs::read_to_string(page).is_ok_and(|t| t.contains(&anchor)))?;
    Some(format!("{}#{name}", page.file_name()?.to_str()?))
}
