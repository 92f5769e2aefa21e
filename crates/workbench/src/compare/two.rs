//! Two runs against each other, case by case.

use indexmap::IndexMap;
use serde::Serialize;
use serde_json::Value;
use tresse_experiment::Diagnostic;
use tresse_experiment::read::changes::Change;
use tresse_experiment::schema::slice::is_total;
use tresse_reproduction::pages::changed_line;
use tresse_reproduction::{Publication, comparison};
use tresse_results::record::claim::Verdict;
use tresse_results::{CaseResult, ClaimResult, Finished, Metrics, Report, State};

use super::differences::{self, Difference};
use crate::failure::Failure;

/// Two runs, or two runs of a paper, case by case.
#[derive(Debug, Serialize)]
pub struct Pairs {
    /// `tresse/compare/1`.
    schema: &'static str,
    /// What the first run is compared with: `run`.
    against: &'static str,
    /// The experiments that both have.
    pub experiments: Vec<Pair>,
    /// Experiments that only one of the runs of a paper has, and which run that is.
    pub missing: Vec<String>,
}

/// An experiment that both runs have.
#[derive(Debug, Serialize)]
pub struct Pair {
    /// The first run's experiment.
    pub experiment: String,
    /// The first run.
    pub left: Side,
    /// The second run.
    pub right: Side,
    /// What differs in what was run.
    pub differences: Vec<Difference>,
    /// The same as lines, and other notes to read before the results.
    pub notes: Vec<String>,
    /// If claims are not compared, the reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_judged: Option<String>,
    /// The cases that both have.
    pub cases: Vec<CasePair>,
    /// The claims that both have, if they are compared.
    pub claims: Vec<ClaimPair>,
    /// Whether one of them has cases that the other does not have.
    #[serde(skip)]
    has_other_cases: bool,
    /// The metrics of the experiment's table, if it names them.
    #[serde(skip)]
    pub named: Option<Vec<String>>,
}

/// One of the two runs.
#[derive(Debug, Serialize)]
pub struct Side {
    pub run: String,
    pub profile: String,
    /// Its first seed.
    pub seed: u64,
    /// The fingerprint of its results; empty if it has none.
    pub digest: String,
    /// The fingerprint of what it was made of; null if the run does not record it.
    pub inputs_digest: Option<String>,
    /// The changes that `--set` made to the experiment.
    pub changed: Vec<Change>,
    /// Whether it reached its end.
    pub state: State,
}

/// A case that both have.
#[derive(Debug, Serialize)]
pub struct CasePair {
    pub case: IndexMap<String, Value>,
    /// Whether the results are the same to the last bit; null if a run does not record it.
    pub same: Option<bool>,
    /// The metrics of the whole case.
    pub metrics: IndexMap<String, ValuePair>,
    /// The metrics of its parts, as in `tresse/run/1`.
    pub by: IndexMap<String, IndexMap<String, IndexMap<String, ValuePair>>>,
    /// Its readable name.
    #[serde(skip)]
    pub label: String,
}

/// A metric in both.
#[derive(Debug, Serialize)]
pub struct ValuePair {
    /// In the first run.
    pub left: f64,
    /// Half its 95 % interval; null if it has none.
    pub left_ci95: Option<f64>,
    /// In the second run.
    pub right: f64,
    /// Half its 95 % interval.
    pub right_ci95: Option<f64>,
    /// Right over left, per seed for what adds up over seeds; null if left is 0.
    pub ratio: Option<f64>,
    /// Whether the 95 % intervals do not overlap; null if one of the two has none.
    pub apart: Option<bool>,
}

/// A claim in both.
#[derive(Debug, Serialize)]
pub struct ClaimPair {
    pub id: String,
    /// What it says.
    pub text: String,
    /// Its verdict in the first run.
    pub left: Verdict,
    /// Its value there.
    pub left_value: Option<f64>,
    /// Its verdict in the second run.
    pub right: Verdict,
    /// Its value there.
    pub right_value: Option<f64>,
}

