//! Claims and their verdicts, one line each.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use tresse_reproduction::metric_display;
use tresse_results::ClaimResult;
use tresse_results::record::claim::Verdict;

use crate::width::sentence;

/// Writes each claim with its verdict and its value, and why it does not hold if that is known. Below it, if `real`
/// is given, is the result of the same claim on real hosts.
pub fn show(claims: &[ClaimResult], real: &[ClaimResult], out: &mut impl Write) -> io::Result<()> {
    let values: Vec<String> = claims.iter().map(metric_display::claim).collect();
    let width = values.iter().map(|value| value.chars().count()).max().unwrap_or(0);
    for (claim, value) in claims.iter().zip(values) {
        let of = metric_display::cases(claim);
        let why = claim.why.as_ref().map(|why| format!(" ({why})")).unwrap_or_default();
        let end = if why.is_empty() { of } else { why };
        // Below the text, past the verdict and the value.
        let indent = 13 + 2 + width + 2;
        let line = format!("{:<13}  {value:>width$}  {}{end}", claim.verdict, claim.text);
        // Colour comes last: lines are folded by what is seen of them.
        let (verdict, style) = (claim.verdict.to_string(), style(claim.verdict));
        let rest = sentence(&line, indent).split_off(verdict.len());
        writeln!(out, "{style}{verdict}{style:#}{rest}")?;
        let proof = claim.contradicts.as_ref().map(|proof| format!("contradicts its own paper: {proof}"));
        let real = real.iter().find(|own| own.id == claim.id).map(|own| {
            let hold = own.cases.as_ref().map(|cases| format!(" ({} of {} hold)", cases.hold, cases.of));
            let hold = hold.unwrap_or_default();
            format!("real hosts: {}, {}{hold}", own.verdict, metric_display::claim(own))
        });
        for note in [proof, note(claim), real].into_iter().flatten() {
            let line = format!("{:indent$}{note}", "");
            writeln!(out, "{}", sentence(&line, indent))?;
        }
    }
    Ok(())
}

/// The colour of a verdict; the word says the same.
fn style(verdict: Verdict) -> Style {
    let colour = match verdict {
        Verdict::Holds => AnsiColor::Green,
        Verdict::DoesNotHold => AnsiColor::Red,
        Verdict::Inconclusive => AnsiColor::Yellow,
    };
    colour.on_default()
}

/// The remark on a claim that does not hold, or whose verdict differs from the expected one.
fn note(claim: &ClaimResult) -> Option<String> {
    let because = claim.because.as_deref().map(|because| format!(": {because}")).unwrap_or_default();
    match (claim.verdict == claim.expected, claim.verdict) {
        (true, Verdict::Holds) => None,
        (true, _) => Some(format!("as expected{because}")),
        (false, _) if claim.expected == Verdict::Holds => Some("expected: holds".to_owned()),
        (false, _) => Some(format!("expected: {}{because}", claim.expected)),
    }
}
