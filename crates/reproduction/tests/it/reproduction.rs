//! The sources of `docs/reproduction.md` and of the papers' pages: the experiments' files, and the results in
//! `papers/results/`.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::LazyLock;

use toml::Value;
use tresse_experiment::read::built_in;
use tresse_experiment::schema::Experiment;
use tresse_reproduction::Publication;
use tresse_reproduction::pages::{Runs, Stored, papers, scoreboard};
use tresse_reproduction::paper;

/// The kept results.
fn stored() -> Vec<Stored> {
    Stored::all(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../papers/results"))
        .expect("they can be read")
}

/// The name of a figure's file.
fn drawing(experiment: &str, id: &str) -> String {
    format!("{}-{id}.svg", experiment.split('/').next().expect("a paper"))
}

/// The pages as they should be if every figure is drawn.
static PAGES: LazyLock<Vec<(String, String)>> = LazyLock::new(|| {
    let figures = built_in::all().flat_map(|(name, experiment)| {
        figures(&experiment).into_iter().map(move |(id, _)| drawing(name, &id))
    });
    papers(&stored(), &figures.collect()).expect("the built-in experiments are valid")
});

/// The papers' experiments; those of `today` belong to none.
fn of_papers() -> impl Iterator<Item = (&'static str, Experiment)> {
    built_in::all().filter(|(name, _)| !name.starts_with("today/"))
}

fn publication(experiment: &Experiment) -> Publication {
    Publication::of(experiment).expect("the built-in experiments are valid")
}

/// The names and titles of an experiment's figures.
fn figures(experiment: &Experiment) -> Vec<(String, String)> {
    let figures = experiment.owned.get("figures").and_then(|figures| figures.as_array());
    let text = |figure: &Value, key: &str| figure[key].as_str().expect("a text").to_owned();
    figures.into_iter().flatten().map(|figure| (text(figure, "id"), text(figure, "title"))).collect()
}

/// The page of the paper to which an experiment, such as `xmp/fig1`, belongs.
fn page(name: &str) -> &'static str {
    of(name.split('/').next().expect("a paper"), &PAGES)
}

fn of<'a>(paper: &str, pages: &'a [(String, String)]) -> &'a str {
    let path = format!("reproduction/{paper}.md");
    pages.iter().find(|(own, _)| *own == path).map_or("", |(_, page)| page)
}

/// The experiments, the claims apart and the reasons: all but the head of a page.
fn below(page: &str) -> &str {
    page.split_once("\n## ").expect("an experiment").1
}

/// Results match the current experiments: every number and every claim was judged, with the expected verdict
/// in the file.
#[test]
fn the_results_are_of_today() {
    for stored in stored() {
        let stale = stored.stale().expect("the built-in experiments are valid");
        let file = Stored::file(stored.paper, stored.runs);
        let command = match stored.runs {
            Runs::Simulated(profile) => {
                format!("scripts/reproduction {} {}", profile.name(), stored.paper.name)
            }
            Runs::Real => "scripts/testbed".to_owned(),
        };
        assert!(stale.is_empty(), "papers/results/{file}: {}\nhint: {command}", stale.join("\n"));
    }
}

#[test]
fn every_experiment_figure_claim_and_number_stands_in_its_page() {
    for (name, experiment) in of_papers() {
        let page = page(name);
        assert!(page.contains(&format!("\n    tresse run {name}")), "{name}");
        assert!(page.lines().any(|l| l.starts_with("## ") && l.ends_with(&experiment.title)), "{name}");
        for (id, title) in figures(&experiment) {
            let drawn = format!("![{title}](figures/{})", drawing(name, &id));
            assert_eq!(page.matches(&drawn).count(), 1, "{name}: {drawn}");
        }
        let publication = publication(&experiment);
        for claim in publication.claims.iter().filter(|claim| claim.reading_of.is_none()) {
            assert!(page.contains(&claim.text), "{name}: {}", claim.id);
        }
        for value in &publication.published.values {
            let shown = value.goodput_mean.map(|rate| format!("| {:.1} |", rate.0 as f64 / 1e6));
            assert!(page.contains(&shown.unwrap_or_default()), "{name}: {value:?}");
        }
    }
}

