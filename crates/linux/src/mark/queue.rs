//! `bpf/virtual_queue.h` and the maps of `bpf/mark.bpf.c`: layouts and the native functions.

use super::{CLASSES, Length, MAX_THRESHOLD, Match, Settings};
use crate::Error;

/// Slots: the default class, which comes first, and the named ones.
pub(super) const SLOTS: usize = CLASSES + 1;

/// The queue is drained this much faster than the link, in percent. At exactly the link's rate, a virtual
/// queue that once exceeds the real one stays there and marks forever.
const HEADROOM_PERCENT: u128 = 1;

/// A class's backlog stops growing at this many times the threshold, or at this many full frames, whichever
/// is more: so it recovers when senders ignore the marks, but still holds a GSO packet.
const LIMIT_THRESHOLDS: u64 = 3;
const LIMIT_FRAMES: u64 = 60;

/// No share of the threshold is below this many full frames.
const FLOOR_FRAMES: u64 = 2;

/// `struct vq_class`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Class {
    pub limit: u64,
    pub weight: u32,
    pub threshold: u32,
}

/// `struct vq_config`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Config {
    pub drain: u64,
    pub idle: u64,
    pub threshold: u32,
    pub floor: u32,
    pub classes: u32,
    pad: u32,
    pub class: [Class; SLOTS],
}

/// `struct vq_state`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct State {
    last: u64,
    rest: u64,
    zero: u32,
    pad: u32,
    backlog: [u64; SLOTS],
}

/// `struct rule`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Rule {
    pub name: [u8; 16],
    pub kind: u32,
    pub value: u32,
}

/// `struct settings`: the map `.rodata.marker`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Setup {
    pub rate: u64,
    pub queue: Config,
    pub rules: [Rule; SLOTS],
}

/// `struct counters`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Counters {
    pub packets: u64,
    pub bytes: u64,
    pub marked: u64,
    pub not_ect: u64,
}

/// `struct state`: the map `tresse_queue`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Shared {
    lock: u32,
    pad: u32,
    pub queue: State,
    pub counters: [Counters; SLOTS],
}

/// A struct of the kernel program.
///
/// # Safety
/// It has no padding, and is valid for any bits.
pub(super) unsafe trait Plain: Copy + Default {}
// SAFETY: integers only, and their sizes leave no gap (`layouts_have_no_gaps`).
unsafe impl Plain for Setup {}
// SAFETY: as above.
unsafe impl Plain for Shared {}

/// The bytes of a struct of the kernel program.
pub(super) fn as_bytes<T: Plain>(value: &T) -> &[u8] {
    // SAFETY: `Plain` has no padding, so each byte has a value.
    unsafe { std::slice::from_raw_parts(std::ptr::from_ref(value).cast(), size_of::<T>()) }
}

/// The reverse; `None` if the size differs.
pub(super) fn from_bytes<T: Plain>(bytes: &[u8]) -> Option<T> {
    // SAFETY: there are as many bytes as in `T`, any values are valid, and they need not be aligned.
    (bytes.len() == size_of::<T>()).then(|| unsafe { bytes.as_ptr().cast::<T>().read_unaligned() })
}

unsafe extern "C" {
    fn tresse_vq_drain(c: *const Config, q: *mut State, now: u64);
    fn tresse_vq_threshold(c: *const Config, q: *const State, class: u32) -> u32;
    #[cfg(test)]
    fn tresse_vq_arrive(c: *const Config, q: *mut State, class: u32, bytes: u32, now: u64) -> i32;
}

impl State {
    /// Serves the queue until `now`, ns.
    pub(super) fn drain(&mut self, config: &Config, now: u64) {
        // SAFETY: both are alive, with the layouts of `bpf/virtual_queue.h`.
        unsafe { tresse_vq_drain(config, self, now) }
    }

