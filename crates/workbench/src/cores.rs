//! How cases, and the threads of each, share the cores of this machine.

use tresse_experiment::Plan;
use tresse_lab::{Options, memory};

/// The most threads that a case gets unasked: each needs memory for a network of its own.
const MOST: usize = 8;

/// The options with how many cases run at a time, and how many threads may work on each.
///
/// Unless asked otherwise, cases come first, because they share nothing: one on each core. Threads are for the cores that
/// are left, if there is memory for them.
pub fn shared(plan: &Plan, options: Options, parallel: Option<usize>, threads: Option<usize>) -> Options {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    on_machine((cores, memory::available()), plan, options, parallel, threads)
}

/// The same on a machine with these cores and this free memory, if it is known.
fn on_machine(
    (cores, free): (usize, Option<u64>),
    plan: &Plan,
    options: Options,
    parallel: Option<usize>,
    threads: Option<usize>,
) -> Options {
    let computed = plan.same().iter().enumerate().filter(|(place, first)| place == *first).count();
    let runs = computed.saturating_mul(options.replications.least() as usize);
    let (parallel, most) = numbers(cores, runs, parallel, threads);
    let with = |threads| Options { parallel, threads, ..options.clone() };
    let fits = |own: &Options| free.is_none_or(|free| memory::estimate(plan, own) <= free);
    let several = with(most);
    if threads.is_some() || fits(&several) { several } else { with(1) }
}

/// How many of these runs go at a time on these cores, and on how many threads each, where one or the other was asked for.
fn numbers(cores: usize, runs: usize, parallel: Option<usize>, threads: Option<usize>) -> (usize, usize) {
    let parallel = parallel.unwrap_or_else(|| (cores / threads.unwrap_or(1)).max(1));
    let at_a_time = parallel.min(runs).max(1);
    (parallel, threads.unwrap_or_else(|| (cores / at_a_time).clamp(1, MOST)))
}

#[cfg(test)]
mod tests {
    use tresse_experiment::Profile;

    use super::*;
    use crate::OWNERS;

    #[test]
    fn threads_that_do_not_fit_into_memory_are_left_out_unless_asked_for() {
        let set = ["profile.quick={}", "fabric.k=16"].map(str::to_owned);
        let source = tresse_experiment::find("xmp/table1").expect("it is built in");
        let loaded = OWNERS.load(source, Profile::Full, &set).expect("it is right");
        let only = ["scheme=dctcp", "subflows=1", "pattern=permutation"].map(str::to_owned);
        let plan = OWNERS.resolve(&loaded, &only).expect("it has that case");
        assert_eq!(plan.cases.len(), 1);
        let of = |free, asked| on_machine((4, free), &plan, Options::default(), None, asked).threads;
        let one = memory::estimate(&plan, &Options::default());
        assert_eq!([of(None, None), of(Some(1 << 40), None), of(Some(one), None)], [4, 4, 1]);
        assert_eq!(of(Some(one), Some(2)), 2);
    }

    #[test]
    fn cases_come_first_and_threads_take_what_is_left() {
        for (cores, runs, asked, shared) in [
            (2, 1, (None, None), (2, 2)),
            (2, 2, (None, None), (2, 1)),
            (2, 30, (None, None), (2, 1)),
            (16, 4, (None, None), (16, 4)),
            (64, 1, (None, None), (64, 8)),
            (8, 30, (Some(2), None), (2, 4)),
            (8, 30, (None, Some(3)), (2, 3)),
            (2, 30, (None, Some(4)), (1, 4)),
            (8, 30, (Some(4), Some(4)), (4, 4)),
            (1, 1, (None, None), (1, 1)),
        ] {
            assert_eq!(
                numbers(cores, runs, asked.0, asked.1),
                shared,
                "{cores} cores, {runs} runs, {asked:?}"
            );
        }
    }
}
