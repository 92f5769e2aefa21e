//! The experiment files stay short, and state everything once.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use toml::{Table, Value};

/// No experiment file is longer, except for its figures, which are at the end and affect nothing.
const LINES: usize = 300;

/// The sentences of claims: their texts and reasons, anywhere in an entry.
fn sentences<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
    match value {
        Value::Table(table) => {
            for (key, value) in table {
                match value {
                    Value::String(text) if ["text", "because"].contains(&key.as_str()) => found.push(text),
                    // The value of a placeholder may be a sentence too.
                    Value::String(text) if key != "source" && text.split(' ').count() > 5 => found.push(text),
                    value => sentences(value, found),
                }
            }
        }
        Value::Array(list) => list.iter().for_each(|value| sentences(value, found)),
        _ => {}
    }
}

#[test]
fn experiment_files_are_short_and_say_a_sentence_once() {
    let papers = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../papers");
    let mut wrong = Vec::new();
    for name in tresse_experiment::read::built_in::names() {
        let text = fs::read_to_string(papers.join(format!("{name}.toml"))).expect("it is there");
        let lines = text.lines().take_while(|line| *line != "[[figures]]").count();
        if lines > LINES {
            wrong.push(format!("{name} has {lines} lines: more than {LINES}"));
        }
        let table: Table = toml::from_str(&text).expect("TOML");
        let (mut found, mut times) = (Vec::new(), BTreeMap::new());
        table.get("claims").iter().for_each(|claims| sentences(claims, &mut found));
        found.into_iter().for_each(|sentence| *times.entry(sentence).or_insert(0) += 1);
        let often = times.iter().filter(|&(_, &n)| n > 1);
        wrong.extend(often.map(|(sentence, n)| format!("{name} says {n} times: {sentence}")));
    }
    let hint = "`for_each` and `same_as` say it once (`tresse explain claims`)";
    assert!(wrong.is_empty(), "{}\nhint: {hint}", wrong.join("\n"));
}
