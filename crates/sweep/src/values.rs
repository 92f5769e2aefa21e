//! The values of a key: a list, or a range of numbers or of quantities such as `"10Gbps"`.

use toml::{Table, Value};
use tresse_experiment::diagnostic::Wrong;
use tresse_experiment::did_you_mean;
use tresse_units::{Bytes, Duration, Mark, Packets, Rate};

/// The values of a key.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Values {
    List(Vec<Value>),
    Range(Range),
}

/// From one number to another.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Range {
    from: f64,
    to: f64,
    steps: Option<usize>,
    log: bool,
    unit: Unit,
    /// The values exactly as written.
    ends: [Value; 2],
}

/// The kind of quantity of a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Unit {
    Whole,
    Real,
    Rate,
    Duration,
    Bytes,
    Packets,
    Bdp,
}

/// The maximum number of values of a key.
const MOST: usize = 1_000_000;

/// Digits of a quantity or a number between the ends of a range; more would be meaningless.
const DIGITS: i32 = 4;

/// A quantity in its base unit.
pub(crate) fn quantity(text: &str) -> Option<(Unit, u64)> {
    let rate = text.parse::<Rate>().map(|own| (Unit::Rate, own.0));
    let duration = || text.parse::<Duration>().map(|own| (Unit::Duration, own.0));
    let bytes = || text.parse::<Bytes>().map(|own| (Unit::Bytes, own.0));
    let packets = || text.parse::<Packets>().map(|own| (Unit::Packets, own.0.into()));
    let bdp = || match text.parse() {
        Ok(Mark::Bdp(parts)) => Some((Unit::Bdp, parts)),
        Ok(Mark::Length(_)) | Err(_) => None,
    };
    rate.or_else(|_| duration()).or_else(|_| bytes()).or_else(|_| packets()).ok().or_else(bdp)
}

impl Values {
    /// The values of a key in a plan.
    ///
    /// # Errors
    /// If it is neither.
    pub fn read(value: &Value) -> Result<Self, Wrong> {
        match value {
            Value::Array(values) if values.is_empty() => {
                Err(Wrong::whole("the list is empty, so there is no point"))
            }
            Value::Array(values) => Ok(Self::List(values.clone())),
            Value::Table(table) => Ok(Self::Range(Range::read(table)?)),
            value => Err(Wrong::whole(format!(
                "expected a list of values, or a range such as {{ from = 2, to = 8, steps = 4 }}; a single value is [{value}]"
            ))),
        }
    }

    /// All values.
    ///
    /// # Errors
    /// If it is a range without steps.
    pub fn all(&self) -> Result<Vec<Value>, Wrong> {
        match self {
            Self::List(values) => Ok(values.clone()),
            Self::Range(range) => range.all(),
        }
    }

    /// The value at a share from 0 to below 1.
    pub fn at(&self, share: f64) -> Value {
        let pick = |values: &[Value]| {
            let place = (share * values.len() as f64) as usize;
            values[place.min(values.len() - 1)].clone()
        };
        match self {
            Self::List(values) => pick(values),
            Self::Range(range) => match range.all() {
                Ok(values) => pick(&values),
                Err(_) => range.between(share),
            },
        }
    }
}

