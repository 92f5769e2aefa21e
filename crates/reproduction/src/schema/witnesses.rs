//! Whether the verdict on a claim can turn out either way. A claim is judged at values from half to twice what it says,
//! and at no effect if it says that there is one: if it holds at all of them, no measurement decides it.

use tresse_experiment::diagnostic::Wrong;
use tresse_experiment::schema::metrics::{Domain, row_of};

use crate::schema::claims::{Claim, Order, Selector};
use crate::schema::forms::{Bounds, Compare, Form};

/// A value of a claim at which it holds, and one at which it does not: what `value` of its result may be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Witnesses {
    /// It holds.
    pub holds: f64,
    /// It does not hold.
    pub fails: f64,
}

impl Claim {
    /// A value at which it holds, and one at which it does not. For a claim with `for_all`, ask its `statements`.
    ///
    /// # Errors
    /// If there are not both: the key that is wrong, what it accepts, and how to judge it instead.
    pub fn witnesses(&self) -> Result<Witnesses, Wrong> {
        let values = Values::of(&self.metric);
        match self.form()? {
            Form::Against { left, right, .. } if right.contains(left) => {
                Err(Wrong::key("right", "it is compared with itself: its own value decides nothing"))
            }
            Form::Against { by: Compare::Ratio, bounds, .. } => match self.excess {
                // `within` is less than the whole of it, so no effect is outside.
                Some(excess) => Ok(Witnesses { holds: 1.0 + excess, fails: 1.0 }),
                None => {
                    refuse_no_effect(bounds)?;
                    values.ratios().witnesses(bounds)
                }
            },
            Form::Against { by: Compare::Difference, bounds, .. } => {
                refuse_no_difference(bounds)?;
                values.differences().witnesses(bounds)
            }
            Form::Within { bounds, .. } => values.witnesses(bounds),
            Form::Order { of, order, .. } => steps(of, order),
            Form::Jumps { jumps, .. } => {
                let apart = tresse_units::seconds(jumps.apart.0);
                Ok(Witnesses { holds: apart, fails: 2.0 * apart })
            }
        }
    }
}

/// The values that are possible, and the keys of bounds for them.
struct Values<'a> {
    /// What they are of.
    of: String,
    /// The keys of the lower and of the upper bound.
    keys: [&'a str; 2],
    /// They lie between these.
    least: f64,
    most: f64,
    /// Whether these two are among them.
    has_ends: bool,
}

