//! The costs of points, estimated from those already computed: expensive points are begun first, so that all cores
//! finish at about the same time.

use std::collections::BTreeMap;

use crate::designs::Setting;

/// Sums of seconds and their number.
#[derive(Debug, Clone, Copy, Default)]
struct Mean {
    sum: f64,
    count: f64,
}

impl Mean {
    fn add(&mut self, seconds: f64) {
        self.sum += seconds;
        self.count += 1.0;
    }

    fn value(self) -> f64 {
        self.sum / self.count
    }
}

/// The known costs.
#[derive(Debug, Default)]
pub(crate) struct Costs {
    all: Mean,
    /// By key and value.
    by: BTreeMap<String, BTreeMap<String, Mean>>,
}

impl Costs {
    /// A point took this many seconds.
    pub fn add(&mut self, setting: &Setting, seconds: f64) {
        let seconds = seconds.max(1e-6);
        self.all.add(seconds);
        for (key, value) in setting {
            self.by.entry(key.clone()).or_default().entry(value.to_string()).or_default().add(seconds);
        }
    }

    /// An estimate for a point, in seconds: each value makes it as much more expensive than the mean as it made
    /// others. `None` if nothing is known.
    pub fn guess(&self, setting: &Setting) -> Option<f64> {
        if self.all.count == 0.0 {
            return None;
        }
        let mean = self.all.value();
        let factor = |(key, value): (&String, &toml::Value)| {
            let known = self.by.get(key).and_then(|values| values.get(&value.to_string()));
            known.map_or(1.0, |known| known.value() / mean)
        };
        Some(mean * setting.iter().map(factor).product::<f64>())
    }
}

#[cfg(test)]
mod tests {
    use toml::Value;

    use super::*;

    fn at(k: i64, rate: &str) -> Setting {
        [("k".to_owned(), Value::Integer(k)), ("rate".to_owned(), Value::String(rate.to_owned()))].into()
    }

    #[test]
    fn values_that_were_dear_are_dear_again() {
        let mut costs = Costs::default();
        assert_eq!(costs.guess(&at(4, "1Gbps")), None);
        for (k, rate, seconds) in [(4, "1Gbps", 1.0), (4, "9Gbps", 6.0), (8, "1Gbps", 5.0)] {
            costs.add(&at(k, rate), seconds);
        }
        let guess = |k, rate| costs.guess(&at(k, rate)).expect("some are known");
        assert!(guess(8, "9Gbps") > guess(4, "9Gbps"), "{} {}", guess(8, "9Gbps"), guess(4, "9Gbps"));
        assert!(guess(4, "9Gbps") > guess(4, "1Gbps"));
        assert_eq!(costs.guess(&at(16, "5Gbps")), Some(4.0), "of a value that is new, the mean");
    }
}
