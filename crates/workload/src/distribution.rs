//! Flow-size distributions from files: a cumulative distribution, linear between its knots.

use std::fmt;

use crate::size::too_large;

/// The most lines that a file may have.
const MOST_LINES: usize = 1_000_000;

/// The largest size, bytes: whole numbers up to here are exact in the arithmetic.
const LARGEST: f64 = (1u64 << 53) as f64;

/// The bounds between classes of sizes, bytes: those of OPN Table 2.
pub const CLASSES: [f64; 3] = [10e3, 100e3, 1e6];

/// A distribution of sizes, given by its cumulative probability at some sizes (knots) and linear between them.
#[derive(Debug, Clone, PartialEq)]
pub struct Distribution {
    /// Size in bytes and the probability of not being larger; neither decreases, and the last probability is
    /// 1.
    knots: Vec<(f64, f64)>,
}

/// An error in a distribution file, and its position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadDistribution {
    /// The line, from 1.
    pub line: usize,
    /// The character in the line, from 1.
    pub column: usize,
    /// The line itself, truncated if it is very long, with spaces for tabs and the like.
    pub text: String,
    /// What is wrong, and how to fix it.
    pub message: String,
}

impl fmt::Display for BadDistribution {
    /// `line:column: message`: the file's name and a colon go before it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for BadDistribution {}

/// A line of two numbers, and their positions.
#[derive(Clone, Copy)]
struct Knot<'a> {
    line: usize,
    text: &'a str,
    /// The byte where the size begins, and the one where the probability begins.
    at: [usize; 2],
    size: f64,
    probability: f64,
}

impl Knot<'_> {
    fn wrong(&self, at: usize, message: impl Into<String>) -> BadDistribution {
        bad(self.line, self.text, at, message)
    }
}

fn bad(line: usize, text: &str, at: usize, message: impl Into<String>) -> BadDistribution {
    let column = text[..at].chars().count() + 1;
    // Binary files have lines of any length and any characters; the width of a tab is unknown.
    let shown = text.chars().take(column.max(20) + 80);
    let text = shown.map(|c| if c.is_control() { ' ' } else { c }).collect();
    BadDistribution { line, column, text, message: message.into() }
}

impl Distribution {
    /// Reads lines `size_bytes cumulative_probability` of sizes up to `most`; a comment begins with `#`.
    ///
    /// If the last probability is 100, all of them are in per cent, as in the HPCC simulator's files. A first
    /// line whose probability is above 0 is a mass at its size, and so are two lines of one size.
    ///
    /// # Errors
    /// The first error: not two numbers, a size that is negative, decreases, or is above `most` or 2^53, a
    /// probability that decreases or is outside 0 to 1, a last one that is not 1 (or 100), only zeros for
    /// sizes, no line at all, or more than a million of them.
    pub fn parse(text: &str, most: u64) -> Result<Self, BadDistribution> {
        let mut read: Vec<Knot> = Vec::new();
        for (text, line) in text.lines().zip(1..) {
            if line > MOST_LINES {
                return Err(bad(line, text, 0, format!("a distribution has at most {MOST_LINES} lines")));
            }
            let Some(knot) = knot(line, text)? else { continue };
            if knot.size > most as f64 {
                return Err(knot.wrong(knot.at[0], too_large(libm::ceil(knot.size) as u64, most)));
            }
            if let Some(before) = read.last() {
                let (size, probability) = (before.size, before.probability);
                if knot.size < size {
                    return Err(knot
                        .wrong(knot.at[0], format!("sizes must not decrease: the previous one is {size}")));
                }
                if knot.probability < probability {
                    let message = format!(
                        "cumulative probabilities must not decrease: the previous one is {probability}"
                    );
                    return Err(knot.wrong(knot.at[1], message));
                }
            }
            read.push(knot);
        }
        let Some(last) = read.last() else {
            let message = "there are only comments: expected lines such as `10000 0.15`";
            return Err(bad(1, text.lines().next().unwrap_or_default(), 0, message));
        };
        // Probabilities do not decrease, so none is above the last.
        let whole = last.probability;
        if whole != 1.0 && whole != 100.0 {
            let message =
                format!("it does not reach 1: it ends at {whole} (the last must be 1, or 100 in per cent)");
            return Err(last.wrong(last.at[1], message));
        }
        let knots: Vec<_> = read.iter().map(|k| (k.size, k.probability / whole)).collect();
        let distribution = Self { knots };
        if distribution.mean() <= 0.0 {
            return Err(last.wrong(last.at[0], "every size is 0, but a flow has at least one byte"));
        }
        Ok(distribution)
    }

