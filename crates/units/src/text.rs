//! How values with a unit are read and written.

use std::fmt;

/// Reads `text` as a decimal number and one of `units`; the result must be whole in the base unit.
pub(crate) fn parse(text: &str, units: &[(&str, u64)], what: &str, example: &str) -> Result<u64, String> {
    let known = || units.iter().map(|(u, _)| *u).collect::<Vec<_>>().join(", ");
    let expected = format!("expected {what} such as \"{example}\" (units: {})", known());
    let text = text.trim();
    if text.starts_with('-') {
        return Err(format!("\"{text}\" is negative; {expected}"));
    }
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = (&text[..end], text[end..].trim());
    if number.is_empty() {
        return Err(format!("\"{text}\" has no number; {expected}"));
    }
    if unit.is_empty() {
        return Err(format!("\"{text}\" has no unit; {expected}"));
    }
    let Some(&(_, scale)) = units.iter().find(|(u, _)| *u == unit) else {
        return Err(match meant(unit, units) {
            Some(unit_meant) => format!(
                "\"{unit}\" is not a unit of {what}; did you mean \"{number}{unit_meant}\"? (units: {})",
                known()
            ),
            None => format!("\"{unit}\" is not a unit of {what}; {expected}"),
        });
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let bad = || format!("\"{number}\" is not a number; {expected}");
    let large = || format!("\"{text}\" is too large; {expected}");
    let whole: u128 = if whole.is_empty() { 0 } else { whole.parse().map_err(|_| bad())? };
    let mut value = whole.checked_mul(scale.into()).ok_or_else(large)?;
    if !fraction.is_empty() {
        let digits = u32::try_from(fraction.len()).unwrap_or(u32::MAX);
        let power = 10u128.checked_pow(digits).ok_or_else(bad)?;
        let part = fraction.parse::<u128>().map_err(|_| bad())?;
        let part = part.checked_mul(scale.into()).ok_or_else(bad)?;
        if part % power != 0 {
            return Err(format!("\"{text}\" is finer than one {}; {expected}", units[0].0));
        }
        value += part / power;
    }
    u64::try_from(value).map_err(|_| large())
}

/// The unit that was probably meant: the same with other capitals, or one that begins like it. `GB/s` and `GBps` are
/// bytes per second, which are no unit of anything here.
fn meant<'a>(unit: &str, units: &[(&'a str, u64)]) -> Option<&'a str> {
    let own = ["bit/s", "bits/s", "bits", "bit", "b/s"]
        .iter()
        .find_map(|end| Some(format!("{}bps", unit.strip_suffix(end)?)))
        .unwrap_or_else(|| unit.to_owned());
    if own.ends_with("Bps") {
        return None;
    }
    let own = own.to_lowercase();
    let find = |is_it: &dyn Fn(&str) -> bool| {
        units.iter().map(|(known, _)| *known).find(|known| is_it(&known.to_lowercase()))
    };
    find(&|known| known == own).or_else(|| find(&|known| known.starts_with(&own)))
}

/// The shortest exact way to write `value`.
pub(crate) fn show(value: u64, units: &[(&str, u64)]) -> String {
    let decimal = units.iter().filter(|(u, _)| !u.ends_with("iB"));
    let (unit, scale) =
        decimal.rev().find(|(_, s)| value.is_multiple_of(*s) && value >= *s).unwrap_or(&units[0]);
    format!("{}{unit}", value / scale)
}

/// Gives a unit type its text form, its place in files, and its schema.
macro_rules! text_form {
    ($type:ident, $pattern:literal, $example:literal) => {
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
                s.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
                struct Text;
                impl serde::de::Visitor<'_> for Text {
                    type Value = $type;
                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        write!(f, "a string with a unit, such as \"{}\"", $example)
                    }
                    fn visit_str<E: serde::de::Error>(self, v: &str) -> Result<$type, E> {
                        v.parse().map_err(E::custom)
                    }
                    fn visit_i64<E: serde::de::Error>(self, v: i64) -> Result<$type, E> {
                        Err(E::custom($crate::text::bare(&v, $example)))
                    }
                    fn visit_f64<E: serde::de::Error>(self, v: f64) -> Result<$type, E> {
                        Err(E::custom($crate::text::bare(&v, $example)))
                    }
                }
                d.deserialize_any(Text)
            }
        }

        impl schemars::JsonSchema for $type {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($type).into()
            }
            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "type": "string", "pattern": $pattern, "examples": [$example] })
            }
        }
    };
}
pub(crate) use text_form;

/// The error for a number where a string with a unit is expected.
pub(crate) fn bare(value: &dyn fmt::Display, example: &str) -> String {
    format!("a bare number {value} has no unit; write a string with a unit, such as \"{example}\"")
}
