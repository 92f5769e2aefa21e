//! The controllers of one connection.

use std::ops::{Index, IndexMut};
use std::sync::Arc;

use crate::parameters::{ParameterError, parameter_values};
use crate::raw::{Ack, Cause, FAST_START_MOST, Hop, RawReport, Report, Subflow};
use crate::sandbox::refuse_window;
use crate::{CWND_LIMIT, Controller, Exception, MAX_SUBFLOWS};

/// A controller with values for its parameters.
#[derive(Debug)]
pub struct ConfiguredController {
    controller: Controller,
    /// Whether the host checks the windows that it makes; Tresse's own controllers are proven.
    watched: bool,
    values: Box<[u64]>,
}

impl ConfiguredController {
    /// `controller` with its defaults, which `settings` replace.
    ///
    /// # Errors
    /// A parameter that the controller does not have, or a value outside its range.
    pub fn new<'a>(
        controller: Controller,
        settings: impl IntoIterator<Item = (&'a str, u64)>,
    ) -> Result<Self, ParameterError> {
        let values = parameter_values(controller.name(), &controller.parameters(), settings)?;
        Ok(Self { controller, watched: controller.file().is_some(), values })
    }

    /// The controller.
    pub fn controller(&self) -> Controller {
        self.controller
    }

    /// The parameters' values, in the order of their declaration.
    pub fn values(&self) -> &[u64] {
        &self.values
    }
}

/// The controllers of one connection: one for each subflow; they are siblings of each other.
///
/// Indexing gives a subflow as its controller sees it. The host sets everything in it that is not
/// the controller's own, and calls the hooks when `controller.h` says so.
#[derive(Debug)]
pub struct Group {
    /// The subflows, and [`GUARDS`] before and after them if the controller is a user's.
    memory: Vec<Subflow>,
    /// The number of guards before the first subflow.
    guards: usize,
    /// Holds the parameters to which the subflows point.
    scheme: Arc<ConfiguredController>,
}

/// Subflows that do not exist, on either side of those of a user's controller: a hook that takes a sibling which is
/// not there writes to them, not to memory of this process that belongs to something else.
const GUARDS: usize = 2;

/// A guard that nobody has written to.
fn guard() -> Subflow {
    Subflow::outside(0)
}

// SAFETY: the pointers in the subflows lead to constant values that `scheme` keeps alive.
unsafe impl Send for Group {}

impl Group {
    /// `count` subflows, each with `initial_window` packets.
    ///
    /// # Panics
    /// If `count` is above [`MAX_SUBFLOWS`].
    pub fn new(scheme: Arc<ConfiguredController>, count: usize, initial_window: u32) -> Self {
        assert!(count <= MAX_SUBFLOWS, "at most {MAX_SUBFLOWS} subflows, not {count}");
        let guards = if scheme.watched { GUARDS } else { 0 };
        let subflows = (0..count).map(|_| Subflow::new(initial_window, scheme.values.as_ptr()));
        let around = || (0..guards).map(|_| guard());
        let memory = around().chain(subflows).chain(around()).collect();
        let mut group = Self { memory, guards, scheme };
        group.number();
        for i in 0..count {
            group.init(i);
        }
        group
    }

    /// Inserts a subflow with `initial_window` packets as number `i`; the numbers from `i` on increase by one.
    ///
    /// # Panics
    /// If there are [`MAX_SUBFLOWS`] already, or fewer than `i`.
    pub fn insert(&mut self, i: usize, initial_window: u32) {
        assert!(self.len() < MAX_SUBFLOWS, "at most {MAX_SUBFLOWS} subflows");
        assert!(i <= self.len(), "there are {} subflows", self.len());
        self.memory.reserve_exact(1);
        self.memory.insert(self.guards + i, Subflow::new(initial_window, self.scheme.values.as_ptr()));
        self.number();
        self.init(i);
    }

