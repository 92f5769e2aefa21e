//! How many cases an experiment would have, before any is made.

use std::iter;

use crate::diagnostic::Diagnostic;
use crate::read::Loaded;
use crate::read::axes::Axis;
use crate::schema::Experiment;

/// The most cases of an experiment; each is planned, and held in memory with its results.
pub(crate) const MOST_CASES: usize = 20_000;

/// Refuses more cases than [`MOST_CASES`], as far as they are known without the variants' own keys, which would have to
/// be read for that.
pub(super) fn check_before_variants(loaded: &Loaded) -> Result<(), Diagnostic> {
    let variants = loaded.experiment.variants.len().max(1);
    let own = of(&loaded.experiment, &loaded.axes);
    refuse(loaded, own.saturating_mul(variants), variants)
}

/// Refuses more cases than [`MOST_CASES`].
///
/// # Errors
/// If there would be more: what their number is made of.
pub(crate) fn check(loaded: &Loaded) -> Result<(), Diagnostic> {
    let all = match &loaded.variants[..] {
        [] => of(&loaded.experiment, &loaded.axes),
        variants => {
            let own = variants.iter().map(|own| of(&own.loaded.experiment, &own.loaded.axes));
            own.fold(0, usize::saturating_add)
        }
    };
    refuse(loaded, all, loaded.variants.len().max(1))
}

/// The cases of an experiment without its variants: a few more than there are if a scheme or a list does not matter to
/// all of them.
fn of(experiment: &Experiment, axes: &[Axis]) -> usize {
    factors(experiment, axes).fold(1, |all, (count, _)| all.saturating_mul(count))
}

/// The numbers that are multiplied, each with what is counted.
fn factors<'a>(
    experiment: &'a Experiment,
    axes: &'a [Axis],
) -> impl Iterator<Item = (usize, String)> + use<'a> {
    let on_axis = experiment.schemes.values().filter(|scheme| scheme.axis != Some(false));
    let schemes = on_axis.map(|scheme| scheme.subflows.as_ref().map_or(1, |own| own.values().len())).sum();
    let own = [(schemes, "schemes and subflows"), (experiment.workloads.len(), "workloads")];
    let lists = axes.iter().map(|axis| (axis.values.len(), format!("values of {}", axis.path())));
    own.into_iter().map(|(count, what)| (count.max(1), what.to_owned())).chain(lists)
}

fn refuse(loaded: &Loaded, cases: usize, variants: usize) -> Result<(), Diagnostic> {
    if cases <= MOST_CASES {
        return Ok(());
    }
    let variants = iter::once((variants, "variants".to_owned()));
    let factors = factors(&loaded.experiment, &loaded.axes).chain(variants).filter(|(count, _)| *count > 1);
    let factors: Vec<String> = factors.map(|(count, what)| format!("{count} {what}")).collect();
    let message = format!("{cases} cases ({}): at most {MOST_CASES}", factors.join(" × "));
    let hint =
        "use fewer of them, or several experiments; `tresse sweep` runs any number of points one by one";
    Err(Diagnostic::input(message).of(&loaded.source.name).hint(hint))
}
