//! How many seeds a case is run with: a number, or as many as a confidence interval, or the claims, need.

use std::borrow::Cow;
use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use indexmap::IndexMap;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{self, Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize};

use crate::diagnostic::Wrong;
use crate::schema::metric_schema::CaseMetric;
use crate::schema::slice::{Slice, check_metric};

/// How many seeds.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Replications {
    /// This many.
    Count(u32),
    /// As many as it takes.
    Until(Until),
}

/// As many seeds as it takes until the interval of a metric is narrow enough in every case (`width`), or until
/// every claim is decided (`until`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Until {
    /// The largest allowed half width of the 95 % confidence interval, as a share of the mean; above 0 and below 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub width: Option<f64>,
    /// Instead of a width: until every claim is decided. Then only cases of undecided claims get more seeds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Goal>,
    /// With `width`, the metric (`tresse explain metrics`).
    #[serde(default = "goodput")]
    #[schemars(with = "CaseMetric")]
    pub of: String,
    /// The number of seeds to begin with: 2 to 1000.
    #[serde(default = "three")]
    pub least: u32,
    /// The maximum number of seeds, whether narrow and decided or not: `least` to 1000.
    #[serde(default = "twenty")]
    pub most: u32,
}

/// What a run continues until.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Goal {
    /// Every claim holds or does not hold, or its value is known to be within 3 % of its bound.
    Decided,
}

/// A claim whose bound is within an interval of at most this half width, as a share of the bound, stays
/// inconclusive: the value is practically at the bound, and more seeds are not worthwhile.
pub const NARROW: f64 = 0.03;

fn goodput() -> String {
    "goodput_mean_bps".to_owned()
}

fn three() -> u32 {
    3
}

fn twenty() -> u32 {
    20
}

/// How many seeds a run may have.
const COUNTS: RangeInclusive<u32> = 1..=1000;

impl Default for Replications {
    fn default() -> Self {
        Self::Count(1)
    }
}

impl From<u32> for Replications {
    fn from(count: u32) -> Self {
        Self::Count(count)
    }
}

impl Replications {
    /// How many seeds are run before anything is checked.
    pub fn least(&self) -> u32 {
        match self {
            Self::Count(count) => *count,
            Self::Until(until) => until.least,
        }
    }

    /// The maximum number of seeds.
    pub fn most(&self) -> u32 {
        match self {
            Self::Count(count) => *count,
            Self::Until(until) => until.most,
        }
    }

    /// Checks what a type cannot.
    ///
    /// # Errors
    /// The key, and what is wrong with it.
    pub fn check(&self, slices: &IndexMap<String, Slice>) -> Result<(), Wrong> {
        let until = match self {
            // Numbers were checked where they were read.
            Self::Count(_) => return Ok(()),
            Self::Until(until) => until,
        };
        match (until.width, until.until) {
            (Some(width), None) if width > 0.0 && width < 1.0 => {}
            (Some(width), None) => {
                return Err(Wrong::key(
                    "width",
                    format!("{width}: a share above 0 and below 1, such as 0.05"),
                ));
            }
            (None, Some(Goal::Decided)) => {}
            (Some(_), Some(_)) => return Err(Wrong::key("until", "it cannot be combined with `width`")),
            (None, None) => {
                return Err(Wrong::whole(
                    "it needs a condition to stop: `width = 0.05`, or `until = \"decided\"`",
                ));
            }
        }
        check_metric(&until.of, slices).map_err(|e| Wrong::key("of", e))?;
        if until.least < 2 || !COUNTS.contains(&until.least) {
            return Err(Wrong::key(
                "least",
                format!("{}: 2 to 1000 seeds; a single one has no interval", until.least),
            ));
        }
        if until.most < until.least || !COUNTS.contains(&until.most) {
            return Err(Wrong::key(
                "most",
                format!("{}: {} (`least`) to 1000 seeds", until.most, until.least),
            ));
        }
        Ok(())
    }
}

impl Until {
    /// How many seeds to run after `count`, if the widest interval is `by` times as wide as requested. An interval
    /// shrinks with the square root of the number of seeds: that gives the number, but it at most doubles, because
    /// the first intervals are rough themselves.
    pub fn after(&self, count: u32, by: f64) -> Option<u32> {
        if by <= 1.0 || count >= self.most {
            return None;
        }
        let wanted = (f64::from(count) * by * by).ceil() as u32;
        Some(wanted.clamp(count + 1, 2 * count).min(self.most))
    }
}

/// The value of `--replications`: a number of seeds, or a width in percent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Asked {
    /// `5`.
    Count(u32),
    /// `5%`, as a share.
    Width(f64),
}

