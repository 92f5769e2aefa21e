//! `tresse challenge --replay DIR --testbed`: whether what was found is so on real hosts.

use std::io::{self, Write};
use std::path::Path;

use tresse_workbench::challenge::{self, OnHosts, ReplayedOnHosts};
use tresse_workbench::{Interrupt, testbed};

use super::testbed::agent;
use crate::ended::Ended;
use crate::output::print_json;
use crate::table::Table;

/// Measures what is in `folder` on real hosts.
pub fn replay(folder: &Path, as_json: bool, interrupt: &Interrupt) -> Result<(), Ended> {
    testbed::ready(testbed::SwitchKind::Emulated)?;
    interrupt.keep();
    let replayed = challenge::replay_on_hosts(folder, agent, interrupt, &mut |note| eprintln!("{note}"))?;
    if as_json {
        print_json(&replayed)?;
    } else {
        show(&replayed)?;
    }
    Ok(())
}

fn show(replayed: &ReplayedOnHosts) -> io::Result<()> {
    let mut table =
        Table::new(&["experiment", "simulated", "on hosts", "plain controller", "scale", "late us", ""]);
    for own in &replayed.failures {
        table.row(row(own));
    }
    let counted = |wanted| replayed.failures.iter().filter(|own| own.stays == wanted).count();
    let [stay, go, none] = [Some(true), Some(false), None].map(counted);
    let mut out = io::stdout().lock();
    write!(out, "{table}")?;
    writeln!(out, "\n{}: {stay} stay, {go} vanish, {none} not replayed", replayed.kernel)
}

fn row(own: &OnHosts) -> Vec<String> {
    let list =
        |values: &[f64]| values.iter().map(|value| format!("{value:.2}")).collect::<Vec<_>>().join(" ");
    let verdict = match own.stays {
        Some(true) => "stays",
        Some(false) => "vanishes",
        None => "not replayed",
    };
    let why = own.why.as_ref().map(|why| format!(": {}", why.lines().next().unwrap_or(why)));
    vec![
        own.file.clone(),
        format!("{:.2}", own.simulated),
        list(&own.real),
        list(&own.beside),
        own.scale.clone().unwrap_or_default(),
        own.late_p99_us.map_or_else(String::new, |late| late.to_string()),
        format!("{verdict}{}", why.unwrap_or_default()),
    ]
}