/// Every kept verdict is shown: there is a mark for each claim, including its readings.
#[test]
fn every_verdict_stands_in_its_page() {
    for paper in paper::ALL {
        let stored = stored();
        let Some(quick) = stored.iter().find(|s| s.paper == *paper) else { continue };
        let claims: usize = quick.results.experiments.iter().map(|e| e.comparison.claims.len()).sum();
        let marks = below(page(paper.name)).matches(['✓', '✗', '≈']).count();
        assert!(marks >= claims, "{}: {marks} of {claims}", paper.name);
    }
}

/// Results of real hosts are on the page, with their command, and change no count of the simulator.
#[test]
fn real_hosts_stand_in_the_pages() {
    let is_real = |stored: &Stored| stored.runs == Runs::Real;
    let (real, simulated): (Vec<_>, Vec<_>) = stored().into_iter().partition(is_real);
    let without = papers(&simulated, &BTreeSet::new()).expect("the built-in experiments are valid");
    let board = scoreboard(&stored());
    for stored in &real {
        let name = stored.paper.name;
        let page = page(name);
        for own in &stored.results.experiments {
            assert!(
                page.contains(&format!("\n    tresse testbed run {}", own.experiment)),
                "{}",
                own.experiment
            );
        }
        let tally = &stored.results.summary;
        let claims: usize = stored.results.experiments.iter().map(|e| e.comparison.claims.len()).sum();
        let told = ["(real ✓", "(real ✗", "(real ≈"].map(|told| page.matches(told).count());
        assert_eq!(told.iter().sum::<usize>(), claims, "{name}");
        let total =
            |page: &str| page.lines().find(|line| line.starts_with("- Quick profile")).map(str::to_owned);
        let alone = of(name, &without);
        assert!(total(page) == total(alone) && page.contains("\n- Real hosts: "), "{name}");
        assert!(!alone.contains("(real ") && !alone.contains("*real*"), "{name}");
        let has_line = board.contains(&format!("| [{name}](../papers/{name}/README.md) | real hosts"));
        assert_eq!(has_line, tally.claims + tally.numbers > 0, "{name}");
    }
    assert!(!real.is_empty() && !scoreboard(&simulated).contains("| real hosts"));
}

/// The sentences of a paper that say why something differs, without links.
fn whys(paper: &str) -> String {
    let list = page(paper).split_once("<a id=\"why\">").map_or("", |(_, list)| list);
    let mut parts = list.split("](");
    let mut text = parts.next().unwrap_or_default().replace('[', "");
    for part in parts {
        text += &part.split_once(')').map_or("", |(_, rest)| rest).replace('[', "");
    }
    text
}

/// A sentence that explains a difference appears once for all results that it explains.
#[test]
fn every_reason_stands_once() {
    for (name, experiment) in of_papers() {
        let whys = whys(name.split('/').next().expect("a paper"));
        let publication = publication(&experiment);
        let proofs = publication.claims.iter().filter_map(|claim| claim.contradicts.as_deref());
        let claims = publication.claims.iter().filter(|claim| !claim.expected.is_to_hold());
        for sentence in proofs.chain(claims.filter_map(|claim| claim.because.as_deref())) {
            assert!(whys.contains(&sentence.replace('[', "")), "{name}: {sentence}");
        }
    }
    for paper in paper::ALL {
        let whys = whys(paper.name);
        let all: Vec<&str> =
            whys.lines().filter_map(|line| line.split_once("</a>")).map(|(_, s)| s).collect();
        let different: BTreeSet<_> = all.iter().filter_map(|line| line.split(" *Of ").next()).collect();
        assert_eq!(different.len(), all.len(), "{}", paper.name);
    }
}

/// Links within a page lead somewhere; those to other files are checked where links of all pages are.
#[test]
fn every_place_that_is_linked_is_there() {
    for (path, page) in PAGES.iter() {
        for target in page.split("](#").skip(1).filter_map(|rest| rest.split(')').next()) {
            assert!(page.contains(&format!("<a id=\"{target}\">")), "{path}: {target}");
        }
        for id in page.split("<a id=\"").skip(1).filter_map(|rest| rest.split('"').next()) {
            assert_eq!(page.matches(&format!("<a id=\"{id}\">")).count(), 1, "{path}: {id}");
        }
    }
}

/// The overview is one screen.
#[test]
fn the_scoreboard_is_short() {
    let page = scoreboard(&stored());
    assert!(page.lines().count() <= 60 && page.split_whitespace().count() < 900, "{page}");
}
