//! The networks of the papers: all of `papers/networks`, which are files as `tresse explain file` describes them.

use std::sync::LazyLock;

use serde::Deserialize;

macro_rules! files {
    ($($name:literal),* $(,)?) => {
        [$(($name, include_str!(concat!("../../../../papers/networks/", $name, ".json")))),*]
    };
}

/// Name and text, in the order of lists.
const FILES: [(&str, &str); 8] = files![
    "xmp-testbed-a",
    "xmp-testbed-b",
    "xmp-torus",
    "thesis-2.2a",
    "thesis-2.2b",
    "thesis-3.2",
    "thesis-3.2-users",
    "thesis-4.2",
];

/// A network of a paper. Its size is the paper's; an experiment chooses what its links are like, by layer.
#[derive(Debug)]
pub struct PaperNetwork {
    /// Its name as a topology.
    pub name: &'static str,
    pub text: &'static str,
    /// What the file says about it.
    pub about: About,
}

/// What the file of a network says about it, in `graph`.
#[derive(Debug, Deserialize)]
pub struct About {
    /// What it is, as a heading.
    pub title: String,
    /// The paper, and the place in it.
    pub source: String,
    /// What it is, in one sentence.
    pub meaning: String,
    /// The lines of its page, below the title.
    pub about: Vec<String>,
}

impl PaperNetwork {
    /// Its page, in Markdown.
    pub fn page(&self) -> String {
        let About { title, about, .. } = &self.about;
        format!("# {title}\n\n{}\n", about.join("\n"))
    }
}

/// All of them, in the order of lists.
pub fn all() -> &'static [PaperNetwork] {
    static ALL: LazyLock<Vec<PaperNetwork>> = LazyLock::new(|| {
        let network = |&(name, text)| PaperNetwork { name, text, about: about(text) };
        FILES.iter().map(network).collect()
    });
    &ALL
}

/// The one with this name.
pub fn find(name: &str) -> Option<&'static PaperNetwork> {
    all().iter().find(|network| network.name == name)
}

fn about(text: &str) -> About {
    #[derive(Deserialize)]
    struct File {
        graph: About,
    }
    let file: File = serde_json::from_str(text).expect("the networks of the papers say what they are");
    file.graph
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    #[test]
    fn they_are_all_files_of_the_folder() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../papers/networks");
        let files =
            fs::read_dir(folder).expect("the folder").map(|entry| entry.expect("readable").file_name());
        let files: BTreeSet<String> = files.map(|name| name.to_string_lossy().into_owned()).collect();
        let names = super::all().iter().map(|network| format!("{}.json", network.name));
        assert_eq!(names.collect::<BTreeSet<_>>(), files);
    }
}
