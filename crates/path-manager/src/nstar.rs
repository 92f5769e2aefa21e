//! The number of subflows for a loss rate: OPN's table (OPN eq. (7), (11), Fig. 7; catalogue A6.1).
//!
//! The published formula does not follow from the published model, and its text lost an exponent, so there
//! are several tables. `tresse_optimum::opn` computes them; the tests compare these numbers with it.

/// The most subflows that OPN uses, a limit of the old MPTCP kernel (OPN below eq. (11)).
pub const CAP: usize = 32;

/// Steps of the loss rate from 0 to 1: its grid is 0.01 (OPN Fig. 7).
pub const STEPS: usize = 100;

/// Packets lost among packets sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LossRate {
    lost: u64,
    sent: u64,
}

impl LossRate {
    /// eta = l/s (OPN §MPTCP_OPN design). More packets than were sent can be lost in a period, if they were
    /// sent before it: then the rate is 1.
    ///
    /// # Panics
    /// If nothing was sent.
    pub fn new(lost: u64, sent: u64) -> Self {
        assert!(sent > 0, "a loss rate needs packets that were sent");
        Self { lost: lost.min(sent), sent }
    }

    /// The share that was lost, 0 to 1.
    pub fn share(self) -> f64 {
        self.lost as f64 / self.sent as f64
    }

    /// The nearest step of the grid, 0 for 0 to 100 for 1; rounded up at the middle between two.
    pub fn step(self) -> usize {
        let (lost, sent) = (u128::from(self.lost), u128::from(self.sent));
        ((2 * STEPS as u128 * lost + sent) / (2 * sent)) as usize
    }
}

/// How the number of subflows follows from the loss rate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NStar {
    /// OPN eq. (11) as printed, with p^W for the loss of a window.
    Eq11,
    /// The n in 1..=32 at which OPN eq. (7), the model itself, is largest.
    Eq7,
    /// OPN eq. (11) with p W, as the later equations are printed, where the exponent was lost; 1 if this
    /// leaves it undefined.
    Product,
    /// Measured numbers, from the loss rate 0 on; the last one holds for all higher rates. Not empty, each in
    /// 1..=32.
    Empirical(Vec<u8>),
}

impl NStar {
    /// n* at this loss rate, 1 to [`CAP`].
    pub fn subflows(&self, loss: LossRate) -> usize {
        let table = match self {
            Self::Eq11 => EQ11,
            Self::Eq7 => EQ7,
            Self::Product => PRODUCT,
            Self::Empirical(table) => table,
        };
        usize::from(table[loss.step().min(table.len() - 1)])
    }
}

#[rustfmt::skip]
const EQ11: &[u8] = &[
    32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32,
    32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 30, 26, 23, 20, 18, 16, 14, 13, 12, 10,
    10,  9,  8,  7,  7,  6,  6,  5,  5,  5,  4,  4,  4,  4,  3,  3,  3,  3,  3,  2,
     2,  2,  2,  2,  2,  2,  2,  2,  2,  1,
];

#[rustfmt::skip]
const EQ7: &[u8] = &[
    32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32,
    32, 32, 32, 32, 32, 32, 32, 32, 30, 25, 22, 19, 17, 15, 13, 12, 11, 10,  9,  8,
     7,  7,  6,  6,  5,  5,  5,  4,  4,  4,  4,  3,  3,  3,  3,  3,  3,  2,  2,  2,
     2,  2,  2,  2,  2,  2,  2,  2,  2,  2,  1,
];

const PRODUCT: &[u8] = &[32, 9, 6, 4, 4, 3, 3, 3, 2, 2, 2, 2, 2, 2, 1];
