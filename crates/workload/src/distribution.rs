//! Flow-size distributions from files: a cumulative distribution, linear between its knots.

use std::fmt;

use crate::rows::{self, Row};
use crate::size::too_large;

/// The most lines that a file may have.
pub(crate) const MOST_LINES: usize = 1_000_000;

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

/// A distribution's file as it was read.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadDistribution {
    /// The distribution.
    pub distribution: Distribution,
    /// Whether its shares are in per cent.
    pub per_cent: bool,
    /// What was left out, or read differently from how it is written.
    pub notes: Vec<String>,
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

pub(crate) fn bad(line: usize, text: &str, at: usize, message: impl Into<String>) -> BadDistribution {
    let column = text[..at].chars().count() + 1;
    // Binary files have lines of any length and any characters; the width of a tab is unknown.
    let shown = text.chars().take(column.max(20) + 80);
    let text = shown.map(|c| if c.is_control() { ' ' } else { c }).collect();
    BadDistribution { line, column, text, message: message.into() }
}

impl Distribution {
    /// Reads a file as [`read`](Self::read) does, without its notes.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn parse(text: &str, most: u64) -> Result<Self, BadDistribution> {
        Self::read(text, most).map(|read| read.distribution)
    }

    /// Reads lines `size_bytes cumulative_probability` of sizes up to `most`; a comment begins with `#`.
    ///
    /// If the last probability is 100, all of them are in per cent, as in the HPCC simulator's files. A first
    /// line whose probability is above 0 is a mass at its size, and so are two lines of one size. Other forms are read
    /// with a note: a heading, the mean alone in the first line (Homa), three columns (ns-2: size, a number, share).
    ///
    /// # Errors
    /// The first error: not two numbers, a size that is negative, decreases, or is above `most` or 2^53, a
    /// probability that decreases or is outside 0 to 1, a last one that is not 1 (or 100), only zeros for
    /// sizes, no line at all, or more than a million of them.
    pub fn read(text: &str, most: u64) -> Result<ReadDistribution, BadDistribution> {
        let lines = rows::read(text)?;
        let mut read: Vec<Knot> = Vec::new();
        for row in &lines.rows {
            let knot = knot(row)?;
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
        let (Some(first), Some(last)) = (read.first(), read.last()) else {
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
        if lines.three && first.probability == whole && first.size < last.size {
            let message = "of three columns the last is the share, as in ns-2's files, but here it is the same \
                           everywhere: leave out the column that is neither size nor share";
            return Err(first.wrong(first.at[1], message));
        }
        let knots: Vec<_> = read.iter().map(|k| (k.size, k.probability / whole)).collect();
        let distribution = Self { knots };
        if distribution.mean() <= 0.0 {
            return Err(last.wrong(last.at[0], "every size is 0, but a flow has at least one byte"));
        }
        let mut notes = Vec::new();
        if let Some(heading) = lines.heading {
            notes.push(format!("the first line, `{heading}`, is taken as a heading; sizes are bytes"));
        }
        if let Some(mean) = lines.mean {
            notes.push(format!(
                "the number {mean} alone in the first line is taken as the mean, as in Homa's files, and left out; the \
                 mean of the lines, linear between them, is {} B",
                libm::round(distribution.mean())
            ));
        }
        if lines.three {
            notes.push(
                "three columns are read as ns-2's: a size in bytes, a number that is left out, and the share; \
                 pFabric's files have packets for sizes"
                    .to_owned(),
            );
        }
        Ok(ReadDistribution { distribution, per_cent: whole == 100.0, notes })
    }

    /// The sizes in bytes, each with the share of flows that are not larger: the lines of a file.
    pub fn knots(&self) -> &[(f64, f64)] {
        &self.knots
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

/// The two numbers of a line.
fn knot<'a>(row: &Row<'a>) -> Result<Knot<'a>, BadDistribution> {
    let &Row { line, text, size: (first, size), share: (second, probability) } = row;
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
    Ok(knot)
}