/// Compares the runs of the experiments that both have. Two single runs are compared whatever their experiments
/// are. With `judge`, claims of runs that settings have changed are compared too.
///
/// # Errors
/// If another version of Tresse wrote the claims of a run.
pub(super) fn compare(left: &[Finished], right: &[Finished], judge: bool) -> Result<Pairs, Diagnostic> {
    let mut pairs =
        Pairs { schema: "tresse/compare/1", against: "run", experiments: Vec::new(), missing: Vec::new() };
    if let ([left], [right]) = (left, right) {
        pairs.experiments.push(pair(left, right, judge)?);
        return Ok(pairs);
    }
    let name = |run: &Finished| run.report.experiment.clone();
    for own in left {
        match right.iter().find(|other| name(other) == name(own)) {
            Some(other) => pairs.experiments.push(pair(own, other, judge)?),
            None => pairs.missing.push(format!("{}: only the first run has it", name(own))),
        }
    }
    let unknown = right.iter().filter(|other| !left.iter().any(|own| name(own) == name(other)));
    pairs.missing.extend(unknown.map(|other| format!("{}: only the second run has it", name(other))));
    Ok(pairs)
}

fn pair(left: &Finished, right: &Finished, judge: bool) -> Result<Pair, Diagnostic> {
    let publications = [Publication::of_run(left)?, Publication::of_run(right)?];
    let (l, r) = (&left.report, &right.report);
    let differences = differences::between(left, right);
    let mut notes = differences::lines(&differences);
    if l.replications != r.replications {
        notes.push("counts are sums over the seeds of each run, and their ratios are per seed".to_owned());
    }
    notes.extend(changed(l, r));
    for (which, run) in [("first", left), ("second", right)] {
        notes.extend(
            (run.state != State::Complete)
                .then(|| format!("the {which} run {}: its results are partial", run.state)),
        );
        notes.extend(run.report.inputs.is_none().then(|| {
            format!(
                "the {which} run is from an earlier build, which did not record --set, --only, files \
            and controllers"
            )
        }));
    }
    let find = |cases: &[CaseResult], case: &CaseResult| cases.iter().any(|c| c.case == case.case);
    let only = |which: &'static str, own: &[CaseResult], other: &[CaseResult]| -> Vec<String> {
        let alone = own.iter().filter(|case| !find(other, case));
        alone.map(|case| format!("only the {which} run has {}", case.label())).collect()
    };
    let alone = [only("first", &l.cases, &r.cases), only("second", &r.cases, &l.cases)].concat();
    let has_other_cases = !alone.is_empty();
    notes.extend(alone);
    notes.extend(
        (!l.cases.iter().any(|case| find(&r.cases, case)))
            .then(|| "the runs have no case in common, so there is nothing to compare".to_owned()),
    );
    let both = l.cases.iter().filter_map(|own| Some((own, r.cases.iter().find(|c| c.case == own.case)?)));
    let is_judged = judge || l.judged && r.judged;
    let has_claims = publications.iter().all(|own| !own.claims.is_empty());
    let not_judged = (has_claims && !is_judged).then(|| {
        "claims are not compared: `--set` changed what they are about (`--judge` judges them anyway)"
            .to_owned()
    });
    let claims = match not_judged {
        None => [0, 1].map(|side| verdicts([left, right][side], &publications[side], judge)),
        Some(_) => [Vec::new(), Vec::new()],
    };
    let claims = claims[0].iter().filter_map(|own| {
        let other = claims[1].iter().find(|claim| claim.id == own.id)?;
        Some(ClaimPair {
            id: own.id.clone(),
            text: own.text.clone(),
            left: own.verdict,
            left_value: own.value,
            right: other.verdict,
            right_value: other.value,
        })
    });
    let side = |Finished { report, state, .. }: &Finished| Side {
        run: report.out.clone(),
        profile: report.profile.clone(),
        seed: report.seed,
        digest: report.digest.clone(),
        inputs_digest: report.inputs.as_ref().map(|inputs| inputs.digest.clone()),
        changed: report.changed.clone(),
        state: *state,
    };
    Ok(Pair {
        experiment: l.experiment.clone(),
        left: side(left),
        right: side(right),
        differences,
        notes,
        not_judged,
        cases: both.map(|(own, other)| case_pair(own, other)).collect(),
        claims: claims.collect(),
        has_other_cases,
        named: left.experiment.measure.table.clone(),
    })
}

/// The changes that `--set` made to each run, or to both alike.
fn changed(left: &Report, right: &Report) -> Vec<String> {
    let note = |which: &str, report: &Report| Some(format!("{} ({which})", changed_line(&report.changed)?));
    let notes = match left.changed == right.changed {
        true => [note("both runs", left), None],
        false => [note("the first run", left), note("the second run", right)],
    };
    notes.into_iter().flatten().collect()
}

