//! One of the five papers: its experiments, in the order of the paper's names.

use std::cmp::Ordering;

use tresse_experiment::diagnostic::{Diagnostic, did_you_mean};
use tresse_experiment::read::{Profile, built_in};

/// Its name on the command line and in `papers/`, and its title.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Paper {
    /// `xmp`, `opn`, `dcm`, `holnet` or `vmcc`.
    pub name: &'static str,
    /// The handwritten text about it: `papers/NAME/README.md`, a page that begins with the paper's title.
    pub about: &'static str,
}

macro_rules! papers {
    ($($name:literal),*) => {
        &[$(Paper { name: $name, about: include_str!(concat!("../../../papers/", $name, "/README.md")) }),*]
    };
}

/// The five papers.
pub const ALL: &[Paper] = papers!["xmp", "opn", "dcm", "holnet", "vmcc"];

/// The paper with this name.
///
/// # Errors
/// If there is none.
pub fn find(name: &str) -> Result<Paper, Diagnostic> {
    ALL.iter().copied().find(|p| p.name == name).ok_or_else(|| {
        let known = ALL.iter().map(|p| p.name);
        let all: Vec<&str> = known.clone().collect();
        let hint = did_you_mean(name, known);
        Diagnostic::input(format!("there is no paper `{name}`{hint}"))
            .hint(format!("the papers are {}", all.join(", ")))
    })
}

impl Paper {
    /// The title: the first line of the handwritten page.
    pub fn title(self) -> &'static str {
        self.about.lines().next().unwrap_or_default().trim_start_matches("# ")
    }

    /// The names of its experiments: the paper's figures and tables in their order, `xmp/fig2` before
    /// `xmp/fig10`, then the others.
    pub fn experiments(self) -> Vec<&'static str> {
        let rows = built_in::rows();
        let is_row = |name: &str| rows.iter().any(|(_, file)| *file == name);
        let mut names: Vec<_> = built_in::names().into_iter().filter(|name| self.owns(name)).collect();
        names.sort_by(|a, b| is_row(b).cmp(&is_row(a)).then_with(|| natural(a, b)));
        names
    }

    fn owns(self, name: &str) -> bool {
        name.split_once('/').is_some_and(|(paper, _)| paper == self.name)
    }
}

/// How long the built-in experiment `name` took when its results were kept, s; `None` if none are kept.
pub fn took_s(name: &str, profile: Profile) -> Option<f64> {
    let times: toml::Table = toml::from_str(TIMES).expect("a test writes it");
    times.get(profile.name())?.get(name)?.as_float()
}

const TIMES: &str = include_str!("../../../papers/results/times.toml");

/// Numbers in names count as numbers: `fig2` comes before `fig10`, and `fig2.3` before `fig2.10`.
fn natural(a: &str, b: &str) -> Ordering {
    /// The text before the next number, the number, and the rest.
    fn next(name: &str) -> (&str, u64, &str) {
        let is_digit = |c: char| c.is_ascii_digit();
        let (words, rest) = name.split_at(name.find(is_digit).unwrap_or(name.len()));
        let (number, rest) = rest.split_at(rest.find(|c| !is_digit(c)).unwrap_or(rest.len()));
        (words, number.parse().unwrap_or(0), rest)
    }
    let ((words_a, number_a, rest_a), (words_b, number_b, rest_b)) = (next(a), next(b));
    let order = (words_a, number_a).cmp(&(words_b, number_b));
    match rest_a.is_empty() && rest_b.is_empty() {
        true => order,
        false => order.then_with(|| natural(rest_a, rest_b)),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn figures_stand_in_the_order_of_their_numbers() {
        let mut names =
            ["table3", "fig10", "fig2.3-2", "fig2", "fig2.10", "table3-uncapped", "fig2.3-1", "coexist"];
        names.sort_by(|a, b| natural(a, b));
        let sorted =
            ["coexist", "fig2", "fig2.3-1", "fig2.3-2", "fig2.10", "fig10", "table3", "table3-uncapped"];
        assert_eq!(names, sorted);
    }

    #[test]
    fn what_is_in_the_paper_comes_first() {
        let names = find("xmp").expect("it is one").experiments();
        let place = |name: &str| names.iter().position(|n| *n == name);
        assert_eq!((names[0], place("xmp/table2") < place("xmp/coexist")), ("xmp/fig1", true));
    }

    #[test]
    fn every_experiment_belongs_to_one_paper() {
        let all: Vec<&str> = ALL.iter().flat_map(|p| p.experiments()).collect();
        // Those of `today` belong to no paper.
        let names = || built_in::names().into_iter().filter(|name| !name.starts_with("today/"));
        assert_eq!(all.len(), names().count());
        assert_eq!(all.into_iter().collect::<BTreeSet<_>>(), names().collect());
        assert!(ALL.iter().all(|p| p.title().len() > 20 && !p.title().starts_with('#')));
    }

    #[test]
    fn an_unknown_paper_is_told_with_the_known_ones() {
        let error = find("xpm").expect_err("there is none").to_string();
        assert!(
            error.contains("did you mean `xmp`?") && error.contains("xmp, opn, dcm, holnet, vmcc"),
            "{error}"
        );
    }
}