impl Values<'_> {
    /// Those of a metric.
    fn of(metric: &str) -> Self {
        let domain = row_of(metric).map_or(Domain::FromZero, |row| row.domain);
        let (least, most) = match domain {
            Domain::Positive | Domain::FromZero => (0.0, f64::INFINITY),
            Domain::Share => (0.0, 1.0),
            Domain::FromOne => (1.0, f64::INFINITY),
        };
        let has_ends = domain != Domain::Positive;
        Self { of: metric.to_owned(), keys: ["above", "below"], least, most, has_ends }
    }

    /// Those of ratios of two of them.
    fn ratios(self) -> Self {
        let keys = ["ratio_above", "ratio_below"];
        let of = format!("a ratio of {}", self.of);
        Self { of, keys, least: 0.0, most: f64::INFINITY, has_ends: false }
    }

    /// Those of differences of two of them.
    fn differences(self) -> Self {
        let keys = ["difference_above", "difference_below"];
        let of = format!("a difference of {}", self.of);
        let width = self.most - self.least;
        Self { of, keys, least: -width, most: width, has_ends: self.has_ends }
    }

    /// Half as much, or twice as much of what is below 0; half-way to the least if that is less.
    fn below(&self, value: f64) -> f64 {
        let lower = if value > 0.0 { value / 2.0 } else { 2.0 * value - f64::from(value == 0.0) };
        match lower > self.least {
            true => lower,
            false if value > self.least => self.least.midpoint(value),
            false => self.least,
        }
    }

    /// Twice as much, or half as much of what is below 0; half-way to the most if that is more.
    fn above(&self, value: f64) -> f64 {
        let upper = if value < 0.0 { value / 2.0 } else { 2.0 * value + f64::from(value == 0.0) };
        if upper < self.most { upper } else { self.most.midpoint(value) }
    }

    /// A value within the bounds and one outside.
    fn witnesses(&self, bounds: Bounds) -> Result<Witnesses, Wrong> {
        self.refuse_idle(bounds)?;
        Ok(match bounds {
            [Some(above), Some(below)] if above < 0.0 && below > 0.0 => {
                Witnesses { holds: above.midpoint(below), fails: self.above(below) }
            }
            [Some(above), Some(below)] => {
                let holds = match above * below > 0.0 {
                    true => above.signum() * (above * below).sqrt(),
                    false => above.midpoint(below),
                };
                let outside = [self.below(holds), self.above(holds)];
                let fails = outside.into_iter().find(|value| *value <= above || *value >= below);
                let message = || {
                    format!(
                        "everything from half to twice the middle of {above} and {below} is in between: {HINT}"
                    )
                };
                Witnesses { holds, fails: fails.ok_or_else(|| Wrong::key(self.keys[1], message()))? }
            }
            [Some(above), None] => Witnesses { holds: self.above(above), fails: self.below(above) },
            [None, Some(below)] => Witnesses { holds: self.below(below), fails: self.above(below) },
            [None, None] => unreachable!("a form has a bound"),
        })
    }

    /// Refuses a bound with all possible values on one side.
    fn refuse_idle(&self, [above, below]: Bounds) -> Result<(), Wrong> {
        let is_below_all = |bound: f64| bound < self.least || (bound == self.least && !self.has_ends);
        let has_most = self.has_ends && self.most.is_finite();
        let is_above_all = |bound: f64| bound > self.most || (bound == self.most && !has_most);
        let idle = match (above, below) {
            (Some(above), _) if is_below_all(above) => Some((self.keys[0], "always above", above)),
            (Some(above), _) if above >= self.most => Some((self.keys[0], "never above", above)),
            (_, Some(below)) if is_above_all(below) => Some((self.keys[1], "always below", below)),
            (_, Some(below)) if below <= self.least => Some((self.keys[1], "never below", below)),
            _ => None,
        };
        match idle {
            Some((key, is, bound)) => {
                Err(Wrong::key(key, format!("{} is {is} {bound}, whatever is measured: {HINT}", self.of)))
            }
            None => Ok(()),
        }
    }
}

const HINT: &str = "give what the paper says, give or take a fifth of it";

/// Refuses a band of ratios in which there may be no effect, or its opposite, unless it is around 1 and claims just that.
fn refuse_no_effect(bounds: Bounds) -> Result<(), Wrong> {
    let [Some(above), Some(below)] = bounds else { return Ok(()) };
    let middles = [above.midpoint(below), (above * below).max(0.0).sqrt()];
    if above < 1.0 && below > 1.0 && middles.iter().all(|middle| (middle - 1.0).abs() >= NEAR) {
        let message = format!(
            "between {above} and {below} there is also a ratio of 1, which is no effect: `excess` judges how much more or less \
             it is"
        );
        return Err(Wrong::key("ratio_above", message));
    }
    Ok(())
}

/// The same for a band of differences: unless it is around 0.
fn refuse_no_difference(bounds: Bounds) -> Result<(), Wrong> {
    let [Some(above), Some(below)] = bounds else { return Ok(()) };
    if above < 0.0 && below > 0.0 && above.midpoint(below).abs() >= NEAR * (below - above) {
        let message = format!(
            "between {above} and {below} there is also a difference of 0, which is no effect: {HINT}, or as much on \
             either side of 0 if they are equal"
        );
        return Err(Wrong::key("difference_above", message));
    }
    Ok(())
}

/// A band whose middle is this near to no effect claims that two values are equal: of ratios, this near to 1; of
/// differences, this share of the band near to 0.
const NEAR: f64 = 0.03;

/// A step to twice or to half the value, as a share of the larger one, is in order; no change is not, even with slack.
fn steps(of: &[Selector], order: Order) -> Result<Witnesses, Wrong> {
    if of.windows(2).any(|two| two[0] == two[1]) {
        return Err(Wrong::key("of", "two that follow each other are the same: their order decides nothing"));
    }
    Ok(match order {
        Order::Rising => Witnesses { holds: 0.5, fails: 0.0 },
        Order::Falling => Witnesses { holds: -0.5, fails: 0.0 },
    })
}
