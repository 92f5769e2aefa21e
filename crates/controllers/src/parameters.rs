//! The parameters that a C file declares, and values for them.

use std::ffi::{CStr, c_char};

use tresse_units::{Parameter, Whole};

/// A parameter as a C file declares it; `struct parameter`.
#[repr(C)]
#[derive(Debug)]
pub struct RawParameter {
    name: *const c_char,
    initial: u64,
    min: u64,
    max: u64,
    unit: *const c_char,
    meaning: *const c_char,
}

/// Why a value for a parameter was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParameterError {
    /// The controller has no such parameter.
    #[error("{controller} has no parameter `{name}` (it has: {known})")]
    Unknown {
        /// The controller, or whatever else has parameters.
        controller: String,
        /// The given name.
        name: String,
        /// The existing parameters.
        known: String,
    },
    /// The value is outside the parameter's range.
    #[error("{name} = {value} is not from {min} to {max} ({controller})")]
    Range {
        /// The controller, or whatever else has parameters.
        controller: String,
        /// The parameter.
        name: &'static str,
        /// The given value.
        value: u64,
        /// The smallest value.
        min: u64,
        /// The largest value.
        max: u64,
    },
}

/// The defaults of `owner`'s parameters, which `settings` replace.
///
/// # Errors
/// A parameter that is not declared, or a value outside its range.
pub fn parameter_values<'a>(
    owner: &str,
    declared: &[Parameter<Whole>],
    settings: impl IntoIterator<Item = (&'a str, u64)>,
) -> Result<Box<[u64]>, ParameterError> {
    let mut values: Box<[u64]> = declared.iter().map(|p| p.range.default).collect();
    for (name, value) in settings {
        let Some(i) = declared.iter().position(|p| p.name == name) else {
            let known: Vec<_> = declared.iter().map(|p| p.name).collect();
            return Err(ParameterError::Unknown {
                controller: owner.to_owned(),
                name: name.to_owned(),
                known: if known.is_empty() { "none".to_owned() } else { known.join(", ") },
            });
        };
        let p = &declared[i];
        if !p.range.contains(value) {
            return Err(ParameterError::Range {
                controller: owner.to_owned(),
                name: p.name,
                value,
                min: p.range.min,
                max: p.range.max,
            });
        }
        values[i] = value;
    }
    Ok(values)
}

/// Checks that the default of every parameter is in its range.
///
/// # Errors
/// The first parameter whose default is not, in words.
pub fn check_defaults(owner: &str, declared: &[Parameter<Whole>]) -> Result<(), String> {
    match declared.iter().find(|p| !p.range.contains(p.range.default)) {
        Some(Parameter { name, range: Whole { default, min, max }, .. }) => {
            Err(format!("{owner}: the default of {name}, {default}, is not from {min} to {max}"))
        }
        None => Ok(()),
    }
}

/// The parameters of a declaration.
///
/// # Safety
/// `table` has `count` parameters, which never change and live forever, as do their strings, as `WITH_PARAMETERS`
/// guarantees. `table` is not read if there are none.
pub unsafe fn declared_parameters(table: *const RawParameter, count: u32) -> Vec<Parameter<Whole>> {
    if count == 0 {
        return Vec::new();
    }
    // SAFETY: the caller says so.
    let table: &'static [RawParameter] = unsafe { std::slice::from_raw_parts(table, count as usize) };
    let parameter = |p: &RawParameter| Parameter {
        // SAFETY: the caller says so.
        name: unsafe { declared_text(p.name) },
        range: Whole { default: p.initial, min: p.min, max: p.max },
        // SAFETY: as above.
        unit: unsafe { declared_text(p.unit) },
        // SAFETY: as above.
        meaning: unsafe { declared_text(p.meaning) },
    };
    table.iter().map(parameter).collect()
}

/// A string of a declaration; an omitted one is empty.
///
/// # Safety
/// `text` is null, or a string that ends with a NUL and lives forever.
pub unsafe fn declared_text(text: *const c_char) -> &'static str {
    if text.is_null() {
        return "";
    }
    // SAFETY: the caller says so.
    unsafe { CStr::from_ptr(text) }.to_str().unwrap_or("(not UTF-8)")
}
