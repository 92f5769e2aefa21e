//! Recognises a file's format, for the message if it was given as another format.

use tresse_workload::Goal;

/// The format that `text` looks like, if any.
pub(crate) fn looks_like(text: &str) -> Option<&'static str> {
    let mut lines = text.lines().map(str::trim).filter(|l| !l.is_empty() && !l.starts_with('#'));
    let first = lines.next()?;
    let second: Vec<&str> = lines.next().unwrap_or("").split_whitespace().collect();
    let words: Vec<&str> = first.split_whitespace().collect();
    let whole = |w: &&str| w.parse::<u64>().is_ok();
    let number = |w: &&str| w.parse::<f64>().is_ok();
    let hex = |w: &&str| w.len() == 8 && u32::from_str_radix(w, 16).is_ok();
    match *words {
        [key, _, ..] if key.eq_ignore_ascii_case("nodes") => Some(match second.first() {
            Some(&("Connections" | "Triggers" | "Failures")) => "an htsim connection matrix (htsim-cm)",
            Some(key) if key.contains("->") => "an htsim connection matrix (htsim-cm)",
            _ => "an htsim topology (htsim-topo)",
        }),
        ["num_ranks", ..] => Some("a GOAL trace (pattern = \"goal\")"),
        _ if Goal::is_binary(text.as_bytes()) => Some("a GOAL trace (pattern = \"goal\")"),
        [sip, dip, ..] if words.len() == 8 && hex(&sip) && hex(&dip) => {
            Some("results of the HPCC simulator (fct.txt)")
        }
        [_, _, _] | [_, _, _, _] if words.iter().all(whole) && second.iter().all(whole) => {
            Some("a topology of the HPCC simulator (hpcc)")
        }
        [a, b, c, d, e, _] if [a, b, c, d, e].iter().all(whole) && second.iter().all(whole) => {
            Some("a topology of SimAI's simulator (hpcc)")
        }
        [count] if whole(&count) && [5, 6].contains(&second.len()) && second.iter().all(number) => {
            Some("flows of the HPCC simulator (the second file of hpcc)")
        }
        [size, share] if [size, share].iter().all(number) => Some("a flow-size distribution (hpcc-cdf)"),
        [_] if first.split(',').count() == 2 && first.split(',').all(|w| number(&w.trim())) => {
            Some("a flow-size distribution (hpcc-cdf)")
        }
        _ if first.starts_with('{') => Some("JSON"),
        _ if first.starts_with('<') => Some("XML"),
        _ if first.starts_with('[') || first.contains(" = ") => Some("TOML"),
        _ if first.starts_with("|V|=") => Some("a topology of NetBench"),
        _ if first.split(',').any(|c| c.trim() == "from") => Some("a flow file (pattern = \"flows\")"),
        _ => None,
    }
}

/// `message`, with the format that the file looks like if that is not `own`.
pub fn instead(message: &str, text: &str, own: &str) -> String {
    match looks_like(text).filter(|format| !format.contains(own)) {
        Some(format) => format!("{message}; the file looks like {format}"),
        None => message.to_owned(),
    }
}
