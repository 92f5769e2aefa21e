//! What is proved of the built-in controllers. A test of `make test-all` proves it again.

use super::{Open, Proof, Property};

/// The record: a controller's name, then each property with the places where it is not proved.
pub const RECORD: &str = include_str!("recorded.txt");

/// What the record says of the built-in controller `name`: the properties that are proved, and the others with the
/// places that are only tested.
pub fn recorded(name: &str) -> Option<(Vec<&'static str>, Vec<&'static str>)> {
    let line = RECORD.lines().find(|line| line.split(':').next() == Some(name))?;
    let parts = line.split_once(": ")?.1.split("; ");
    Some(parts.partition(|part| Property::ALL.iter().any(|property| property.name() == *part)))
}

/// The line of the record.
pub fn entry(proof: &Proof) -> String {
    let parts: Vec<_> = proof.properties.iter().map(|(property, open)| part(*property, open)).collect();
    format!("{}: {}\n", proof.controller.name(), parts.join("; "))
}

fn part(property: Property, open: &[Open]) -> String {
    let name = property.name();
    if open.is_empty() {
        return name.to_owned();
    }
    let mut places: Vec<_> =
        open.iter().map(|open| open.place().trim_start_matches("controllers/").to_owned()).collect();
    places.dedup();
    format!("{name} but for {}", places.join(", "))
}
