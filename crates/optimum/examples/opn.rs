//! MPTCP_OPN's model, as in its Figs. 6 and 7: the throughput of n subflows (eq. (7)) and the number that eq.
//! (11) considers best, under each reading of the printed equations.
//!
//!     cargo run -p tresse-optimum --example opn

use std::io::{self, Write};

use tresse_optimum::opn::{Model, Reading, Rule};

const LOSSES: [f64; 8] = [0.001, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5];
const SUBFLOWS: [u32; 7] = [1, 2, 4, 8, 16, 20, 32];

fn main() -> io::Result<()> {
    let mut out = io::stdout().lock();
    for (reading, how) in [(Reading::Power, "p^W"), (Reading::Product, "p W")] {
        let model = Model::new(reading);
        writeln!(out, "Fig. 6: T(n) / T(1) by eq. (7), a window is lost with {how}")?;
        write!(out, "{:>6}", "p")?;
        SUBFLOWS.iter().try_for_each(|n| write!(out, "{:>9}", format!("n = {n}")))?;
        writeln!(out)?;
        for loss in LOSSES {
            let one = model.throughput(1, loss);
            write!(out, "{loss:>6}")?;
            SUBFLOWS.iter().try_for_each(|&n| write!(out, "{:>9.3}", model.throughput(n, loss) / one))?;
            writeln!(out)?;
        }
        writeln!(out, "\nFig. 7: n* of at most 32, a window is lost with {how}")?;
        writeln!(out, "{:>6}{:>9}{:>20}{:>12}", "p", "eq. (11)", "eq. (11), corrected", "best of (7)")?;
        for loss in LOSSES {
            let n_star = |rule| {
                let best = model.optimal_subflows(rule, loss);
                best.map_or("-".to_owned(), |best| best.subflows.to_string())
            };
            let [printed, corrected, best] = [Rule::Eq11, Rule::Simplified, Rule::Eq7].map(n_star);
            writeln!(out, "{loss:>6}{printed:>9}{corrected:>20}{best:>12}")?;
        }
        writeln!(out)?;
    }
    Ok(())
}
