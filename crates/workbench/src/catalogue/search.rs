//! What `tresse explain` says of a word that is the name of no page: keys of the experiment's file, metrics, and the
//! pages that explain it.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use serde_json::Value;
use tresse_experiment::read::built_in;
use tresse_experiment::schema::metrics::{METRICS, WINDOW_METRICS};

/// How many keys, metrics and pages are shown.
const SHOWN: [usize; 3] = [8, 8, 3];

/// What is known of `word`; `None` if nothing is.
pub fn about(word: &str) -> Option<String> {
    let word = word.trim_matches(|c: char| c.is_whitespace() || "[]`".contains(c));
    if !word.contains(char::is_alphanumeric) {
        return None;
    }
    let keys = keys(word);
    let metrics = metrics(word);
    let pages = pages(word);
    if keys.is_empty() && metrics.is_empty() && pages.is_empty() {
        return None;
    }
    let [most_keys, most_metrics, most_pages] = SHOWN;
    let mut text = format!("# {word}\n\nNo page has this name. It is explained here:\n");
    text += &section("keys of an experiment's file", &keys, most_keys);
    text += &section("metrics (`tresse explain metrics` has all)", &metrics, most_metrics);
    text += &section("pages", &pages, most_pages);
    Some(text)
}

/// What something is called, and what is said of it.
type Line = (String, String);

fn section(head: &str, lines: &[Line], most: usize) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let line = |(name, said): &Line| format!("\n    {name}\n        {said}");
    let mut text = format!("\n{head}\n");
    text += lines.iter().take(most).map(line).collect::<String>().trim_start_matches('\n');
    let left = lines.len().saturating_sub(most);
    if left > 0 {
        text += &format!("\n    … and {left} more");
    }
    text + "\n"
}

/// Names as they may be typed: without brackets, lower-case, with either dash.
pub fn spellings(name: &str) -> Vec<String> {
    let bare = name.trim_matches(['[', ']', ' ', '`']);
    let lower = bare.to_lowercase();
    let dashed = lower.replace(['_', ' '], "-");
    let under = lower.replace(['-', ' '], "_");
    let mut all = vec![name.to_owned(), bare.to_owned(), lower, dashed.clone(), under.clone()];
    // The papers write MPTCP_OPN and MPTCP-LIA.
    all.extend(dashed.strip_prefix("mptcp-").map(str::to_owned));
    all.extend(under.strip_prefix("mptcp_").map(str::to_owned));
    all
}

/// The keys with this name, by their full path: `measure.windows`, or only the end of it.
fn keys(word: &str) -> Vec<Line> {
    static ALL: LazyLock<Vec<Line>> = LazyLock::new(|| {
        let schema = Value::from(crate::OWNERS.schema());
        let mut all = Vec::new();
        walk(&schema, &schema, "", &mut Vec::new(), &mut all);
        all
    });
    // In a symbol such as K, case matters: `fabric.k` is something else.
    let spellings = if is_symbol(word) { vec![word.to_owned()] } else { spellings(word) };
    // The name of a scheme or a workload may be left out, or any may stand there: `schemes.xmp.subflows`.
    let ends_so = |path: &[&str], own: &[&str]| {
        let end = path.len().checked_sub(own.len()).map(|start| &path[start..]);
        end.is_some_and(|end| end.iter().zip(own).all(|(part, asked)| part == asked || *part == "NAME"))
    };
    let is_meant = |path: &str| {
        let whole: Vec<&str> = path.split('.').collect();
        let unnamed: Vec<&str> = whole.iter().copied().filter(|part| *part != "NAME").collect();
        spellings.iter().any(|own| {
            let own: Vec<&str> = own.split('.').collect();
            ends_so(&unnamed, &own) || (own.len() > 2 && ends_so(&whole, &own))
        })
    };
    let mut told = BTreeSet::new();
    let mut meant: Vec<Line> =
        ALL.iter().filter(|(path, said)| is_meant(path) && told.insert((path, said))).cloned().collect();
    // The shortest path is the one that is meant most often, and hardly ever one of a paper's claims.
    let is_of_papers =
        |path: &str| ["claims", "published", "figures"].iter().any(|own| path.starts_with(own));
    meant.sort_by_key(|(path, _)| (is_of_papers(path), path.matches('.').count()));
    meant
}

