//! Experiments with values, keys and lines that are not theirs.

use toml::{Table, Value};
use tresse_units::SplitMix;

use super::Input;
use super::files::spoilt;
use super::seeds::{BESIDE, EXPERIMENTS, PAPERS};

pub fn input(random: &mut SplitMix) -> Input {
    let is_small = random.below(3) > 0;
    let (name, text) = *one_of(random, if is_small { &EXPERIMENTS[..] } else { &PAPERS[..] });
    let text = match random.below(5) {
        0 => spoilt(random, text.as_bytes()),
        _ => changed(random, text).into_bytes(),
    };
    let mut files: Vec<_> = BESIDE.iter().map(|(name, bytes)| ((*name).to_owned(), bytes.to_vec())).collect();
    files.push((name.to_owned(), text));
    Input { arguments: command(random, name), files, special: Vec::new() }
}

/// A command that reads the experiment.
pub fn command(random: &mut SplitMix, file: &str) -> Vec<String> {
    let words: &[&str] = match random.below(10) {
        0 => &["topology", "show"],
        1 => &["optimum"],
        2 => &["run", "--profile", "full"],
        3 => &["run", "--json"],
        _ => &["run"],
    };
    words.iter().copied().chain([file]).map(str::to_owned).collect()
}

pub fn one_of<'a, T>(random: &mut SplitMix, items: &'a [T]) -> &'a T {
    &items[random.below(items.len() as u64) as usize]
}

/// One to three things are otherwise.
fn changed(random: &mut SplitMix, text: &str) -> String {
    let mut table: Table = text.parse().expect("a seed is TOML");
    for _ in 0..=random.below(3) {
        change(random, &mut table);
    }
    toml::to_string(&table).expect("a table can be written")
}

fn change(random: &mut SplitMix, table: &mut Table) {
    let mut root = Value::Table(std::mem::take(table));
    let count = count(&root);
    let place = random.below(count.max(1) as u64) as usize;
    match random.below(9) {
        // Two values in each other's place: each is right, and neither where it stands.
        8 => swap(random, &mut root, count),
        // Another value of the same type, or of another one.
        0..=2 => with(&mut root, place, &mut |value| *value = alike(random, value)),
        3 | 4 => with(&mut root, place, &mut |value| *value = any(random)),
        // A value from elsewhere.
        5 => {
            let mut other = None;
            let from = random.below(count.max(1) as u64) as usize;
            with(&mut root, from, &mut |value| other = Some(value.clone()));
            if let Some(other) = other {
                with(&mut root, place, &mut |value| *value = other.clone());
            }
        }
        // A key more, less, or misspelt, or an element twice.
        _ => with(&mut root, place, &mut |value| restructure(random, value)),
    }
    let Value::Table(changed) = root else { return };
    *table = changed;
}

fn swap(random: &mut SplitMix, root: &mut Value, count: usize) {
    let [one, other] = [0; 2].map(|_| random.below(count.max(1) as u64) as usize);
    let mut values = [None, None];
    for (place, value) in [one, other].into_iter().zip(&mut values) {
        with(root, place, &mut |own| *value = Some(own.clone()));
    }
    let [Some(first), Some(second)] = values else { return };
    with(root, one, &mut |own| *own = second.clone());
    with(root, other, &mut |own| *own = first.clone());
}

/// How many values there are below `value`.
fn count(value: &Value) -> usize {
    match value {
        Value::Table(table) => table.values().map(|v| 1 + count(v)).sum(),
        Value::Array(list) => list.iter().map(|v| 1 + count(v)).sum(),
        _ => 0,
    }
}

/// Does `work` with the `place`-th value below `value`.
fn with(value: &mut Value, mut place: usize, work: &mut dyn FnMut(&mut Value)) {
    let children: Vec<&mut Value> = match value {
        Value::Table(table) => table.iter_mut().map(|(_, v)| v).collect(),
        Value::Array(list) => list.iter_mut().collect(),
        _ => Vec::new(),
    };
    for child in children {
        if place == 0 {
            return work(child);
        }
        place -= 1;
        let below = count(child);
        if place < below {
            return with(child, place, work);
        }
        place -= below;
    }
}

