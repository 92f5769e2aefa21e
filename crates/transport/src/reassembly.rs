//! Puts the data of all subflows back in order.

/// Which data sequence numbers have arrived: all below `next`, and a bit for each above. The space for the
/// bits depends on how far the data is out of order, not on its total amount.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reassembly {
    next: u32,
    /// A ring; its size is 0 or a power of two. Segment s is bit s % 64 of word s / 64.
    bits: Box<[u64]>,
    waiting: u32,
}

impl Reassembly {
    /// The first segment that is still missing: everything before it was delivered, in order.
    #[inline]
    pub fn next(&self) -> u32 {
        self.next
    }

    /// The address of the bits of the first segment that is missing; any address if it has none.
    #[inline]
    pub fn line(&self) -> *const u8 {
        let place = (self.next / 64) as usize & self.bits.len().wrapping_sub(1);
        self.bits.as_ptr().wrapping_add(place).cast()
    }

    /// How many segments have arrived, in order or not.
    #[inline]
    pub fn arrived(&self) -> u32 {
        self.next + self.waiting
    }

    /// A segment has arrived; false if it had arrived before.
    #[inline]
    pub fn insert(&mut self, dsn: u32) -> bool {
        if dsn < self.next {
            return false;
        }
        if dsn == self.next && self.waiting == 0 {
            self.next += 1;
            return true;
        }
        while (dsn / 64 - self.next / 64) as usize >= self.bits.len() {
            self.grow();
        }
        let (word, bit) = self.place(dsn);
        if self.bits[word] & bit != 0 {
            return false;
        }
        self.bits[word] |= bit;
        self.waiting += 1;
        if dsn == self.next {
            self.deliver();
        }
        true
    }

    /// Whether a segment has arrived.
    pub fn has(&self, dsn: u32) -> bool {
        dsn < self.next || self.word(dsn / 64) >> (dsn % 64) & 1 == 1
    }

    /// How many segments below `end` have not arrived.
    pub fn missing_below(&self, end: u32) -> u32 {
        if end <= self.next {
            return 0;
        }
        let waiting = (self.next / 64..=(end - 1) / 64).map(|number| {
            let after = (end - number * 64).min(64);
            (self.word(number) & (u64::MAX >> (64 - after))).count_ones()
        });
        end - self.next - waiting.sum::<u32>()
    }

    /// The bits of segments 64 `number` and on, of those that are waiting; `number` is not below that of [`Self::next`].
    fn word(&self, number: u32) -> u64 {
        let is_beyond = (number - self.next / 64) as usize >= self.bits.len();
        if is_beyond { 0 } else { self.bits[number as usize & (self.bits.len() - 1)] }
    }

    /// Bit j says whether segment `base` + j has arrived; `base` is not below [`Self::next`].
    pub fn bitmap(&self, base: u32) -> u64 {
        let (low, shift) = (base / 64, base % 64);
        match shift {
            0 => self.word(low),
            _ => self.word(low) >> shift | self.word(low + 1) << (64 - shift),
        }
    }

    /// Moves past everything that is there.
    fn deliver(&mut self) {
        while self.waiting > 0 {
            let (word, bit) = self.place(self.next);
            if self.bits[word] & bit == 0 {
                return;
            }
            self.bits[word] &= !bit;
            self.next += 1;
            self.waiting -= 1;
        }
    }

    #[inline]
    fn place(&self, dsn: u32) -> (usize, u64) {
        ((dsn / 64) as usize & (self.bits.len() - 1), 1 << (dsn % 64))
    }

    #[cold]
    fn grow(&mut self) {
        let old = std::mem::take(&mut self.bits);
        self.bits = vec![0; (2 * old.len()).max(8)].into_boxed_slice();
        let first = self.next / 64;
        for i in 0..old.len() as u32 {
            let word = (first + i) as usize;
            self.bits[word & (self.bits.len() - 1)] = old[word & (old.len() - 1)];
        }
    }
}
