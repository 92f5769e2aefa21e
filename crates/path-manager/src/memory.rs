//! A host's memory of its paths between connections (OPN §MPTCP_OPN design).

use std::collections::BTreeMap;
use std::ops::{Index, IndexMut};

use tresse_units::{NEVER, Time};

use crate::LossRate;

/// The shared knowledge of connections about their common paths: their loss rate, and which of them are SLOW.
///
/// All connections of a [`Scope`] share it, whether they run at the same time or one after the other. Its two
/// timers need no calls: the state after an expiry is computed when it is read.
#[derive(Debug, Clone, Default)]
pub struct Memory {
    loss: Option<LossRate>,
    /// In the current period of timer_3.
    sent: u64,
    retransmitted: u64,
    timer_3: Option<Time>,
    /// By path; paths beyond its end are FAST.
    slow: Vec<bool>,
    timer_2: Option<Time>,
    /// Changes of `slow` so far.
    changes: u64,
}

/// Which connections share a [`Memory`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// All of the sending host: path i is the same to every receiver.
    Host,
    /// Those from the sending host to the same receiver.
    Pair,
}

impl Memory {
    /// The loss rate of the last period in which anything was sent; `None` before the first has ended.
    pub fn loss(&self) -> Option<LossRate> {
        self.loss
    }

    /// Whether `path` is SLOW.
    pub fn is_slow(&self, path: u16) -> bool {
        self.slow.get(usize::from(path)).copied().unwrap_or(false)
    }

    /// Swaps the knowledge about losses with `other`: for a host whose connections share losses, but whose
    /// paths cannot be compared between connections, because nobody knows where a port leads.
    pub fn swap_losses(&mut self, other: &mut Self) {
        std::mem::swap(&mut self.loss, &mut other.loss);
        std::mem::swap(&mut self.sent, &mut other.sent);
        std::mem::swap(&mut self.retransmitted, &mut other.retransmitted);
        std::mem::swap(&mut self.timer_3, &mut other.timer_3);
    }

    /// Serves timer_3: a period of the loss rate's measurement may have ended.
    pub(crate) fn measure(&mut self, now: Time, period: Time) {
        if expired(&mut self.timer_3, now, period) && self.sent > 0 {
            self.loss = Some(LossRate::new(self.retransmitted, self.sent));
            (self.sent, self.retransmitted) = (0, 0);
        }
    }

    /// Counts packets in the current period.
    pub(crate) fn count(&mut self, sent: u64, retransmitted: u64) {
        self.sent += sent;
        self.retransmitted += retransmitted;
    }

    /// Serves timer_2: all paths may become FAST again (OPN Algorithm 1, lines 9-12).
    pub(crate) fn reset(&mut self, now: Time, period: Time) {
        if expired(&mut self.timer_2, now, period) && self.slow.contains(&true) {
            self.slow.fill(false);
            self.changes += 1;
        }
    }

    /// When timer_2 expires next.
    pub(crate) fn reset_at(&self) -> Time {
        self.timer_2.unwrap_or(NEVER)
    }

    pub(crate) fn set_slow(&mut self, path: u16) {
        let path = usize::from(path);
        if self.slow.len() <= path {
            self.slow.resize(path + 1, false);
        }
        self.changes += u64::from(!self.slow[path]);
        self.slow[path] = true;
    }

    /// A number that changes whenever a path becomes SLOW or FAST.
    pub(crate) fn changes(&self) -> u64 {
        self.changes
    }
}

/// Whether the periodic `timer` has expired by `now`, at least once; if so, it is set to its next expiry. It
/// starts at the first call.
fn expired(timer: &mut Option<Time>, now: Time, period: Time) -> bool {
    match *timer {
        Some(at) if now < at => false,
        Some(at) => {
            let periods = (now - at) / period + 1;
            *timer = Some(at.saturating_add(periods.saturating_mul(period)));
            true
        }
        None => {
            *timer = Some(now.saturating_add(period));
            false
        }
    }
}

/// The memories of managed connections, by a name `K` for those that share one: numbers in a simulator,
/// addresses in a daemon.
#[derive(Debug, Clone, Default)]
pub struct Memories<K> {
    ids: BTreeMap<K, MemoryId>,
    memories: Vec<Memory>,
}

/// A memory's place in [`Memories`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryId(usize);

impl<K: Ord> Memories<K> {
    /// An empty set.
    pub fn new() -> Self {
        Self { ids: BTreeMap::new(), memories: Vec::new() }
    }

    /// The memory with this name; a new one is empty.
    pub fn id(&mut self, name: K) -> MemoryId {
        *self.ids.entry(name).or_insert_with(|| {
            self.memories.push(Memory::default());
            MemoryId(self.memories.len() - 1)
        })
    }
}

impl<K> Index<MemoryId> for Memories<K> {
    type Output = Memory;

    fn index(&self, id: MemoryId) -> &Memory {
        &self.memories[id.0]
    }
}

impl<K> IndexMut<MemoryId> for Memories<K> {
    fn index_mut(&mut self, id: MemoryId) -> &mut Memory {
        &mut self.memories[id.0]
    }
}
