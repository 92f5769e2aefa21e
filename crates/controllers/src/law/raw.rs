//! The layout of `controllers/law.h`, seen from Rust.

use std::ffi::c_char;

/// `struct quantity`.
#[repr(C)]
#[derive(Debug)]
pub struct RawQuantity {
    pub parameter: *const c_char,
    pub value: u64,
    pub per: u64,
    pub halvings: u32,
}

/// `struct by_path`.
#[repr(C)]
#[derive(Debug)]
pub struct RawByPath {
    pub places: [*const c_char; 4],
    pub each: RawQuantity,
    pub rule: RawQuantity,
}

/// `struct objective`.
#[repr(C)]
#[derive(Debug)]
pub struct RawObjective {
    pub when: *const c_char,
    pub utility: u32,
    pub pooling: u32,
    pub standing: u32,
    pub price: u32,
    pub unit: u32,
    pub alpha: RawQuantity,
    pub reference: RawQuantity,
    pub beta: RawQuantity,
    pub weight: RawQuantity,
    pub scale: RawQuantity,
    pub coefficients: RawByPath,
    pub min_rate: RawQuantity,
    pub max_rate: RawQuantity,
    pub source: *const c_char,
    pub caveat: *const c_char,
    pub tolerance: u32,
}

/// `struct fluid_law`.
#[repr(C)]
#[derive(Debug)]
pub struct RawLaw {
    pub when: *const c_char,
    pub kind: u32,
    pub growth: u32,
    pub cutting: u32,
    pub answers: u32,
    pub weights: RawByPath,
    pub cut: RawQuantity,
    pub divisor: RawQuantity,
    pub cuts: RawByPath,
    pub gain: RawQuantity,
    pub r_max: RawQuantity,
    pub r_min: RawQuantity,
    pub tolerance: u32,
}