    /// The mean, bytes: that of the lines between the knots, before sizes are rounded to bytes.
    pub fn mean(&self) -> f64 {
        let (size, mass) = self.knots[0];
        let below = |pair: &[(f64, f64)]| (pair[1].1 - pair[0].1) * (pair[0].0 + pair[1].0) / 2.0;
        size * mass + self.knots.windows(2).map(below).sum::<f64>()
    }

    /// The size that a share `u` (0 to 1) of all flows does not exceed, bytes; at least 1.
    pub fn quantile(&self, u: f64) -> u64 {
        let above = self.knots.partition_point(|&(_, p)| p < u).min(self.knots.len() - 1);
        let (size, p) = self.knots[above];
        let size = match above.checked_sub(1).map(|below| self.knots[below]) {
            Some((before, q)) => before + (size - before) * (u - q) / (p - q),
            None => size,
        };
        (libm::round(size) as u64).max(1)
    }

    /// The share of flows that are not larger than `size` bytes.
    pub fn cumulative(&self, size: f64) -> f64 {
        let above = self.knots.partition_point(|&(s, _)| s <= size);
        let Some((before, q)) = above.checked_sub(1).map(|below| self.knots[below]) else { return 0.0 };
        match self.knots.get(above) {
            Some((after, p)) => q + (p - q) * (size - before) / (after - before),
            None => 1.0,
        }
    }

    /// The shares of the flows up to 10 kB, from there to 100 kB, to 1 MB, and above.
    pub fn shares(&self) -> [f64; 4] {
        let [a, b, c] = CLASSES.map(|size| self.cumulative(size));
        [a, b - a, c - b, 1.0 - c]
    }

    /// The largest size, bytes.
    pub fn largest(&self) -> u64 {
        self.quantile(1.0)
    }
}

/// The two numbers of a line, if it is not a comment.
fn knot(line: usize, text: &str) -> Result<Option<Knot<'_>>, BadDistribution> {
    let data = text.split('#').next().unwrap_or_default();
    let mut words =
        data.split_whitespace().map(|word| (word.as_ptr() as usize - text.as_ptr() as usize, word));
    let Some((first, size)) = words.next() else { return Ok(None) };
    let Some((second, probability)) = words.next() else {
        return Err(bad(
            line,
            text,
            first,
            "expected a size in bytes and a probability, such as `10000 0.15`",
        ));
    };
    if let Some((third, _)) = words.next() {
        return Err(bad(line, text, third, "a line has two numbers: a size in bytes and a probability"));
    }
    let number = |at, word: &str| match word.parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(number),
        _ => {
            Err(bad(line, text, at, format!("`{word}` is not a number; expected lines such as `10000 0.15`")))
        }
    };
    let knot = Knot {
        line,
        text,
        at: [first, second],
        size: number(first, size)?,
        probability: number(second, probability)?,
    };
    if knot.size < 0.0 {
        return Err(knot.wrong(first, "a size must not be negative"));
    }
    if knot.size > LARGEST {
        return Err(knot.wrong(first, "a size must be at most 2^53 bytes"));
    }
    if knot.probability < 0.0 {
        return Err(knot.wrong(second, "a probability must not be negative"));
    }
    Ok(Some(knot))
}