/// The claims of a run; with `judge` they are judged now if they were not judged before.
fn verdicts(run: &Finished, publication: &Publication, judge: bool) -> Vec<ClaimResult> {
    match judge && !run.report.judged {
        true => comparison(publication, &Report { judged: true, ..run.report.clone() }).claims,
        false => run.report.claims.clone(),
    }
}

fn case_pair(left: &CaseResult, right: &CaseResult) -> CasePair {
    let seeds = [left, right].map(|case| case.seeds.len().max(1) as f64);
    let mut by: IndexMap<String, IndexMap<String, _>> = IndexMap::new();
    for (what, parts) in &left.by {
        for (name, own) in parts {
            let Some(other) = right.by.get(what).and_then(|parts| parts.get(name)) else { continue };
            let widths = [left, right].map(|case| case.ci95_by.get(what).and_then(|parts| parts.get(name)));
            by.entry(what.clone()).or_default().insert(name.clone(), values([own, other], widths, seeds));
        }
    }
    CasePair {
        case: left.case.clone(),
        same: (!left.digest.is_empty() && !right.digest.is_empty()).then(|| left.digest == right.digest),
        metrics: values([&left.metrics, &right.metrics], [Some(&left.ci95), Some(&right.ci95)], seeds),
        by,
        label: left.label(),
    }
}

/// The metrics that both have. What adds up over seeds is compared per seed: one of the runs may have more.
fn values(
    metrics: [&Metrics; 2],
    widths: [Option<&IndexMap<String, f64>>; 2],
    seeds: [f64; 2],
) -> IndexMap<String, ValuePair> {
    let value = |(name, own): (&String, &tresse_results::Metric)| {
        let (left, right) = (own.value(), metrics[1].get(name)?.value());
        let [left_ci95, right_ci95] = widths.map(|widths| widths.and_then(|w| w.get(name)).copied());
        let per = if is_total(name) { seeds } else { [1.0, 1.0] };
        let apart = left_ci95
            .zip(right_ci95)
            .map(|(l, r)| (left / per[0] - right / per[1]).abs() > l / per[0] + r / per[1]);
        let ratio = (left != 0.0).then(|| (right / per[1]) / (left / per[0]));
        Some((name.clone(), ValuePair { left, left_ci95, right, right_ci95, ratio, apart }))
    };
    metrics[0].iter().filter_map(value).collect()
}

impl Pairs {
    /// Fails if a claim that held in the first run does not hold in the second.
    ///
    /// # Errors
    /// [`Failure::Check`] with those claims.
    pub fn check(&self) -> Result<(), Failure> {
        let lost = self.experiments.iter().flat_map(|pair| {
            let lost = pair.claims.iter().filter(|c| c.is_lost());
            lost.map(|c| format!("{}: the claim {} held, and no longer does", pair.experiment, c.id))
        });
        let lost: Vec<String> = lost.collect();
        if lost.is_empty() { Ok(()) } else { Err(Failure::Check(lost.join("\n"))) }
    }
}

impl ClaimPair {
    fn is_lost(&self) -> bool {
        self.left == Verdict::Holds && self.right == Verdict::DoesNotHold
    }
}

impl Pair {
    /// Which results are the same to the last bit. The digest of a run depends on the order of its cases; the
    /// digest of a case does not.
    pub fn sameness(&self) -> Option<String> {
        let digest = &self.left.digest;
        if !digest.is_empty() && *digest == self.right.digest {
            return Some(format!("the same results to the last bit: digest {digest}"));
        }
        let (all, same) =
            (self.cases.len(), self.cases.iter().filter(|case| case.same == Some(true)).count());
        match same {
            0 => None,
            same if same < all => {
                Some(format!("cases with the same results to the last bit: {same} of {all}"))
            }
            _ if self.has_other_cases => {
                Some("all cases that both runs have: the same results to the last bit".to_owned())
            }
            _ => Some(
                "the same cases with the same results to the last bit; the digests differ because the \
                 order of the cases does"
                    .to_owned(),
            ),
        }
    }

    /// Whether all results are the same to the last bit.
    pub fn is_same(&self) -> bool {
        !self.has_other_cases && self.cases.iter().all(|case| case.same == Some(true))
    }
}
