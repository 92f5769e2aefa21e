//! The card as a page: one file, without scripts, that opens from disk and prints well.

use std::fmt::Write as _;

use super::{CaseCard, Outcome, ReportCard, Subject, Verdict};
use crate::challenge::{Fate, WorstCase};

const STYLE: &str = "\
body { font: 15px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 75rem; padding: 0 1rem; color: #1a1a1a;\n\
  background: #fff }\n\
table { border-collapse: collapse; width: 100% }\n\
th, td { text-align: left; vertical-align: top; padding: .35rem .6rem; border-bottom: 1px solid #ddd }\n\
thead th { position: sticky; top: 0; background: #fff }\n\
th.section { padding-top: 1.4rem; font-size: 1.05rem }\n\
small { color: #555; display: block }\n\
td.pass { background: #e6f4e6 } td.fail { background: #f9dcdc } td.undecided { background: #fdf3d0 }\n\
td.not-applicable, td.not-run { color: #555 }\n\
@media (prefers-color-scheme: dark) {\n\
  body, thead th { color: #e8e8e8; background: #161616 } th, td { border-color: #3a3a3a }\n\
  small, td.not-applicable, td.not-run { color: #aaa }\n\
  td.pass { background: #17361b } td.fail { background: #4a1d1d } td.undecided { background: #453a12 }\n\
}\n";

/// The page of a card.
pub fn page(card: &ReportCard) -> String {
    let names: Vec<&str> = card.controllers.iter().map(|own| own.name).collect();
    let title = format!("Report card: {}", names.join(", "));
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>{0}</title>\n<style>\n{STYLE}</style>\n\
         <h1>{0}</h1>\n",
        text(&title)
    );
    for own in &card.controllers {
        line(
            &mut page,
            &format!("<p><b>{}</b>: {} ({})</p>", text(own.name), text(own.title), text(own.source)),
        );
    }
    if !card.complete {
        line(&mut page, "<p><b>Interrupted: some cases were not run.</b></p>");
    }
    if !card.sections.is_empty() {
        cases(&mut page, card);
    }
    card.controllers.iter().for_each(|own| worst_cases(&mut page, own));
    let suite = &card.suite[..12.min(card.suite.len())];
    line(&mut page, &format!("<p><small>{}, cases {suite}</small></p>\n</html>", text(&card.version)));
    page
}

/// What became of the controllers in the cases.
fn cases(page: &mut String, card: &ReportCard) {
    let heads: String = card.controllers.iter().map(|own| format!("<th>{}</th>", text(own.name))).collect();
    line(page, &format!("<table>\n<thead><tr><th>case</th><th>bound</th>{heads}</tr></thead>\n<tbody>"));
    for section in &card.sections {
        line(
            page,
            &format!(
                "<tr><th class=\"section\" colspan=\"{}\">{}<small>{}</small></th></tr>",
                2 + card.controllers.len(),
                text(&section.title),
                text(&section.source)
            ),
        );
        section.cases.iter().for_each(|case| line(page, &row(case)));
    }
    line(page, "</tbody>\n</table>");
}

/// Where a challenge found that a controller does worst, if one is kept.
fn worst_cases(page: &mut String, of: &Subject) {
    if of.worst_cases.is_empty() {
        return;
    }
    line(page, &format!("<h2>Where {} does worst</h2>\n<table>", text(of.name)));
    line(
        page,
        "<thead><tr><th>worst case</th><th>simulated</th><th>on real hosts</th></tr></thead>\n<tbody>",
    );
    of.worst_cases.iter().for_each(|case| line(page, &worst_case(case)));
    line(page, "</tbody>\n</table>");
}

fn worst_case(case: &WorstCase) -> String {
    let class = match case.fate {
        Fate::Stays => "fail",
        Fate::Vanishes => "pass",
        Fate::NotReplayed => "not-run",
    };
    let [name, sentence, because, said] =
        [&case.name, &case.sentence, &case.because, &case.on_hosts()].map(|own| text(own));
    format!(
        "<tr><td><b>{name}</b><br>{sentence}<small>{because}</small></td>\
         <td class=\"fail\">{:.2}<small>a failure from {}</small></td><td class=\"{class}\">{said}</td></tr>",
        case.simulated, case.bad_from
    )
}

fn row(case: &CaseCard) -> String {
    let cells: String = case.results.iter().map(cell).collect();
    let [name, asks, source, bound] =
        [&case.name, &case.asks, &case.source, &case.bound].map(|own| text(own));
    format!("<tr><td><b>{name}</b><br>{asks}<small>{source}</small></td><td>{bound}</td>{cells}</tr>")
}

fn cell(outcome: &Outcome) -> String {
    let class = match outcome.verdict {
        Verdict::Pass => "pass",
        Verdict::Fail => "fail",
        Verdict::Undecided => "undecided",
        Verdict::NotApplicable => "not-applicable",
        Verdict::NotRun => "not-run",
    };
    let why = outcome.why.as_ref().map(|why| format!("<small>{}</small>", text(why))).unwrap_or_default();
    let said = format!("{} {}", outcome.verdict.name(), outcome.shown);
    format!("<td class=\"{class}\">{}{why}</td>", text(said.trim()))
}

fn line(page: &mut String, text: &str) {
    writeln!(page, "{text}").expect("a string takes everything");
}

fn text(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
