//! The experiments that are built in: all of `papers/`.

use crate::experiment::Experiment;

macro_rules! built_in {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../../papers/", $name, ".toml")))),*]
    };
}

/// Name and text.
const BUILT_IN: &[(&str, &str)] = built_in![
    "dcm/coexist",
    "dcm/exp1",
    "dcm/exp2",
    "dcm/exp3",
    "dcm/fairness",
    "dcm/shift",
    "holnet/fig2.3-1",
    "holnet/fig2.3-2",
    "holnet/fig2.4",
    "holnet/fig2.5",
    "holnet/fig3.3",
    "holnet/fig3.4",
    "holnet/fig3.5",
    "holnet/fig3.6",
    "holnet/fig4.3",
    "holnet/fig4.4",
    "holnet/fig4.5",
    "holnet/table3.2",
    "opn/fig10",
    "opn/fig11",
    "opn/fig12",
    "opn/fig13",
    "opn/fig15",
    "opn/fig16",
    "opn/fig17",
    "opn/fig2",
    "opn/fig3",
    "opn/fig4",
    "vmcc/fig10",
    "vmcc/fig2",
    "vmcc/fig4",
    "vmcc/fig5",
    "vmcc/fig7",
    "vmcc/fig9",
    "vmcc/table3",
    "vmcc/table3-uncapped",
    "xmp/fig1",
    "xmp/fig4",
    "xmp/fig6",
    "xmp/fig7",
    "xmp/table1",
    "xmp/table2",
];

/// Their names.
pub fn names() -> Vec<&'static str> {
    BUILT_IN.iter().map(|(name, _)| *name).collect()
}

/// The text of one, with or without `.toml`.
pub fn find(name: &str) -> Option<&'static str> {
    let name = name.strip_suffix(".toml").unwrap_or(name);
    BUILT_IN.iter().find(|(n, _)| *n == name).map(|(_, text)| *text)
}

/// All of them, read.
pub fn all() -> impl Iterator<Item = (&'static str, Experiment)> {
    BUILT_IN.iter().map(|&(name, text)| (name, toml::from_str(text).expect("built-in experiments are valid")))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    #[test]
    fn they_are_all_files_of_the_folder() {
        let papers = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../papers");
        let mut files = BTreeSet::new();
        for paper in fs::read_dir(papers).expect("the folder").map(|entry| entry.expect("readable").path()) {
            for file in
                fs::read_dir(&paper).into_iter().flatten().map(|entry| entry.expect("readable").path())
            {
                if file.extension().is_some_and(|extension| extension == "toml") {
                    let name = file.with_extension("");
                    let parts =
                        [&paper, &name].map(|path| path.file_name().expect("a name").to_string_lossy());
                    files.insert(parts.join("/"));
                }
            }
        }
        let names: BTreeSet<String> = super::names().into_iter().map(str::to_owned).collect();
        assert_eq!(names, files);
    }
}