    /// The threshold of a class in force, bytes.
    pub(super) fn threshold(&self, config: &Config, class: usize) -> u32 {
        // SAFETY: as above; a class that does not exist has threshold 0.
        unsafe { tresse_vq_threshold(config, self, class as u32) }
    }

    /// Bytes of a class.
    pub(super) fn backlog(&self, class: usize) -> u64 {
        self.backlog[class] >> 32
    }

    /// A packet arrives. Returns whether to mark it.
    #[cfg(test)]
    pub(super) fn arrive(&mut self, config: &Config, class: usize, bytes: u32, now: u64) -> bool {
        // SAFETY: as above; a class that does not exist marks nothing.
        unsafe { tresse_vq_arrive(config, self, class as u32, bytes, now) != 0 }
    }
}

impl Config {
    /// The configuration from checked settings, for a device whose full frames have `frame` bytes.
    ///
    /// # Errors
    /// If a threshold in packets is too long with such frames.
    pub(super) fn new(settings: &Settings, frame: u32) -> Result<Self, Error> {
        let bytes = |length: Length| match length {
            Length::Bytes(n) => Ok(n),
            Length::Packets(n) => {
                let bytes = n.checked_mul(frame.into()).filter(|b| *b <= MAX_THRESHOLD);
                bytes.ok_or_else(|| {
                    Error::Input(format!(
                        "a threshold of {n} packets of {frame} bytes: expected at most 64 MiB"
                    ))
                })
            }
        };
        let threshold = bytes(settings.threshold)?;
        let limit =
            |threshold: u64| (threshold * LIMIT_THRESHOLDS).max(u64::from(frame) * LIMIT_FRAMES) << 32;
        let mut class = [Class::default(); SLOTS];
        class[0] = Class { limit: limit(threshold), weight: 1, threshold: 0 };
        for (slot, c) in class[1..].iter_mut().zip(&settings.classes) {
            let own = c.threshold.map(bytes).transpose()?;
            *slot = Class {
                limit: limit(own.unwrap_or(threshold)),
                weight: c.weight,
                threshold: own.unwrap_or(0) as u32,
            };
        }
        let percent = u128::from(settings.rate_bps) * (100 + HEADROOM_PERCENT);
        let drain = (percent << 32) / (8 * 100 * 1_000_000_000);
        let drain = u64::try_from(drain).expect("a rate that was checked");
        let all: u64 = class.iter().map(|c| c.limit).sum();
        Ok(Self {
            drain,
            idle: all.div_ceil(drain) + 1,
            threshold: threshold as u32,
            floor: threshold.min(FLOOR_FRAMES * u64::from(frame)) as u32,
            classes: settings.classes.len() as u32 + 1,
            pad: 0,
            class,
        })
    }
}

impl Setup {
    /// All of the program's constants.
    ///
    /// # Errors
    /// As [`Config::new`].
    pub(super) fn new(settings: &Settings, frame: u32) -> Result<Self, Error> {
        let mut rules = [Rule::default(); SLOTS];
        let named = std::iter::once(("default", 0, 0)).chain(settings.classes.iter().map(|c| match c.rule {
            Match::Dscp(v) => (&*c.name, 1, v.into()),
            Match::Mark(v) => (&*c.name, 2, v),
        }));
        for (rule, (name, kind, value)) in rules.iter_mut().zip(named) {
            rule.name[..name.len()].copy_from_slice(name.as_bytes());
            (rule.kind, rule.value) = (kind, value);
        }
        Ok(Self { rate: settings.rate_bps, queue: Config::new(settings, frame)?, rules })
    }
}

impl Rule {
    pub(super) fn name(&self) -> String {
        let end = self.name.iter().position(|b| *b == 0).unwrap_or(self.name.len());
        String::from_utf8_lossy(&self.name[..end]).into_owned()
    }

    pub(super) fn matches(&self) -> Option<Match> {
        match self.kind {
            1 => Some(Match::Dscp(self.value as u8)),
            2 => Some(Match::Mark(self.value)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