/// Adds all keys below a part of the schema, if it has any.
fn walk(root: &Value, part: &Value, path: &str, within: &mut Vec<String>, all: &mut Vec<Line>) {
    if !part.is_object() {
        return;
    }
    if let Some(name) = part["$ref"].as_str() {
        // A variant may set everything again.
        if !within.iter().any(|own| own == name) && within.len() < 6 {
            within.push(name.to_owned());
            walk(root, root.pointer(&name[1..]).unwrap_or(&Value::Null), path, within, all);
            within.pop();
        }
    }
    let join = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    for (name, own) in part["properties"].as_object().into_iter().flatten() {
        let path = join(name);
        if let Some(said) = own["description"].as_str() {
            let default = match &own["default"] {
                value @ (Value::Bool(_) | Value::Number(_)) => format!(" Default: {value}."),
                Value::String(text) if !text.is_empty() => format!(" Default: \"{text}\"."),
                _ => String::new(),
            };
            all.push((path.clone(), format!("{}{default}", said.replace('\n', " "))));
        }
        walk(root, own, &path, within, all);
    }
    walk(root, &part["items"], path, within, all);
    walk(root, &part["additionalProperties"], &join("NAME"), within, all);
    for choices in ["anyOf", "oneOf", "allOf"] {
        for choice in part[choices].as_array().into_iter().flatten() {
            walk(root, choice, path, within, all);
        }
    }
}

/// The metrics with this name, or with the word in their names.
fn metrics(word: &str) -> Vec<Line> {
    let own = word.to_lowercase().replace([' ', '-'], "_");
    let is_meant = |name: &str| format!("_{name}_").contains(&format!("_{own}_"));
    let rows = METRICS.iter().chain(WINDOW_METRICS).filter(|row| is_meant(row.name));
    let mut told = BTreeSet::new();
    let rows = rows.filter(|row| told.insert(row.name));
    rows.map(|row| {
        let unit = if row.unit.is_empty() { String::new() } else { format!(" ({})", row.unit) };
        (format!("{}{unit}", row.name), row.meaning.to_owned())
    })
    .collect()
}

/// A page's section, and how well it fits.
struct Hit {
    page: String,
    /// Its heading and the line that tells most.
    said: String,
    score: usize,
}

/// The pages that explain a word, the best first.
fn pages(word: &str) -> Vec<Line> {
    let experiments: BTreeSet<String> = built_in::known().into_iter().collect();
    let names = super::names().into_iter().filter(|name| !experiments.contains(name));
    let mut told = BTreeSet::new();
    let mut hits: Vec<Hit> = names
        .filter_map(|name| super::explain(&name).map(|text| (name, text)))
        // Presets share a page.
        .filter(|(_, text)| told.insert(text.clone()))
        .filter_map(|(name, text)| best_section(&name, &text, word))
        .collect();
    hits.sort_by(|a, b| b.score.cmp(&a.score).then_with(|| a.page.cmp(&b.page)));
    hits.into_iter().map(|hit| (format!("tresse explain {}", hit.page), hit.said)).collect()
}

fn best_section(name: &str, text: &str, word: &str) -> Option<Hit> {
    if count(text, word) == 0 {
        return None;
    }
    let title = text.lines().next().unwrap_or_default();
    let of_page = if count(title, word) > 0 { 30 } else { 0 };
    let (mut heading, mut best): (&str, Option<Hit>) = (title, None);
    // The line that tells most; the first one of a section whose heading alone has the word.
    let (mut score, mut line): (usize, Option<(&str, usize)>) = (0, None);
    let mut is_code = false;
    for own in text.lines().chain(["# "]) {
        is_code ^= own.starts_with("```");
        if is_code || own.starts_with("    ") {
            continue;
        }
        if own.starts_with('#') {
            if let Some((said, _)) = line.filter(|_| best.as_ref().is_none_or(|hit| hit.score < score)) {
                let heading = heading.trim_start_matches(['#', ' ']);
                let said =
                    format!("{heading}: {}", said.replace('|', " ").trim().trim_start_matches(['-', ' ']));
                best = Some(Hit { page: name.to_owned(), said: shortened(&said), score: score + of_page });
            }
            heading = own;
            (score, line) = (if count(own, word) > 0 { 20 } else { 0 }, None);
            continue;
        }
        let found = count(own, word);
        if score > 0 && line.is_none() && !own.is_empty() {
            line = Some((own, 0));
        }
        if found > 0 {
            // `word` as a name, at the beginning of a line, is its definition; in a table it may be a parameter. A symbol
            // in brackets is one too: "than `mark` (K)".
            let start = own.trim_start_matches(['-', ' ', '*', '`']);
            let is_defined = is_symbol(word) && own.contains(&format!("({word})"));
            let defined = if is_defined { 40 } else { 0 };
            let worth = found + if starts_with_word(start, word) { 10 } else { 0 };
            score += worth.min(12) + defined;
            if line.is_none_or(|(_, before)| worth > before) {
                line = Some((own, worth));
            }
        }
    }
    best
}

/// The beginning of a text.
fn shortened(text: &str) -> String {
    const MOST: usize = 150;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{} …", text[..end].trim_end()),
        None => text.to_owned(),
    }
}

fn starts_with_word(text: &str, word: &str) -> bool {
    text.get(..word.len()).is_some_and(|start| count(start, word) > 0)
        && !text[word.len()..].starts_with(|c: char| c.is_alphanumeric() || c == '_')
}

