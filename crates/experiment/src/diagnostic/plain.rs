//! Serde's errors about values that it cannot read, in plain words.

use super::did_you_mean;

/// `message` of a TOML reader, without the reader's type names.
pub(crate) fn plain(message: &str) -> String {
    let message = message.trim_end();
    let mismatch = ["invalid type: ", "invalid value: "].iter().find_map(|head| message.strip_prefix(head));
    if let Some((found, wanted)) = mismatch.and_then(|rest| rest.rsplit_once(", expected ")) {
        if let Some(whole) = whole(found).filter(|_| wanted.starts_with(['u', 'i'])) {
            return format!("expected a whole number, found {}; write {whole}", self::found(found));
        }
        return format!("expected {}, found {}", self::wanted(wanted), self::found(found));
    }
    if let Some((length, wanted)) =
        message.strip_prefix("invalid length ").and_then(|rest| rest.split_once(", expected "))
    {
        // A table may be written as a list of its values, as far as the reader knows.
        let wanted = wanted.rsplit_once(" with ").map_or(wanted, |(table, _)| table);
        let is_table = wanted.starts_with("struct ") || wanted.starts_with("a table");
        let found = if is_table { "a list" } else { length };
        return format!("expected {}, found {found}", self::wanted(wanted));
    }
    if let Some(key) = message.strip_prefix("missing field ") {
        return format!("the key {key} is missing");
    }
    for (theirs, what) in [("unknown field ", "key"), ("unknown variant ", "value")] {
        if let Some(rest) = message.strip_prefix(theirs) {
            let mut names = rest.split('`').skip(1).step_by(2);
            let name = names.next().unwrap_or_default();
            return unknown(what, name, &names.collect::<Vec<_>>());
        }
    }
    match message {
        "recursion limit" | "cannot recurse further; max recursion depth met" => {
            "nested too deeply: at most 80 levels".to_owned()
        }
        "wanted string or table" => "expected a string".to_owned(),
        other if other.starts_with("wanted exactly 1 element") => "expected a string".to_owned(),
        other => other.to_owned(),
    }
}

/// The error of a reader of JSON, without its type names: "expected an object, found 3 at line 1 column 2".
pub fn plain_json(error: &serde_json::Error) -> String {
    let message = error.to_string();
    let (what, place) = message.rfind(" at line ").map_or((&*message, ""), |at| message.split_at(at));
    let plain = plain(what);
    match plain.strip_prefix("expected a table,") {
        Some(found) => format!("expected an object,{found}{place}"),
        None => plain + place,
    }
}

/// What other simulators and papers call some keys.
const ELSEWHERE: [(&str, &str); 11] = [
    ("algorithm", "controller"),
    ("bandwidth", "rate"),
    ("capacity", "rate"),
    ("cc", "controller"),
    ("congestion_control", "controller"),
    ("latency", "delay"),
    ("limit", "queue"),
    ("queue_size", "queue"),
    ("seeds", "replications"),
    ("speed", "rate"),
    ("threshold", "mark"),
];

/// That a key or a value (`what`) is unknown, with the known one that was probably meant, or with all of them.
pub(crate) fn unknown(what: &str, name: &str, known: &[&str]) -> String {
    let ours = ELSEWHERE.iter().find(|(theirs, own)| *theirs == name && known.contains(own));
    if let Some((_, own)) = ours.filter(|_| what == "key") {
        return format!("unknown {what} `{name}`; did you mean `{own}`?");
    }
    let hint = did_you_mean(name, known.iter().copied());
    if !hint.is_empty() {
        return format!("unknown {what} `{name}`{hint}");
    }
    let known: Vec<String> = known.iter().map(|own| format!("`{own}`")).collect();
    match &known[..] {
        [] => format!("unknown {what} `{name}`, expected none"),
        [only] => format!("unknown {what} `{name}`, expected {only}"),
        [one, other] => format!("unknown {what} `{name}`, expected {one} or {other}"),
        all => format!("unknown {what} `{name}`, expected one of {}", all.join(", ")),
    }
}

