//! The forms of claims: what a single claim says.

use tresse_experiment::diagnostic::Wrong;
use tresse_results::record::claim::FormName;

use crate::schema::claims::{Claim, Jumps, Order, Selector, Selectors};

/// What a claim says.
#[derive(Debug)]
pub enum Form<'a> {
    /// Left and each right side, compared by `by`, are within the bounds.
    Against {
        /// The left side.
        left: &'a Selector,
        /// The cases it is compared with; at least one.
        right: &'a [Selector],
        /// How they are compared.
        by: Compare,
        /// The bounds of the value.
        bounds: Bounds,
    },
    /// The metric of each case is within the bounds.
    Within {
        /// The cases; at least one.
        of: &'a [Selector],
        /// The bounds of the metric.
        bounds: Bounds,
    },
    /// The metric rises or falls from each case to the next, within a tolerance.
    Order {
        /// The cases, in this order; at least two.
        of: &'a [Selector],
        /// Whether it rises or falls.
        order: Order,
        /// The share of the larger of two values by which a step may go the other way, from 0 to less than 0.5.
        slack: f64,
    },
    /// The job completion times of each case have two jumps.
    Jumps {
        /// The cases; at least one.
        of: &'a [Selector],
        /// How the jumps must be placed.
        jumps: &'a Jumps,
    },
}

impl Form<'_> {
    pub fn name(&self) -> FormName {
        match self {
            Self::Against { by: Compare::Ratio, .. } => FormName::Ratio,
            Self::Against { by: Compare::Difference, .. } => FormName::Difference,
            Self::Within { .. } => FormName::Band,
            Self::Order { .. } => FormName::Order,
            Self::Jumps { .. } => FormName::Jumps,
        }
    }
}

/// How two values are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compare {
    /// Left / right.
    Ratio,
    /// Left - right.
    Difference,
}

/// Above the first and below the second, if given.
pub type Bounds = [Option<f64>; 2];

const FORMS: &str = "a claim has one form: `left` and `right` with `ratio_above`, `ratio_below`, `excess`, \
                     `difference_above` or `difference_below`; or `of` with `above` or `below`, with `order`, or with `jumps` (`tresse explain \
                     claims`)";

