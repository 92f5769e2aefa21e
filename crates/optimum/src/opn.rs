//! OPN's model of the throughput of `n` subflows, and its optimal number of subflows (OPN eq. (1)-(11)).
//!
//! The published formula (11) does not follow from the published model (7), and the extracted text of the
//! model has two readings. All are here under separate names, so that their results can be compared:
//! [`Reading`] is how the printed `p sqrt(...)` is read, [`Rule`] how `n*` is found. An `n*` measured by a
//! user, as a table by loss rate, is not among them.
//!
//! Loss rates are probabilities in (0, 1); windows count packets; throughputs count packets per RTT.

/// The largest number of subflows that the old MPTCP kernel allowed (OPN, below eq. (11)).
pub const MAX_SUBFLOWS: u32 = 32;

/// How the probability that a whole window is lost is read (OPN eq. (4), (5), (7)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// `p^W`: eq. (4) and the sentence above it. Losses of a window's packets are independent.
    Power,
    /// `p W`, as the later equations are printed where the exponent was lost. Not a probability: it is capped
    /// at 1.
    Product,
}

/// How the optimal number of subflows is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// OPN eq. (11) as printed: `|W0(q - 1) / ln(1 - q)|`, W0 the principal branch of Lambert's W, which is
    /// complex for q < 1 - 1/e; q is the loss of a window of `sqrt(2/p)`. It is based on (9), whose last term
    /// is missing the exponent n, and is up to 37 % above the model's own optimum.
    Eq11,
    /// The n in 1..=32 at which eq. (7) is largest; the smallest such n.
    Eq7,
    /// `-1/ln(1 - q)`, the true maximum of the simplification behind (10), `n (1 - q)^n`.
    Simplified,
}

/// An optimal number of subflows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OptimalSubflows {
    /// The result of the rule before rounding.
    pub raw: f64,
    /// `raw` rounded (halves up) and kept in 1..=32.
    pub subflows: u32,
}

/// OPN's model with its two constants.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Model {
    /// The share of its window that a subflow gives up on a loss, in (0, 1]: d of OPN Table 1.
    pub decrease: f64,
    /// Packets by which a connection of one subflow grows in an RTT, above 0: i of OPN Table 1.
    pub increase: f64,
    /// How the loss of a whole window is read.
    pub reading: Reading,
}

impl Model {
    /// The paper's constants, d = 1/2 and i = 1.
    pub fn new(reading: Reading) -> Self {
        Self { decrease: 0.5, increase: 1.0, reading }
    }

    /// The average window of each of `subflows` subflows, in packets (OPN eq. (3)).
    pub fn window(&self, subflows: u32, loss: f64) -> f64 {
        let n = f64::from(subflows);
        (2.0 * n * self.increase / ((2.0 * n - self.decrease) * loss * self.decrease)).sqrt()
    }

    /// The probability that at least one of `subflows` subflows loses its whole window (OPN eq. (4), (5)).
    pub fn timeout_probability(&self, subflows: u32, loss: f64) -> f64 {
        1.0 - self.no_timeout(subflows, loss)
    }

    /// The connection's throughput in packets per RTT (OPN eq. (7) without the factor MSS/RTT).
    pub fn throughput(&self, subflows: u32, loss: f64) -> f64 {
        let n = f64::from(subflows);
        let windows = (n * self.increase * (2.0 * n - self.decrease) / (2.0 * loss * self.decrease)).sqrt();
        windows * self.no_timeout(subflows, loss)
    }

    /// The optimal number of subflows; `None` if the rule is undefined, as (11) and its correction are if q
    /// is 1. The product reading reaches this at p = 1/2.
    ///
    /// (10) and (11) hold for the paper's constants, and so do [`Rule::Eq11`] and [`Rule::Simplified`].
    pub fn optimal_subflows(&self, rule: Rule, loss: f64) -> Option<OptimalSubflows> {
        let raw = match rule {
            Rule::Eq7 => f64::from(self.best_of_eq7(loss)),
            Rule::Eq11 | Rule::Simplified => {
                let q = self.window_loss((2.0 / loss).sqrt(), loss);
                if q >= 1.0 {
                    return None;
                }
                let log = libm::log1p(-q);
                match rule {
                    Rule::Simplified => -1.0 / log,
                    _ => lambert_w0_magnitude(q - 1.0) / -log,
                }
            }
        };
        let subflows = libm::floor(raw + 0.5).clamp(1.0, f64::from(MAX_SUBFLOWS)) as u32;
        Some(OptimalSubflows { raw, subflows })
    }

    fn best_of_eq7(&self, loss: f64) -> u32 {
        let mut best = (1, self.throughput(1, loss));
        for n in 2..=MAX_SUBFLOWS {
            let throughput = self.throughput(n, loss);
            if throughput > best.1 {
                best = (n, throughput);
            }
        }
        best.0
    }

    fn no_timeout(&self, subflows: u32, loss: f64) -> f64 {
        let window = self.window(subflows, loss);
        libm::pow(1.0 - self.window_loss(window, loss), f64::from(subflows))
    }

    fn window_loss(&self, window: f64, loss: f64) -> f64 {
        match self.reading {
            Reading::Power => libm::pow(loss, window),
            Reading::Product => (loss * window).min(1.0),
        }
    }
}

/// |W0(x)| of a real x; W0 is complex below -1/e (OPN's `abs` and `lambertw(0, x)`).
fn lambert_w0_magnitude(x: f64) -> f64 {
    let (re, im) = lambert_w::lambert_w(0, x, 0.0, f64::EPSILON);
    libm::hypot(re, im)
}