/// What was expected.
fn wanted(type_name: &str) -> String {
    let whole = |most: u64| format!("a whole number from 0 to {most}");
    match type_name {
        "u8" => whole(u8::MAX.into()),
        "u16" => whole(u16::MAX.into()),
        "u32" => whole(u32::MAX.into()),
        "u64" | "usize" => "a whole number of at least 0".to_owned(),
        "i64" => "a whole number".to_owned(),
        "f64" => "a number".to_owned(),
        "a boolean" => "true or false".to_owned(),
        "a map" => "a table".to_owned(),
        "enum" => "one key".to_owned(),
        "a sequence" => "a list".to_owned(),
        other if other.starts_with("struct ") => "a table".to_owned(),
        other => match other.strip_prefix("a tuple of size ") {
            Some(length) => format!("a list of {length}"),
            None => other.to_owned(),
        },
    }
}

/// The whole number that a number with a point or an exponent stands for.
fn whole(described: &str) -> Option<i64> {
    let number: f64 = described.strip_prefix("floating point ")?.trim_matches('`').parse().ok()?;
    (number.fract() == 0.0 && number.abs() < 1e15).then_some(number as i64)
}

/// What was found.
fn found(described: &str) -> String {
    let value = |kind: &str| described.strip_prefix(kind).map(|value| value.trim_matches('`').to_owned());
    match described {
        "map" => "a table".to_owned(),
        "sequence" => "a list".to_owned(),
        _ => ["string ", "integer ", "floating point ", "boolean "]
            .iter()
            .find_map(|kind| value(kind))
            .unwrap_or_else(|| described.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{plain, plain_json};

    #[test]
    fn json_has_objects_and_places() {
        #[derive(Debug, serde::Deserialize)]
        struct Red {
            #[expect(dead_code, reason = "only read")]
            max: u32,
        }
        for (text, ours) in [
            ("0", "expected an object, found 0 at line 1 column 1"),
            ("[]", "expected an object, found a list at line 1 column 2"),
            (r#""x""#, "expected an object, found \"x\" at line 1 column 3"),
            ("{}", "the key `max` is missing at line 1 column 2"),
            (r#"{"max": -1}"#, "expected a whole number from 0 to 4294967295, found -1 at line 1 column 10"),
            ("{", "EOF while parsing an object at line 1 column 1"),
        ] {
            let error = serde_json::from_str::<Red>(text).expect_err(text);
            assert_eq!(plain_json(&error), ours, "{error}");
        }
        let error = serde_json::from_str::<BTreeMap<String, u32>>("[]").expect_err("a list");
        assert_eq!(plain_json(&error), "expected an object, found a list at line 1 column 0");
    }

    #[test]
    fn types_are_told_by_what_may_stand_there() {
        for (theirs, ours) in [
            (
                "invalid type: string \"three\", expected u32",
                "expected a whole number from 0 to 4294967295, found \"three\"",
            ),
            (
                "invalid type: floating point `1000.0`, expected u64",
                "expected a whole number, found 1000.0; write 1000",
            ),
            (
                "invalid type: floating point `1.5`, expected u64",
                "expected a whole number of at least 0, found 1.5",
            ),
            ("invalid value: integer `-1`, expected u64", "expected a whole number of at least 0, found -1"),
            ("invalid type: boolean `true`, expected f64", "expected a number, found true"),
            ("invalid type: sequence, expected struct Red", "expected a table, found a list"),
            (
                "invalid type: string \"a, expected b\", expected a boolean",
                "expected true or false, found \"a, expected b\"",
            ),
            ("invalid length 1, expected a tuple of size 2", "expected a list of 2, found 1"),
            ("invalid length 0, expected struct Red with 5 elements", "expected a table, found a list"),
            ("missing field `max`", "the key `max` is missing"),
            (
                "unknown field `kolour`, expected `mark` or `delay`",
                "unknown key `kolour`, expected `mark` or `delay`",
            ),
            (
                "unknown field `mrak`, expected one of `rate`, `delay`, `mark`",
                "unknown key `mrak`; did you mean `mark`?",
            ),
            (
                "unknown field `bandwidth`, expected one of `rate`, `delay`, `mark`",
                "unknown key `bandwidth`; did you mean `rate`?",
            ),
            ("unknown field `bandwidth`, expected `mark`", "unknown key `bandwidth`, expected `mark`"),
            ("unknown variant `perm`, expected `flows`", "unknown value `perm`, expected `flows`"),
            ("unknown field `x`, there are no fields", "unknown key `x`, expected none"),
            ("7GBB is no size", "7GBB is no size"),
        ] {
            assert_eq!(plain(theirs), ours);
        }
    }
}
