//! The balancer of one connection.

use std::fmt;
use std::sync::Arc;

use tresse_controllers::parameter_values;
use tresse_controllers::sandbox::refuse_path;
use tresse_units::mix;

use crate::raw::RawSpread;
use crate::{Balancer, Feedback, MAX_PATHS, ParameterError};

/// A balancer with values for its parameters.
#[derive(Debug)]
pub struct ConfiguredBalancer {
    balancer: Balancer,
    values: Box<[u64]>,
}

impl ConfiguredBalancer {
    /// `balancer` with its defaults, overridden by `settings`.
    ///
    /// # Errors
    /// A parameter that the balancer does not have, or a value outside its range.
    pub fn new<'a>(
        balancer: Balancer,
        settings: impl IntoIterator<Item = (&'a str, u64)>,
    ) -> Result<Self, ParameterError> {
        let values = parameter_values(balancer.name(), &balancer.parameters(), settings)?;
        Ok(Self { balancer, values })
    }

    /// The balancer.
    pub fn balancer(&self) -> Balancer {
        self.balancer
    }

    /// The parameters' values, in the order of their declaration.
    pub fn values(&self) -> &[u64] {
        &self.values
    }
}

/// The balancer of one connection: a state machine without a clock. A copy is independent, and draws the same
/// numbers.
#[derive(Clone)]
pub struct Spread {
    paths: u32,
    raw: RawSpread,
    /// The balancer's memory, between two guards.
    memory: Box<[u64]>,
    /// Words of a guard; 0 except in checks.
    guard: usize,
    /// Holds the parameters to which `raw` points.
    scheme: Arc<ConfiguredBalancer>,
}

// SAFETY: the pointers in `raw` lead to constant values that `scheme` keeps alive, and to `memory`, which it
// owns.
unsafe impl Send for Spread {}

/// The value of a guard's words.
const GUARD: u64 = 0x5af3_c0de_1eaf_a11e;

impl Spread {
    /// The balancer of a connection with this many paths. `stream` names its random numbers: connections with
    /// different streams draw independently.
    ///
    /// # Panics
    /// If `paths` is 0 or above [`MAX_PATHS`].
    pub fn new(scheme: Arc<ConfiguredBalancer>, paths: u32, stream: u64) -> Self {
        Self::guarded(scheme, paths, stream, 0, 0)
    }

    /// As [`Spread::new`], at the time `now`, with `guard` words on each side of the balancer's memory.
    pub(crate) fn guarded(
        scheme: Arc<ConfiguredBalancer>,
        paths: u32,
        stream: u64,
        now: u64,
        guard: usize,
    ) -> Self {
        assert!((1..=MAX_PATHS).contains(&paths), "1 to {MAX_PATHS} paths, not {paths}");
        let words = scheme.balancer.memory_bytes(paths).div_ceil(8);
        let mut memory = vec![GUARD; guard + words + guard].into_boxed_slice();
        memory[guard..guard + words].fill(0);
        let raw = RawSpread {
            paths,
            window: 1,
            now,
            random: mix(stream),
            parameters: scheme.values.as_ptr(),
            state: std::ptr::null_mut(),
        };
        let mut spread = Self { paths, raw, memory, guard, scheme };
        if let Some(init) = spread.scheme.balancer.raw.init {
            // SAFETY: see `Spread::pointer`.
            unsafe { init(spread.pointer()) };
        }
        spread
    }

    /// The number of paths.
    #[inline]
    pub fn paths(&self) -> u32 {
        self.paths
    }

    /// Its configured balancer.
    pub fn scheme(&self) -> &Arc<ConfiguredBalancer> {
        &self.scheme
    }

    /// The `pick` hook: the path of the packet that is sent now, below [`Spread::paths`]; `window` is the congestion
    /// window, packets, and `sequence` the packet's number. An answer that is not a path is brought into the range,
    /// or ends the process; see [`refuse_windows`](tresse_controllers::sandbox::refuse_windows).
    #[inline]
    pub fn pick(&mut self, now_ns: u64, window: u32, sequence: u32) -> u32 {
        let path = self.pick_unbounded(now_ns, window, sequence);
        if path < self.paths { path } else { self.correct(path) }
    }

    #[cold]
    fn correct(&self, path: u32) -> u32 {
        refuse_path(self.scheme.balancer.raw.pick.map_or(0, |hook| hook as usize), path);
        path % self.paths
    }

    /// The answer of the `pick` hook, before a host corrects it.
    #[inline]
    pub(crate) fn pick_unbounded(&mut self, now_ns: u64, window: u32, sequence: u32) -> u32 {
        self.raw.now = now_ns;
        self.raw.window = window.max(1);
        let hook = self.scheme.balancer.raw.pick.expect("every balancer has it, or is refused");
        // SAFETY: see `Spread::pointer`.
        unsafe { hook(self.pointer(), sequence) }
    }

    /// The `feedback` hook: the fate of a packet that took `path`.
    ///
    /// # Panics
    /// If there is no such path.
    #[inline]
    pub fn feedback(&mut self, now_ns: u64, path: u32, what: Feedback) {
        assert!(path < self.paths, "path {path} of {}", self.paths);
        self.raw.now = now_ns;
        if let Some(hook) = self.scheme.balancer.raw.feedback {
            // SAFETY: see `Spread::pointer`.
            unsafe { hook(self.pointer(), path, what) };
        }
    }

    /// The `alive` hook: whether `path` may get data at the time of the last call.
    ///
    /// # Panics
    /// If there is no such path.
    #[inline]
    pub fn alive(&self, path: u32) -> bool {
        self.alive_at(self.raw.now, path)
    }

    /// As [`Spread::alive`], at the time `now_ns`.
    ///
    /// # Panics
    /// If there is no such path.
    #[inline]
    pub fn alive_at(&self, now_ns: u64, path: u32) -> bool {
        assert!(path < self.paths, "path {path} of {}", self.paths);
        let Some(hook) = self.scheme.balancer.raw.alive else { return true };
        let state = self.memory[self.guard..].as_ptr().cast_mut().cast();
        let raw = RawSpread { now: now_ns, state, ..self.raw };
        // SAFETY: as `Spread::pointer` says; the hook writes nothing, neither to `raw` nor to the memory.
        unsafe { hook(&raw, path) != 0 }
    }

    /// The connection as its balancer sees it: `state` points to as much memory as it has declared, and
    /// `parameters` to the values of all declared parameters.
    #[inline]
    fn pointer(&mut self) -> *mut RawSpread {
        self.raw.state = self.memory[self.guard..].as_mut_ptr().cast();
        &raw mut self.raw
    }

    /// Whether the fields that only the host may write are unchanged.
    pub(crate) fn is_as_host_set(&self, now: u64, window: u32) -> bool {
        let own = (self.paths, window, now, self.scheme.values.as_ptr());
        own == (self.raw.paths, self.raw.window, self.raw.now, self.raw.parameters)
    }

    /// Whether no hook has written outside its memory.
    pub(crate) fn guards_are_whole(&self) -> bool {
        let behind = self.memory.len() - self.guard;
        self.memory[..self.guard].iter().chain(&self.memory[behind..]).all(|&word| word == GUARD)
    }

    /// The balancer's whole memory.
    pub(crate) fn memory(&self) -> &[u64] {
        &self.memory
    }
}

impl fmt::Debug for Spread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let balancer = self.scheme.balancer;
        f.debug_struct("Spread").field("balancer", &balancer.name()).field("paths", &self.paths).finish()
    }
}
