//! What the compiler and the verifier say, as file, line and cause.

use std::fmt::Write as _;
use std::path::Path;

use crate::Error;

/// The compiler's message about a user's `file`, without the lines about the wrapper around it.
pub(crate) fn of_compiler(file: &Path, message: &str) -> String {
    let mut text = format!("{}: it does not compile for the kernel\n{}", file.display(), message.trim_end());
    for (sign, hint) in [
        ("__multi3", "BPF has no 128-bit product: use fix_mul_shr (fix.h)"),
        ("__divti3", "BPF has no 128-bit division"),
        ("df3", "BPF has no floating point: use fix.h's fixed-point arithmetic"),
        ("sf3", "BPF has no floating point: use fix.h's fixed-point arithmetic"),
        ("float", "BPF has no floating point: use fix.h's fixed-point arithmetic"),
        ("unsupported signed division", "BPF has no signed division: divide unsigned numbers"),
    ] {
        if message.contains(sign) {
            write!(text, "\n\nhint: {hint}").expect("writing to a string");
            break;
        }
    }
    text
}

/// Why an object could not be loaded.
pub(crate) fn of_load(error: &libbpf_rs::Error, log: &str, file: Option<&Path>) -> Error {
    let _ = file;
    Error::Machine(format!("{error}\n{log}"))
}