impl Range {
    fn read(table: &Table) -> Result<Self, Wrong> {
        const KEYS: [&str; 4] = ["from", "to", "steps", "scale"];
        if let Some(key) = table.keys().find(|key| !KEYS.contains(&key.as_str())) {
            let hint = did_you_mean(key, KEYS);
            return Err(Wrong::key(
                key,
                format!("a range has no key `{key}`{hint}: it has from, to, steps, scale"),
            ));
        }
        let end = |key: &str| {
            let value = table.get(key).ok_or_else(|| Wrong::whole(format!("the range has no `{key}`")))?;
            let wrong = || {
                Wrong::key(
                    key,
                    "expected a number, or a quantity such as \"10Gbps\", \"20us\", \"64kB\", \"10pkt\", \"0.2BDP\"",
                )
            };
            let (unit, number) = match value {
                Value::Integer(number) => (Unit::Whole, *number as f64),
                Value::Float(number) if number.is_finite() => (Unit::Real, *number),
                Value::String(text) => quantity(text).map(|(unit, n)| (unit, n as f64)).ok_or_else(wrong)?,
                _ => return Err(wrong()),
            };
            Ok((unit, number, value.clone()))
        };
        let ((one, from, first), (other, to, last)) = (end("from")?, end("to")?);
        let unit = match (one, other) {
            (Unit::Whole | Unit::Real, Unit::Whole | Unit::Real) => one.max(other),
            _ if one == other => one,
            _ => return Err(Wrong::key("to", "`from` and `to` are different kinds of quantities")),
        };
        if from >= to {
            return Err(Wrong::key("to", "must be above `from`"));
        }
        let log = match table.get("scale").map(|scale| scale.as_str()) {
            None | Some(Some("linear")) => false,
            Some(Some("log")) if from > 0.0 => true,
            Some(Some("log")) => {
                return Err(Wrong::key("from", "a range with scale \"log\" must begin above 0"));
            }
            Some(_) => return Err(Wrong::key("scale", "\"linear\" or \"log\"")),
        };
        let steps = match table.get("steps") {
            None => None,
            Some(Value::Integer(steps)) if (2..=MOST as i64).contains(steps) => Some(*steps as usize),
            Some(_) => {
                return Err(Wrong::key(
                    "steps",
                    format!("expected a whole number of values, 2 to {MOST}, including the ends"),
                ));
            }
        };
        Ok(Self { from, to, steps, log, unit, ends: [first, last] })
    }

    /// Its values, each once.
    fn all(&self) -> Result<Vec<Value>, Wrong> {
        let steps =
            self.steps.ok_or_else(|| Wrong::whole("the range needs `steps`, the number of its values"))?;
        let one = |step: usize| match step {
            0 => self.ends[0].clone(),
            step if step == steps - 1 => self.ends[1].clone(),
            step => self.value(self.number(step as f64 / (steps - 1) as f64)),
        };
        let mut values: Vec<Value> = (0..steps).map(one).collect();
        values.dedup();
        Ok(values)
    }

    /// The value at this share of the range; for whole numbers, each has an equal share.
    fn between(&self, share: f64) -> Value {
        if self.unit == Unit::Whole && !self.log {
            let count = self.to - self.from + 1.0;
            return Value::Integer((self.from + (share * count).floor()).min(self.to) as i64);
        }
        self.value(self.number(share))
    }

    fn number(&self, share: f64) -> f64 {
        if self.log {
            self.from * (self.to / self.from).powf(share)
        } else {
            self.from + share * (self.to - self.from)
        }
    }

    fn value(&self, number: f64) -> Value {
        let short = || rounded(number, DIGITS).clamp(self.from, self.to);
        match self.unit {
            Unit::Whole => Value::Integer(number.round() as i64),
            // Twelve digits: 0.1 + 0.2 is 0.3.
            Unit::Real if !self.log => Value::Float(rounded(number, 12)),
            Unit::Real => Value::Float(short()),
            Unit::Rate => Value::String(Rate(short().round() as u64).to_string()),
            Unit::Duration => Value::String(Duration(short().round() as u64).to_string()),
            Unit::Bytes => Value::String(Bytes(short().round() as u64).to_string()),
            Unit::Packets => Value::String(Packets(number.round() as u32).to_string()),
            Unit::Bdp => Value::String(Mark::Bdp(short().round() as u64).to_string()),
        }
    }
}

