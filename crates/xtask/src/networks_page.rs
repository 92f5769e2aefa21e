//! The pages of the papers' networks, one for each paper.

use std::collections::BTreeMap;

use tresse_experiment::read::paper_networks;

/// The pages, by their paths from `docs/explain/`.
pub fn pages() -> BTreeMap<String, String> {
    let mut pages = BTreeMap::new();
    for network in paper_networks::all() {
        let paper = if network.name.starts_with("xmp-") { "XMP" } else { "The thesis" };
        let page = pages.entry(file_of(network.name)).or_insert_with(|| format!("# {paper}'s networks\n"));
        *page += &format!("\n<a id=\"{}\"></a>\n\n#{}", network.name, network.page());
    }
    pages
}

/// The page that has the network `name`.
pub fn file_of(name: &str) -> String {
    format!("{}-networks.md", name.split('-').next().unwrap_or(name))
}
