//! The layout of `balancers/balancer.h`, seen from Rust.

use std::ffi::{c_char, c_void};

use tresse_controllers::RawParameter;

/// `TRESSE_BALANCER_ABI`: raised whenever the layout or the meaning of the contract changes.
pub(crate) const ABI: u32 = 1;

/// `MAX_STATE_BYTES`, `MAX_PATH_BYTES`: the most that a balancer may request.
pub(crate) const MAX_STATE_BYTES: u32 = 65536;
pub(crate) const MAX_PATH_BYTES: u32 = 256;

/// `FLOW_LEVEL`, `RECYCLES` in `.flags`.
pub(crate) const FLOW_LEVEL: u32 = 1;
pub(crate) const RECYCLES: u32 = 2;

/// The fate of a packet; `enum feedback`.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Feedback {
    /// It arrived, unmarked.
    Good,
    /// It arrived with a mark.
    Ecn,
    /// A switch cut its payload off, and the header arrived.
    Trim,
    /// It did not arrive at all.
    Timeout,
}

impl Feedback {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Good, Self::Ecn, Self::Trim, Self::Timeout];

    /// The name that scripts use.
    pub fn name(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Ecn => "ecn",
            Self::Trim => "trim",
            Self::Timeout => "timeout",
        }
    }
}

/// A connection, as its balancer sees it; `struct spread`.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RawSpread {
    pub paths: u32,
    pub window: u32,
    pub now: u64,
    pub random: u64,
    pub parameters: *const u64,
    pub state: *mut c_void,
}

/// As `balancer.h` asserts for `struct spread`.
const _: () = assert!(size_of::<RawSpread>() == 24 + 2 * size_of::<*const u64>());

/// `struct balancer`.
#[repr(C)]
pub(crate) struct RawBalancer {
    pub abi: u32,
    pub flags: u32,
    pub parameter_count: u32,
    pub state_bytes: u32,
    pub path_bytes: u32,
    pub name: *const c_char,
    pub title: *const c_char,
    pub source: *const c_char,
    pub parameters: *const RawParameter,
    pub init: Option<unsafe extern "C" fn(*mut RawSpread)>,
    pub feedback: Option<unsafe extern "C" fn(*mut RawSpread, u32, Feedback)>,
    pub pick: Option<unsafe extern "C" fn(*mut RawSpread, u32) -> u32>,
    pub alive: Option<unsafe extern "C" fn(*const RawSpread, u32) -> u32>,
}

// SAFETY: a declaration is constant data and stateless functions.
unsafe impl Sync for RawBalancer {}
// SAFETY: as above.
unsafe impl Send for RawBalancer {}