/// Rounds to this many digits.
fn rounded(number: f64, digits: i32) -> f64 {
    format!("{number:.*e}", (digits - 1) as usize).parse().expect("it was written as a number")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Values, String> {
        let mut table: Table = toml::from_str(&format!("v = {text}")).expect("it is TOML");
        Values::read(&table.remove("v").expect("it is there"))
            .map_err(|e| format!("{}: {}", e.keys().join("."), e.message))
    }

    fn all(text: &str) -> String {
        let values = read(text).and_then(|own| own.all().map_err(|e| e.message)).expect("a range");
        values.iter().map(Value::to_string).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn ranges_step_from_end_to_end() {
        for (text, wanted) in [
            ("{ from = 2, to = 8, steps = 4 }", "2 4 6 8"),
            ("{ from = 1, to = 3, steps = 9 }", "1 2 3"),
            ("{ from = 1, to = 1000, steps = 4, scale = \"log\" }", "1 10 100 1000"),
            ("{ from = 0.1, to = 0.4, steps = 4 }", "0.1 0.2 0.3 0.4"),
            ("{ from = 0, to = 1.0, steps = 3 }", "0 0.5 1.0"),
            (
                "{ from = \"1Gbps\", to = \"100Gbps\", steps = 5, scale = \"log\" }",
                "\"1Gbps\" \"3162Mbps\" \"10Gbps\" \"31620Mbps\" \"100Gbps\"",
            ),
            ("{ from = \"10pkt\", to = \"15pkt\", steps = 3 }", "\"10pkt\" \"13pkt\" \"15pkt\""),
            ("{ from = \"0.1BDP\", to = \"0.4BDP\", steps = 3 }", "\"0.1BDP\" \"0.25BDP\" \"0.4BDP\""),
            ("{ from = \"500us\", to = \"2ms\", steps = 4 }", "\"500us\" \"1ms\" \"1500us\" \"2ms\""),
            ("[\"a\", 3, [1, 2]]", "\"a\" 3 [1, 2]"),
        ] {
            assert_eq!(all(text), wanted, "{text}");
        }
    }

    #[test]
    fn a_share_lies_within_the_range() {
        let at = |text: &str, share: f64| read(text).expect("values").at(share).to_string();
        assert_eq!(at("{ from = 1, to = 4 }", 0.0), "1");
        assert_eq!(at("{ from = 1, to = 4 }", 0.5), "3");
        assert_eq!(at("{ from = 1, to = 4 }", 0.999_999), "4");
        assert_eq!(at("{ from = 0.0, to = 1.0 }", 0.25), "0.25");
        assert_eq!(at("{ from = \"1us\", to = \"100us\", scale = \"log\" }", 0.5), "\"10us\"");
        assert_eq!(at("{ from = 2, to = 8, steps = 4 }", 0.99), "8");
        assert_eq!(at("[\"a\", \"b\"]", 0.5), "\"b\"");
    }

    #[test]
    fn what_is_no_range_is_told() {
        for (text, wanted) in [
            ("[]", ": the list is empty"),
            ("3", ": expected a list of values"),
            ("{ from = 1 }", ": the range has no `to`"),
            ("{ from = 3, to = 3 }", "to: must be above"),
            ("{ from = 1, to = \"3us\" }", "to: `from` and `to` are different kinds of quantities"),
            ("{ from = \"fast\", to = \"3us\" }", "from: expected a number, or a quantity"),
            ("{ from = 0, to = 3, scale = \"log\" }", "from: a range with scale \"log\" must begin above 0"),
            ("{ from = 0, to = 3, scale = \"cubic\" }", "scale: \"linear\" or \"log\""),
            ("{ from = 0, to = 3, step = 2 }", "step: a range has no key `step`; did you mean `steps`?"),
            ("{ from = 0, to = 3, steps = 1 }", "steps: expected a whole number"),
            ("{ from = 0.0, to = inf }", "to: expected a number"),
        ] {
            let error = read(text).expect_err(text);
            assert!(error.starts_with(wanted), "{text}: {error}");
        }
        let error = read("{ from = 1, to = 3 }").and_then(|own| own.all().map_err(|e| e.message));
        assert_eq!(error, Err("the range needs `steps`, the number of its values".to_owned()));
    }
}
