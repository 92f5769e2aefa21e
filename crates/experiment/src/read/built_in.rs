//! The built-in experiments: all of `papers/`.

use std::iter;
use std::sync::LazyLock;

use toml::de::DeTable;

use crate::read::owned::Meaning;
use crate::schema::Experiment;

macro_rules! built_in {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../../../papers/", $name, ".toml")))),*]
    };
}

/// Name and text.
const BUILT_IN: &[(&str, &str)] = built_in![
    "dcm/coexist",
    "dcm/exp1",
    "dcm/exp2",
    "dcm/exp3",
    "dcm/fairness",
    "dcm/incast-summary",
    "dcm/job-tail",
    "dcm/k-beta",
    "dcm/sharing",
    "dcm/shift",
    "holnet/balancer",
    "holnet/fig2.3-1",
    "holnet/fig2.3-2",
    "holnet/fig2.4",
    "holnet/fig2.5",
    "holnet/fig3.1",
    "holnet/fig3.3",
    "holnet/fig3.4",
    "holnet/fig3.5",
    "holnet/fig3.6",
    "holnet/fig4.3",
    "holnet/fig4.4",
    "holnet/fig4.5",
    "holnet/fig5.1",
    "holnet/floor",
    "holnet/table3.2",
    "holnet/table4.1",
    "holnet/table4.2",
    "opn/fig10",
    "opn/fig11",
    "opn/fig12",
    "opn/fig12-per-path",
    "opn/fig13",
    "opn/fig13-table2",
    "opn/fig15",
    "opn/fig16",
    "opn/fig17",
    "opn/fig2",
    "opn/fig3",
    "opn/fig4",
    "opn/fig6",
    "opn/last-hop",
    "opn/nstar",
    "opn/nstar-table",
    "opn/short-flows",
    "today/cluster-100k",
    "today/generations",
    "today/loops",
    "today/pfc",
    "today/planes",
    "today/uet",
    "today/uet-permutation",
    "vmcc/deadlines",
    "vmcc/fig10",
    "vmcc/fig2",
    "vmcc/fig4",
    "vmcc/fig5",
    "vmcc/fig5-queries",
    "vmcc/fig7",
    "vmcc/fig9",
    "vmcc/remap",
    "vmcc/table3",
    "vmcc/table3-background",
    "vmcc/table3-uncapped",
    "vmcc/theorem1",
    "xmp/coexist",
    "xmp/fig1",
    "xmp/fig4",
    "xmp/fig6",
    "xmp/fig7",
    "xmp/jobs-recovery",
    "xmp/lia-recovery",
    "xmp/readings",
    "xmp/rtomin",
    "xmp/subflows",
    "xmp/table1",
    "xmp/table2",
    "xmp/table2-recovery",
    "xmp/threshold",
];

/// Their names.
pub fn names() -> Vec<&'static str> {
    BUILT_IN.iter().map(|(name, _)| *name).collect()
}

/// The name and the text of one, with or without `.toml`, found by its own name or by one of its rows, such as
/// `xmp/fig9` for `xmp/table1`.
pub fn find(name: &str) -> Option<(&'static str, &'static str)> {
    let name = name.strip_suffix(".toml").unwrap_or(name);
    let own = |name: &str| BUILT_IN.iter().find(|(n, _)| *n == name).copied();
    own(name).or_else(|| rows().iter().find(|(row, _)| row == name).and_then(|(_, file)| own(file)))
}

/// The rows of all of them, such as `xmp/fig9`, each with the name of the experiment that it is part of.
pub fn rows() -> &'static [(String, &'static str)] {
    /// All files are parsed for them.
    static ROWS: LazyLock<Vec<(String, &'static str)>> = LazyLock::new(|| {
        all().flat_map(|(name, e)| rows_of(name, &e).into_iter().map(move |row| (row, name))).collect()
    });
    &ROWS
}

/// The rows of one: those that it lists, or its own name.
pub fn rows_of(name: &'static str, experiment: &Experiment) -> Vec<String> {
    let paper = name.split_once('/').map_or(name, |(paper, _)| paper);
    match &experiment.rows {
        Some(rows) => rows.iter().map(|row| format!("{paper}/{row}")).collect(),
        None => vec![name.to_owned()],
    }
}

/// All names that can be requested: those of experiments, and those of rows that are part of an experiment.
pub fn known() -> Vec<String> {
    let names = names();
    let others = rows().iter().map(|(row, _)| row).filter(|row| !names.contains(&row.as_str()));
    let mut known: Vec<String> = names.iter().map(|&name| name.to_owned()).chain(others.cloned()).collect();
    known.sort_unstable();
    known
}

/// All experiments, parsed.
pub fn all() -> impl Iterator<Item = (&'static str, Experiment)> {
    let meaning = Meaning::new(|_| Ok(()), iter::empty(), true);
    let read = move |text| meaning.read(DeTable::parse(text)?);
    BUILT_IN.iter().map(move |&(name, text)| (name, read(text).expect("built-in experiments are valid")))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    #[test]
    fn a_row_is_found_by_its_name_and_is_part_of_one_experiment() {
        let table1 = super::find("xmp/table1").expect("built in");
        assert_eq!(super::find("xmp/fig9.toml"), Some(table1));
        assert_eq!((table1.0, super::find("xmp/fig99")), ("xmp/table1", None));
        let rows = super::rows();
        let names: BTreeSet<&String> = rows.iter().map(|(row, _)| row).collect();
        assert_eq!(names.len(), rows.len(), "a row is part of two experiments");
        for (row, file) in rows {
            let own = super::names().into_iter().find(|name| name == row);
            assert!(
                own.is_none_or(|name| name == *file),
                "{row} is part of {file}, and there is a file of that name"
            );
        }
    }

    #[test]
    fn they_are_all_files_of_the_folder() {
        let papers = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../papers");
        let mut files = BTreeSet::new();
        for paper in fs::read_dir(papers).expect("the folder").map(|entry| entry.expect("readable").path()) {
            for file in
                fs::read_dir(&paper).into_iter().flatten().map(|entry| entry.expect("readable").path())
            {
                let is_paper = paper.file_name().is_some_and(|name| name != "results");
                if is_paper && file.extension().is_some_and(|extension| extension == "toml") {
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