    /// Removes subflow `i`: it is no longer a sibling, and the numbers after it decrease by one.
    ///
    /// # Panics
    /// If there is no such subflow, or no other.
    pub fn remove(&mut self, i: usize) {
        assert!(self.len() > 1, "a connection has at least one subflow");
        assert!(i < self.len(), "there are {} subflows", self.len());
        self.memory.remove(self.guards + i);
        self.number();
    }

    /// Sets the index of each subflow, by which `controller.h` finds the siblings.
    fn number(&mut self) {
        let count = self.len() as u8;
        for (i, subflow) in self.memory.iter_mut().skip(self.guards).take(count.into()).enumerate() {
            subflow.place(i as u8, count);
        }
    }

    fn init(&mut self, i: usize) {
        if let Some(init) = self.scheme.controller.raw.init {
            // SAFETY: see `Group::pointer`.
            unsafe { init(self.pointer(i)) };
            if self.scheme.watched {
                self.look(i, init as usize);
            }
        }
    }

    /// The number of subflows.
    pub fn len(&self) -> usize {
        self.memory.len() - 2 * self.guards
    }

    /// Whether there are no subflows: before the handshake of a connection's first subflow is complete.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether a subflow requests that new data go only on the subflows that request this.
    #[inline]
    pub fn one_is_alone(&self) -> bool {
        self.subflows().iter().any(|s| s.alone != 0)
    }

    /// All subflows.
    #[inline]
    pub fn subflows(&self) -> &[Subflow] {
        &self.memory[self.guards..self.guards + self.len()]
    }

    /// Whether a hook has written to a subflow that does not exist, just before the first or after the last.
    pub(crate) fn is_written_outside(&self) -> bool {
        let (before, rest) = self.memory.split_at(self.guards);
        before.iter().chain(&rest[self.len()..]).any(|outside| *outside != guard())
    }

    /// The controller and its parameters.
    pub fn scheme(&self) -> &Arc<ConfiguredController> {
        &self.scheme
    }

    /// The `ack` hook: subflow `i` got an ACK that delivers data.
    #[inline]
    pub fn ack(&mut self, i: usize, ack: &Ack) {
        if let Some(hook) = self.scheme.controller.raw.ack {
            // SAFETY: see `Group::pointer`; `ack` outlives the call.
            unsafe { hook(self.pointer(i), ack) };
            if self.scheme.watched {
                self.look(i, hook as usize);
            }
        }
    }

    /// The `grow` hook: the window of subflow `i` may rise, and is never 0 whatever the controller answers. The
    /// host keeps it below `CWND_LIMIT`. See [`refuse_windows`](crate::sandbox::refuse_windows).
    #[inline]
    pub fn grow(&mut self, i: usize, ack: &Ack) {
        self.grow_unbounded(i, ack);
        if self.scheme.watched {
            self.look_at_growth(i, ack.delivered);
        }
        let cwnd = &mut self[i].cwnd;
        *cwnd = (*cwnd).max(1);
    }

    /// Checks the window after `grow`: it is no fault to reach the limit, or to exceed it by what may be added.
    #[cold]
    fn look_at_growth(&self, i: usize, delivered: u32) {
        let controller = &self.scheme.controller;
        let most = u64::from(CWND_LIMIT) + FAST_START_MOST * u64::from(delivered);
        let leaps = controller.exceptions().contains(&Exception::Leaps);
        let cwnd = self[i].cwnd;
        if cwnd == 0 || (u64::from(cwnd) >= most && !leaps) {
            refuse_window(controller.raw.grow.map_or(0, |hook| hook as usize), cwnd);
        }
    }

    /// Checks a window that the hook at `address` must not change.
    #[cold]
    fn look(&self, i: usize, address: usize) {
        let cwnd = self[i].cwnd;
        if is_outside(cwnd) {
            refuse_window(address, cwnd);
        }
    }