impl Claim {
    /// Its form.
    ///
    /// # Errors
    /// The wrong key, or none if something is missing, and what is wrong with it.
    pub fn form(&self) -> Result<Form<'_>, Wrong> {
        let ratio = [("ratio_above", self.ratio_above), ("ratio_below", self.ratio_below)];
        let difference =
            [("difference_above", self.difference_above), ("difference_below", self.difference_below)];
        let band = [("above", self.above), ("below", self.below)];
        let said = |bounds: [(&'static str, Option<f64>); 2]| {
            bounds.into_iter().find_map(|(key, bound)| bound.map(|_| key))
        };
        let forms = [
            said(ratio),
            self.excess.map(|_| "excess"),
            said(difference),
            said(band),
            self.order.map(|_| "order"),
            self.jumps.map(|_| "jumps"),
        ];
        let mut forms = forms.into_iter().flatten();
        let form = forms
            .next()
            .ok_or_else(|| Wrong::whole(format!("the claim does not say when it holds: {FORMS}")))?;
        if let Some(other) = forms.next() {
            return Err(Wrong::key(other, format!("`{form}` and `{other}`: {FORMS}")));
        }
        if let Some(slack) = self.slack {
            match self.order {
                None => return Err(Wrong::key("slack", "only for claims with `order`".to_owned())),
                // With a half, a metric could go to half of its value, or to twice it, against the order.
                Some(_) if !(0.0..0.5).contains(&slack) => {
                    let message = "a share from 0 to less than 0.5, such as 0.02".to_owned();
                    return Err(Wrong::key("slack", message));
                }
                Some(_) => {}
            }
        }
        if self.within.is_some() && self.excess.is_none() {
            return Err(Wrong::key("within", "only for claims with `excess`".to_owned()));
        }
        let is_pair = form.starts_with("ratio") || form.starts_with("difference") || form == "excess";
        let unused = if is_pair {
            self.of.as_ref().map(|_| "of")
        } else {
            self.left.as_ref().map(|_| "left").or(self.right.as_ref().map(|_| "right"))
        };
        if let Some(unused) = unused {
            return Err(Wrong::key(unused, format!("`{form}` cannot be combined with `{unused}`: {FORMS}")));
        }
        let missing = |key: &str| Wrong::whole(format!("`{form}` needs `{key}`: {FORMS}"));
        if is_pair {
            let (by, bounds) = match (self.excess, said(ratio)) {
                (Some(excess), _) => (Compare::Ratio, around(excess, self.within.unwrap_or(0.2))?),
                (None, Some(_)) => (Compare::Ratio, checked(ratio)?),
                (None, None) => (Compare::Difference, checked(difference)?),
            };
            return Ok(Form::Against {
                left: self.left.as_ref().ok_or_else(|| missing("left"))?,
                right: listed("right", self.right.as_ref().ok_or_else(|| missing("right"))?)?,
                by,
                bounds,
            });
        }
        let of = listed("of", self.of.as_ref().ok_or_else(|| missing("of"))?)?;
        Ok(match (self.order, &self.jumps) {
            (Some(_), _) if of.len() < 2 => {
                return Err(Wrong::key("of", "an order needs a list of at least two".to_owned()));
            }
            (Some(order), _) => Form::Order { of, order, slack: self.slack.unwrap_or(0.0) },
            (None, Some(jumps)) => {
                // Twice as far apart as a class is wide: or else the same times could be in both.
                if jumps.within.0 == 0 || jumps.within.0 > jumps.apart.0 / 2 {
                    let message = "`within` must be more than 0s and at most half of `apart`".to_owned();
                    return Err(Wrong::key("jumps", message));
                }
                Form::Jumps { of, jumps }
            }
            (None, None) => Form::Within { of, bounds: checked(band)? },
        })
    }
}

fn listed<'a>(key: &'static str, selectors: &'a Selectors) -> Result<&'a [Selector], Wrong> {
    match selectors.all() {
        [] => Err(Wrong::key(key, "the list is empty".to_owned())),
        all => Ok(all),
    }
}

/// The bounds of a ratio whose distance from 1 is `excess`, give or take this share of it. So a ratio of 1, which is no
/// effect, is never within them.
fn around(excess: f64, within: f64) -> Result<Bounds, Wrong> {
    if excess == 0.0 || !excess.is_finite() || excess <= -1.0 {
        let message = "a share more, or less, that is not 0, such as 0.13 or -0.05";
        return Err(Wrong::key("excess", message.to_owned()));
    }
    if !(within > 0.0 && within < 1.0) {
        return Err(Wrong::key("within", "a share above 0 and below 1, such as 0.2".to_owned()));
    }
    let [near, far] = [1.0 - within, 1.0 + within].map(|share| 1.0 + excess * share);
    // Nothing is less than nothing: 90 % less, give or take a fifth, has no lower bound.
    Ok([Some(near.min(far)).filter(|lower| *lower > 0.0), Some(near.max(far))])
}

/// Checks that some value is within the bounds.
fn checked(named: [(&'static str, Option<f64>); 2]) -> Result<Bounds, Wrong> {
    let [(lower, above), (upper, below)] = named;
    let wrong = |(key, bound): (&'static str, Option<f64>)| {
        bound
            .filter(|bound| !bound.is_finite())
            .map(|bound| Wrong::key(key, format!("{bound} is not a bound")))
    };
    if let Some(wrong) = named.into_iter().find_map(wrong) {
        return Err(wrong);
    }
    match (above, below) {
        (Some(above), Some(below)) if above >= below => {
            Err(Wrong::key(lower, format!("no value is above {above} and below {below} (`{upper}`)")))
        }
        _ => Ok([above, below]),
    }
}