/// Whether a word is a symbol such as K, in which case matters.
fn is_symbol(word: &str) -> bool {
    word.chars().count() <= 2
}

/// How often a text has a word, also in the plural.
fn count(text: &str, word: &str) -> usize {
    let (text, word) = match word.chars().count() {
        0..=2 => (text.to_owned(), word.to_owned()),
        _ => (text.to_lowercase(), word.to_lowercase()),
    };
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let found = text.match_indices(&*word).filter(|&(at, _)| {
        let after = &text[at + word.len()..];
        let after = if word.len() > 2 { after.strip_prefix('s').unwrap_or(after) } else { after };
        !text[..at].ends_with(is_part) && !after.starts_with(is_part)
    });
    if word.is_empty() { 0 } else { found.count() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::explained;

    #[test]
    fn a_symbol_leads_to_its_definition_first() {
        let text = explained("K").expect("pages");
        let (_, pages) = text.split_once("\npages\n").unwrap_or_else(|| panic!("{text}"));
        assert!(pages.trim_start().starts_with("tresse explain marking\n"), "{text}");
        assert!(!text.contains("fabric.k"), "{text}");
    }

    /// Words that users typed, and what must be offered.
    #[test]
    fn words_of_the_field_lead_to_what_explains_them() {
        for (word, expected) in [
            ("MPTCP_OPN", "# opn"),
            ("MPTCP-LIA", "# lia"),
            ("fat tree", "# The k-ary fat tree"),
            ("XMP", "# xmp"),
            ("schemes", "    schemes\n"),
            ("schemes.xmp.subflows", "    schemes.NAME.subflows\n"),
            ("K", "tresse explain marking"),
            ("mark", "fabric.mark"),
            ("fct", "fct_mean_s (s)"),
            ("FCT", "fct_p99_s (s)"),
            ("slowdown", "slowdown_p99_ratio"),
            ("goodput", "goodput_mean_bps (bit/s)"),
            ("[measure.windows]", "measure.windows"),
            ("windows", "measure.windows"),
            ("host_queue", "fabric.host_queue"),
            ("host queue", "fabric.host_queue"),
            ("receive_buffer", "transport.receive_buffer"),
            ("host_cpu", "fabric.host_cpu"),
            ("rto_min", "transport.rto_min"),
            ("RTO", "\n    tresse explain "),
            ("cwnd", "cwnd_mean_pkts"),
            ("ssthresh", "\n    tresse explain "),
            ("subflows", "schemes.NAME.subflows"),
            ("ECN", "\n    tresse explain "),
            ("CE", "\n    tresse explain "),
            ("BDP", "tresse explain marking"),
            ("incast", "# Incast"),
            ("deadline", "workloads.NAME.deadline"),
            ("unfinished", "unfinished_flows"),
            ("jain", "jain_ratio"),
            ("ECMP", "ecmp"),
            ("oversubscription", "\n    tresse explain "),
            ("REPS", "# reps"),
            ("recovery_time", "recovery_time_max_s"),
            ("retransmissions", "retransmissions_pkts"),
            ("seeds", "\n    tresse explain "),
            ("confidence interval", "\n    tresse explain "),
            ("TSO", "\n    tresse explain "),
            ("pacing", "    transport.pacing\n"),
            ("background", "\n    tresse explain "),
            ("deficit round robin", "tresse explain classes"),
            ("p99", "fct_p99_s"),
            ("slices", "small-web = {"),
            ("path-managers", "tresse explain opn"),
            ("controllers", "tresse explain xmp\n"),
            ("linux", "tresse explain hosts"),
        ] {
            let text = explained(word).unwrap_or_else(|e| panic!("{word}: {e:?}"));
            assert!(text.contains(expected), "{word}: no {expected} in\n{text}");
        }
    }

    #[test]
    fn at_most_three_pages_are_offered() {
        let text = explained("ECN").expect("pages");
        assert_eq!(text.matches("\n    tresse explain ").count(), 3, "{text}");
        assert!(text.contains(" more"), "{text}");
    }

    #[test]
    fn what_nothing_explains_is_an_error_with_the_nearest_name() {
        let error = format!("{:?}", explained("xpm").expect_err("nothing"));
        assert!(error.contains("nothing is called `xpm`") && error.contains("did you mean `xmp`"), "{error}");
        let metric = format!("{:?}", explained("fct_p95_s").expect_err("no metric"));
        assert!(metric.contains("`fct_p99_s`"), "{metric}");
    }

    #[test]
    fn words_are_whole() {
        assert_eq!(count("a queue, queues, host_queue, Queue", "queue"), 3);
        assert_eq!(count("K = 10, k = 8, Kbit", "K"), 1);
        assert_eq!(count("what", ""), 0);
    }
}
