//! Commands that the Python package carries out: `tune`, and sweeps on Ray.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use tresse_workbench::Failure;
use tresse_workbench::python::{hint, interpreter, modules};

/// What the interpreter runs: a module of the package, as by `-m`; if the package or what it needs is missing, exit code 3
/// and a hint.
const START: &str = "\
import importlib.util, runpy, sys
module, needed, hint = sys.argv[1:4]
del sys.argv[1:4]
missing = [name for name in needed.split() if importlib.util.find_spec(name) is None]
if missing:
    sys.stderr.write(f\"error: {sys.executable} does not have {', '.join(missing)}\\n\\nhint: {hint}\\n\")
    sys.exit(3)
runpy.run_module(module, run_name='__main__', alter_sys=True)
";

/// Hands over to `module` of the Python package, which needs the extra `extra`; the interpreter is $TRESSE_PYTHON,
/// or python3. It replaces this process: its exit code is the command's, and it gets the signals.
///
/// # Errors
/// If there is no interpreter; otherwise it does not return.
pub fn hand_over(module: &str, extra: &str, arguments: &[OsString]) -> Failure {
    let python = interpreter();
    let head = [module, &modules(extra).join(" "), &hint(extra)];
    let error = Command::new(&python).arg("-c").arg(START).args(head).args(arguments).exec();
    let name = python.to_string_lossy();
    let message = match error.kind() {
        ErrorKind::NotFound => format!("there is no {name}"),
        _ => format!("{name}: {error}"),
    };
    Failure::Machine(format!("{message}\n\nhint: {}", hint(extra)))
}