    /// The window after the `grow` hook, before a host corrects it.
    #[inline]
    pub(crate) fn grow_unbounded(&mut self, i: usize, ack: &Ack) {
        if let Some(hook) = self.scheme.controller.raw.grow {
            // SAFETY: see `Group::pointer`; `ack` outlives the call.
            unsafe { hook(self.pointer(i), ack) };
        }
    }

    /// The `congestion` hook: the window of subflow `i` after the cut, packets, as
    /// [`Controller::bound_cut`] allows it; `None` if a mark is ignored.
    pub fn congestion(&mut self, i: usize, cause: Cause) -> Option<u32> {
        let before = self[i].cwnd;
        let window = self.congestion_unbounded(i, cause);
        let bounded = self.scheme.controller.bound_cut(cause, before, window);
        if let Some(hook) = self.scheme.controller.raw.congestion
            && self.scheme.watched
        {
            self.look(i, hook as usize);
            if bounded.is_some() && is_outside(window) {
                refuse_window(hook as usize, window);
            }
        }
        bounded
    }

    /// The answer of the `congestion` hook, before a host corrects it.
    pub(crate) fn congestion_unbounded(&mut self, i: usize, cause: Cause) -> u32 {
        match self.scheme.controller.raw.congestion {
            // SAFETY: see `Group::pointer`.
            Some(hook) => unsafe { hook(self.pointer(i), cause) },
            None => self[i].cwnd,
        }
    }

    /// The `timeout` hook of subflow `i`.
    pub fn timeout(&mut self, i: usize) {
        if let Some(hook) = self.scheme.controller.raw.timeout {
            // SAFETY: see `Group::pointer`.
            unsafe { hook(self.pointer(i)) };
            if self.scheme.watched {
                self.look(i, hook as usize);
            }
        }
    }

    /// The `report` hook of subflow `i`: the pace that it asks for, bytes/us; 0 if none. Its window is at least 1 and below
    /// `CWND_LIMIT`, whatever the controller says. Nothing happens if the controller has no such hook.
    pub fn report(&mut self, i: usize, report: &Report, hops: &[Hop]) -> u32 {
        let pace = self.report_unbounded(i, report, hops);
        if let Some(hook) = self.scheme.controller.raw.report
            && self.scheme.watched
        {
            self.look(i, hook as usize);
        }
        let cwnd = &mut self[i].cwnd;
        *cwnd = (*cwnd).clamp(1, CWND_LIMIT - 1);
        pace
    }

    /// The effect of the `report` hook, before a host corrects the window.
    pub(crate) fn report_unbounded(&mut self, i: usize, report: &Report, hops: &[Hop]) -> u32 {
        let Some(hook) = self.scheme.controller.raw.report else { return 0 };
        let report = RawReport::new(report, hops);
        // SAFETY: see `Group::pointer`; the report and its hops outlive the call.
        unsafe { hook(self.pointer(i), &raw const report) }
    }

    /// Subflow `i`, with access to its siblings: `controller.h` finds them from `index` and `count`, which are
    /// private and match the list, so a hook stays inside it.
    #[inline]
    fn pointer(&mut self, i: usize) -> *mut Subflow {
        assert!(i < self.len());
        // SAFETY: `i` is in bounds, and the guards before it are too.
        unsafe { self.memory.as_mut_ptr().add(self.guards + i) }
    }
}

/// Whether no host accepts such a window.
#[inline]
fn is_outside(cwnd: u32) -> bool {
    !(1..CWND_LIMIT).contains(&cwnd)
}

impl Index<usize> for Group {
    type Output = Subflow;

    #[inline]
    fn index(&self, i: usize) -> &Subflow {
        &self.subflows()[i]
    }
}

impl IndexMut<usize> for Group {
    #[inline]
    fn index_mut(&mut self, i: usize) -> &mut Subflow {
        let (first, count) = (self.guards, self.len());
        &mut self.memory[first..first + count][i]
    }
}
