// Shared by the build script and by the library: how a program in bpf/ is compiled.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Output};

/// The suitable compilers, the best first. 16 is Debian 12's.
const COMPILERS: [&str; 6] = ["clang-16", "clang-19", "clang-18", "clang-17", "clang-20", "clang"];

/// The first of [`COMPILERS`] that is installed and new enough.
pub(crate) fn clang() -> Option<&'static str> {
    COMPILERS.into_iter().find(|name| {
        let output = Command::new(name).arg("--version").output();
        let text = output.map(|o| String::from_utf8_lossy(&o.stdout).into_owned()).unwrap_or_default();
        let version = text.split("clang version ").nth(1).and_then(|rest| rest.split('.').next());
        version.and_then(|v| v.parse::<u32>().ok()).is_some_and(|v| v >= 16)
    })
}

/// Compiles `source` for the kernel's BPF machine. `controller` is the file and the name of the controller
/// that it wraps. Calls only the compiler.
pub(crate) fn compile(
    clang: &str,
    source: &Path,
    controller: Option<(&Path, &str)>,
    include: &[&Path],
    object: &Path,
) -> std::io::Result<Output> {
    let mut command = Command::new(clang);
    command
        // v3 is the oldest instruction set with 32-bit jumps; it has no signed division.
        .args(["-target", "bpf", "-mcpu=v3", "-O2", "-g", "-std=gnu11", "-ffreestanding"])
        .args(["-Wall", "-Wextra", "-Wno-unused-parameter", "-Wno-unused-function", "-Werror"])
        .args(["-fno-crash-diagnostics"]);
    command.arg("-fdebug-compilation-dir=.");
    for folder in include {
        // The same text gives the same object, wherever it is stored.
        let mut map = OsString::from("-ffile-prefix-map=");
        map.push(folder);
        map.push("=.");
        command.arg("-I").arg(folder).arg(map);
    }
    if let Some((file, name)) = controller {
        let mut definition = OsString::from("-DCONTROLLER_FILE=\"");
        definition.push(file);
        definition.push("\"");
        command.arg(definition).arg(format!("-DCONTROLLER_ID=tresse_controller_{name}"));
    }
    command.arg("-c").arg(source).arg("-o").arg(object).output()
}