impl Asked {
    /// Overrides the file: a width is for the file's metric and within its numbers of seeds, if it has them.
    pub fn over(self, file: &Replications) -> Replications {
        match (self, file) {
            (Self::Count(count), _) => Replications::Count(count),
            (Self::Width(width), Replications::Until(until)) => {
                Replications::Until(Until { width: Some(width), until: None, ..until.clone() })
            }
            (Self::Width(width), Replications::Count(_)) => {
                let until =
                    Until { width: Some(width), until: None, of: goodput(), least: three(), most: twenty() };
                Replications::Until(until)
            }
        }
    }
}

impl fmt::Display for Asked {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Count(count) => write!(f, "{count}"),
            Self::Width(width) => write!(f, "{}%", 100.0 * width),
        }
    }
}

impl FromStr for Asked {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong =
            || "a number of seeds from 1 to 1000, or a width such as 5%, above 0% and below 100%".to_owned();
        match text.strip_suffix('%') {
            Some(percent) => {
                let percent: f64 = percent.trim().parse().map_err(|_| wrong())?;
                (percent > 0.0 && percent < 100.0).then_some(Self::Width(percent / 100.0)).ok_or_else(wrong)
            }
            None => {
                let count: u32 = text.parse().map_err(|_| wrong())?;
                COUNTS.contains(&count).then_some(Self::Count(count)).ok_or_else(wrong)
            }
        }
    }
}

/// Written by hand, because serde's untagged enums do not report what is wrong.
impl<'de> Deserialize<'de> for Replications {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = Replications;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str(
                    "a number of seeds such as 5, a width such as { width = 0.05, most = 20 }, or { until = \"decided\" }",
                )
            }
            fn visit_i64<E: de::Error>(self, n: i64) -> Result<Self::Value, E> {
                let count = u32::try_from(n).ok().filter(|count| COUNTS.contains(count));
                count.map(Replications::Count).ok_or_else(|| E::custom(format!("{n}: 1 to 1000 seeds")))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                Until::deserialize(MapAccessDeserializer::new(map)).map(Replications::Until)
            }
        }
        d.deserialize_any(Either)
    }
}

impl JsonSchema for Replications {
    fn schema_name() -> Cow<'static, str> {
        "Replications".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let until = generator.subschema_for::<Until>();
        json_schema!({ "anyOf": [{ "type": "integer", "minimum": 1, "maximum": 1000 }, until] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn until(width: f64, least: u32, most: u32) -> Until {
        Until { width: Some(width), until: None, of: goodput(), least, most }
    }

    #[test]
    fn as_many_seeds_as_the_widest_interval_takes() {
        let rule = until(0.05, 3, 20);
        for (count, by, wanted) in [
            (3, 1.0, None),
            (3, 0.0, None),
            // A little too wide: one more. Half as wide again: 2.25 times as many, but at most twice as many.
            (3, 1.02, Some(4)),
            (8, 1.2, Some(12)),
            (3, 1.5, Some(6)),
            (3, f64::INFINITY, Some(6)),
            (12, 20.0, Some(20)),
            (20, 20.0, None),
        ] {
            assert_eq!(rule.after(count, by), wanted, "{count} {by}");
        }
    }

    #[test]
    fn it_ends_however_wide_the_intervals_are() {
        for most in [3, 7, 1000] {
            let rule = until(0.01, 3, most);
            let mut count = rule.least;
            while let Some(more) = rule.after(count, 9.0) {
                assert!(more > count && more <= 2 * count, "{count} {more}");
                count = more;
            }
            assert_eq!(count, most);
        }
    }

    #[test]
    fn the_command_line_has_a_number_or_a_width() {
        assert_eq!("5".parse(), Ok(Asked::Count(5)));
        assert_eq!("5%".parse(), Ok(Asked::Width(0.05)));
        for wrong in ["0", "1001", "0%", "100%", "-5%", "five", "NaN%", ""] {
            assert!(wrong.parse::<Asked>().is_err(), "{wrong}");
        }
        let file = Replications::Until(Until { of: "fct_mean_s".to_owned(), ..until(0.1, 4, 9) });
        let narrower = Replications::Until(Until { of: "fct_mean_s".to_owned(), ..until(0.02, 4, 9) });
        let decided = Until { width: None, until: Some(Goal::Decided), ..until(0.1, 4, 9) };
        assert_eq!(
            Asked::Width(0.1).over(&Replications::Until(decided)),
            Replications::Until(until(0.1, 4, 9))
        );
        assert_eq!(Asked::Width(0.02).over(&file), narrower);
        assert_eq!(Asked::Count(2).over(&file), Replications::Count(2));
        assert_eq!(Asked::Width(0.02).over(&5.into()), Replications::Until(until(0.02, 3, 20)));
    }
}