const NUMBERS: [&str; 16] = [
    "0",
    "1",
    "-1",
    "2",
    "3",
    "7",
    "0.5",
    "1e-9",
    "65536",
    "4294967295",
    "4294967296",
    "1e12",
    "9223372036854775807",
    "18446744073709551615",
    "1e300",
    "0.000000000001",
];

const UNITS: [&str; 16] =
    ["", "ps", "ns", "us", "ms", "s", "B", "kB", "MB", "TB", "pkt", "bps", "Mbps", "Gbps", "%", " parsecs"];

const WORDS: [&str; 22] = [
    "",
    "xmp",
    "reno",
    "lia",
    "opn",
    "ecmp",
    "spray",
    "drill",
    "holnet-rate",
    "plb",
    "unlimited",
    "poisson",
    "permutation",
    "jobs",
    "flows",
    "fat-tree",
    "leaf-spine",
    "file",
    "websearch-hpcc",
    "rack",
    "host 0",
    "ä\u{0}\u{202e}",
];

/// A value of the same type.
fn alike(random: &mut SplitMix, value: &Value) -> Value {
    match value {
        Value::String(text) if text.starts_with(|c: char| c.is_ascii_digit()) => quantity(random, text),
        Value::String(_) => Value::String((*one_of(random, &WORDS)).to_owned()),
        Value::Integer(_) => integer(random),
        Value::Float(_) => float(random),
        Value::Boolean(is) => Value::Boolean(!is),
        Value::Array(list) => {
            let mut list = list.clone();
            match random.below(3) {
                0 => list.clear(),
                1 => list.reverse(),
                _ => list.extend(list.first().cloned()),
            }
            Value::Array(list)
        }
        Value::Table(_) => Value::Table(Table::new()),
        Value::Datetime(_) => any(random),
    }
}

/// Another number with the same unit, or the other way round.
fn quantity(random: &mut SplitMix, text: &str) -> Value {
    let unit = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(unit);
    Value::String(match random.below(3) {
        0 => format!("{number}{}", one_of(random, &UNITS)),
        _ => format!("{}{unit}", one_of(random, &NUMBERS)),
    })
}

fn integer(random: &mut SplitMix) -> Value {
    let near = [0, 1, 2, 3, 5, 6, 16, 63, 64, 65, 255, 1000];
    let far = [-1, i64::MIN, 1 << 16, 1 << 20, 1 << 31, 1 << 32, i64::MAX];
    Value::Integer(if random.below(2) == 0 { *one_of(random, &near) } else { *one_of(random, &far) })
}

fn float(random: &mut SplitMix) -> Value {
    let some =
        [0.0, -0.0, 1.0, -1.0, 0.5, 1.0000001, 1e-300, 1e300, f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
    Value::Float(*one_of(random, &some))
}

/// A value of whatever type.
fn any(random: &mut SplitMix) -> Value {
    match random.below(8) {
        0 => integer(random),
        1 => float(random),
        2 => Value::Boolean(random.below(2) == 0),
        3 => Value::Array(Vec::new()),
        4 => Value::Array(vec![any(random), any(random)]),
        5 => Value::Table([((*one_of(random, &WORDS)).to_owned(), any(random))].into_iter().collect()),
        6 => Value::String((*one_of(random, &WORDS)).to_owned()),
        _ => Value::String(format!("{}{}", one_of(random, &NUMBERS), one_of(random, &UNITS))),
    }
}

/// A key more, less, or misspelt, or an element twice.
fn restructure(random: &mut SplitMix, value: &mut Value) {
    let spare = any(random);
    let draw = random.next();
    match value {
        Value::Table(table) => {
            let keys: Vec<String> = table.keys().cloned().collect();
            let key = keys.get(draw as usize % keys.len().max(1));
            match (random.below(3), key) {
                (0, Some(key)) => drop(table.remove(key)),
                (1, Some(key)) => {
                    let own = table.remove(key).expect("it is there");
                    table.insert(format!("{key}s"), own);
                }
                _ => drop(table.insert("spare".to_owned(), spare)),
            }
        }
        Value::Array(list) => match list.first().cloned() {
            Some(first) if random.below(2) == 0 => list.push(first),
            _ => drop(list.pop()),
        },
        other => *other = Value::Array(vec![other.clone(), spare]),
    }
}
