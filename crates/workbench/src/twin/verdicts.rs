use std::ops::Add;

/// How many targets, or orders of schemes, hold, do not hold, and cannot be told.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Verdicts {
    pub held: usize,
    pub missed: usize,
    pub undecided: usize,
}

impl Verdicts {
    /// All of them.
    pub fn all(self) -> usize {
        self.held + self.missed + self.undecided
    }
}

impl FromIterator<Option<bool>> for Verdicts {
    fn from_iter<T: IntoIterator<Item = Option<bool>>>(verdicts: T) -> Self {
        let mut own = Self::default();
        for holds in verdicts {
            *match holds {
                Some(true) => &mut own.held,
                Some(false) => &mut own.missed,
                None => &mut own.undecided,
            } += 1;
        }
        own
    }
}

impl Add for Verdicts {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            held: self.held + other.held,
            missed: self.missed + other.missed,
            undecided: self.undecided + other.undecided,
        }
    }
}
