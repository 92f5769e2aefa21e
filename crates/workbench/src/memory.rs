//! Reports how much of the machine's memory a run takes, and refuses one that does not fit.

use tresse_experiment::Plan;
use tresse_lab::{Options, memory};

use crate::failure::Failure;

/// From this many bytes on, memory is reported.
const MUCH: u64 = 1_000_000_000;

/// Checks that there is room for a run of `plan`; returns a note about it, if any.
///
/// # Errors
/// If there is not.
pub fn check(plan: &Plan, options: &Options) -> Result<Option<String>, Failure> {
    let needed = memory::estimate(plan, options);
    if needed < MUCH {
        return Ok(None);
    }
    match memory::available() {
        Some(free) if needed > free => {
            let one = memory::estimate(plan, &Options { parallel: 1, ..options.clone() });
            Err(Failure::Machine(refusal(needed, free, one)))
        }
        _ => Ok(Some(format!("note: this takes about {} of memory", gigabytes(needed)))),
    }
}

/// The message if `needed` bytes are needed, and `one` if cases run one after the other.
fn refusal(needed: u64, free: u64, one: u64) -> String {
    let mend = if one <= free {
        format!("`--parallel 1` runs one case at a time, in about {}", gigabytes(one))
    } else {
        "use a smaller network or fewer flows at a time (`--set`), or run some of the cases (`--only`)"
            .to_owned()
    };
    let (needed, free) = (gigabytes(needed), gigabytes(free));
    format!("this takes about {needed} of memory, but only {free} is free\n\nhint: {mend}")
}

fn gigabytes(bytes: u64) -> String {
    match bytes as f64 / 1e9 {
        few if few < 10.0 => format!("{few:.1} GB"),
        many => format!("{many:.0} GB"),
    }
}

#[cfg(test)]
mod tests {
    use super::refusal;

    #[test]
    fn a_refusal_says_what_to_change() {
        let text = refusal(21_400_000_000, 16_000_000_000, 9_950_000_000);
        assert_eq!(
            text,
            "this takes about 21 GB of memory, but only 16 GB is free\n\n\
             hint: `--parallel 1` runs one case at a time, in about 9.9 GB"
        );
        assert!(refusal(3, 2, 3).contains("a smaller network"));
    }
}
