//! A user's own C file: compiled with the system's C compiler and loaded into the process. What it declares may be
//! controllers, or parts of another [`Kind`].

use std::ffi::c_void;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io};

use tempfile::TempDir;
use tresse_units::text_file::read_written;

use crate::declared::declared;
use crate::user_file::{Build, UserFile};

/// The kind of parts that a file declares, and the headers that it may include.
#[derive(Debug, Clone, Copy)]
pub struct Kind {
    /// The name of one of them in messages: `controller`.
    pub what: &'static str,
    /// The word before the name at the start of a line: `CONTROLLER`.
    pub declaration: &'static str,
    /// An example file.
    pub example: &'static str,
    /// The headers that are built in: name and text.
    pub headers: &'static [(&'static str, &'static str)],
}

/// Why a user's file could not be used.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The file could not be read.
    #[error("{}: {error}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The message of the system.
        error: io::Error,
    },
    /// The file declares nothing.
    #[error(
        "{}: no {} is declared\n\nhint: a line must begin with `{}(name, …)`, as in {}",
        path.display(), kind.what, kind.declaration, kind.example
    )]
    NoDeclaration {
        /// The file.
        path: PathBuf,
        /// The kind of part that it should declare.
        kind: Kind,
    },
    /// Something with that name exists already.
    #[error("{}: there is already a {what} `{name}`, in {}; choose another name", path.display(), other.display())]
    Taken {
        /// The file.
        path: PathBuf,
        /// What it declares.
        what: &'static str,
        /// The name.
        name: String,
        /// The file that has it.
        other: PathBuf,
    },
    /// The compiler rejected it.
    #[error("{}: it does not compile\n{message}", path.display())]
    Compile {
        /// The file.
        path: PathBuf,
        /// The compiler's message, with the file's own lines.
        message: String,
    },
    /// Its declaration contradicts itself.
    #[error("{}: {message}", path.display())]
    Declaration {
        /// The file.
        path: PathBuf,
        /// The mistake.
        message: String,
    },
    /// There is no C compiler.
    #[error(
        "your own C files must be compiled, but the C compiler `cc` cannot be started: {0}\n\n\
         hint: apt-get install gcc libc6-dev"
    )]
    Compiler(io::Error),
    /// The system refused something that is needed for compiling or loading it.
    #[error("{what}: {error}")]
    Machine {
        /// The failed operation.
        what: &'static str,
        /// The message of the system.
        error: io::Error,
    },
    /// It compiled but could not be loaded.
    #[error("{}: {message}", path.display())]
    Library {
        /// The file.
        path: PathBuf,
        /// The loader's message.
        message: String,
    },
}

impl LoadError {
    fn machine(what: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |error| Self::Machine { what, error }
    }
}

/// Lines of the source (`-g`) and every function's frame are kept, so that it can be found where a
/// hook went wrong. Undefined functions must fail here, not when they are first called.
const FLAGS: &[&str] = &[
    "-std=c11",
    "-O2",
    "-g",
    "-fno-optimize-sibling-calls",
    "-Wall",
    "-Wextra",
    "-Wno-unused-parameter",
    "-Werror",
    "-shared",
    "-fPIC",
    "-Wl,-z,defs",
    #[cfg(target_arch = "x86_64")]
    "-mgeneral-regs-only", // integers only: floating point does not compile
    GCC_ONLY,
];

/// A division by what the compiler knows to be 0 stays one, with its line: GCC makes a trap of it, without a line.
/// Clang does not know the flag. It is the last of [`FLAGS`].
const GCC_ONLY: &str = "-fno-isolate-erroneous-paths-dereference";

/// The flags for a compiler of this version.
fn flags(compiler: &str) -> &'static [&'static str] {
    if compiler.contains("clang") { &FLAGS[..FLAGS.len() - 1] } else { FLAGS }
}

impl Kind {
    /// The text of `path` and the names that it declares, at least one, without compiling it.
    ///
    /// # Errors
    /// If the file cannot be read or declares nothing.
    pub fn read(self, path: &Path) -> Result<(String, Vec<String>), LoadError> {
        let text = read_written(path).map_err(|error| LoadError::Read { path: path.to_owned(), error })?;
        let names = declared(self.declaration, &text);
        if names.is_empty() {
            return Err(LoadError::NoDeclaration { path: path.to_owned(), kind: self });
        }
        Ok((text, names))
    }

    /// Checks that `taken` knows another file for none of the names.
    ///
    /// # Errors
    /// The first of `names` that is taken.
    pub fn refuse_taken<'a>(
        self,
        path: &Path,
        names: impl IntoIterator<Item = &'a String>,
        taken: impl Fn(&str) -> Option<PathBuf>,
    ) -> Result<(), LoadError> {
        match names.into_iter().find_map(|name| Some((name, taken(name)?))) {
            Some((name, other)) => {
                Err(LoadError::Taken { path: path.to_owned(), what: self.what, name: name.clone(), other })
            }
            None => Ok(()),
        }
    }

    /// Compiles `path` with the system's `cc` and loads it. The code stays loaded until the process ends.
    ///
    /// # Errors
    /// If it does not compile, or something is missing on the system.
    pub fn compile(self, path: &Path) -> Result<Compiled, LoadError> {
        let dir = tempfile::tempdir().map_err(LoadError::machine("a temporary folder"))?;
        for (name, text) in self.headers {
            fs::write(dir.path().join(name), text).map_err(LoadError::machine("a temporary file"))?;
        }
        let file = dir.path().join("library.so");
        let compiler = compiler().map_err(LoadError::Compiler)?;
        let output = Command::new("sh")
            .args(["-c", LIMITED, "cc"])
            .args(flags(&compiler))
            .arg("-I")
            .arg(dir.path())
            .arg(path)
            .arg("-o")
            .arg(&file)
            .output()
            .map_err(LoadError::Compiler)?;
        if !output.status.success() {
            let message = without_repeats(String::from_utf8_lossy(&output.stderr).trim_end());
            let hint = hint(self, &message);
            return Err(LoadError::Compile { path: path.to_owned(), message: message + &hint });
        }
        // SAFETY: the library holds hooks and their declarations only; it has no constructors.
        let library = unsafe { libloading::Library::new(&file) }.map_err(|error| not_loaded(path, &error))?;
        // Declarations are `'static`: the library must never be unloaded.
        let library: &'static libloading::Library = Box::leak(Box::new(library));
        Ok(Compiled { path: path.to_owned(), library, compiler, file, _dir: dir })
    }
}

/// A user's file that was compiled and loaded.
#[derive(Debug)]
pub struct Compiled {
    path: PathBuf,
    library: &'static libloading::Library,
    compiler: String,
    file: PathBuf,
    _dir: TempDir,
}

impl Compiled {
    /// The address of the constant `symbol`, which does not change.
    ///
    /// # Errors
    /// If there is none.
    pub fn address(&self, symbol: &str) -> Result<*const c_void, LoadError> {
        // SAFETY: the address alone is taken; nothing is read there.
        let found = unsafe { self.library.get::<*const c_void>(format!("{symbol}\0").as_bytes()) };
        found.map(|address| *address).map_err(|error| not_loaded(&self.path, &error))
    }

    /// Records the data of the file that is needed later; `address` is an address in its library.
    ///
    /// # Errors
    /// If the library can no longer be read.
    pub fn keep(self, address: *const c_void) -> Result<&'static UserFile, LoadError> {
        let build = Build { flags: flags(&self.compiler), compiler: self.compiler };
        UserFile::keep(&self.path, build, &self.file, address as usize)
            .map_err(LoadError::machine("a temporary file"))
    }
}

fn not_loaded(path: &Path, error: &libloading::Error) -> LoadError {
    let cause = std::error::Error::source(error).map_or_else(String::new, |c| format!(": {c}"));
    LoadError::Library { path: path.to_owned(), message: format!("{error}{cause}") }
}

/// A compiler's message with each diagnostic once.
pub fn without_repeats(message: &str) -> String {
    let begins =
        |line: &str| [": error: ", ": warning: ", ": In function "].iter().any(|mark| line.contains(mark));
    let mut parts: Vec<Vec<&str>> = Vec::new();
    for line in message.lines() {
        match parts.last_mut() {
            Some(part) if !begins(line) => part.push(line),
            _ => parts.push(vec![line]),
        }
    }
    let mut once: Vec<Vec<&str>> = Vec::new();
    for part in parts {
        if !once.contains(&part) {
            once.push(part);
        }
    }
    once.concat().join("\n")
}

/// What to do about a compiler's message, if its cause is known; empty otherwise.
fn hint(kind: Kind, message: &str) -> String {
    let Kind { what, declaration, .. } = kind;
    let floats = ["SSE ", "x87 ", "general-regs-only", "80387"];
    if floats.iter().any(|mark| message.contains(mark)) {
        return format!(
            "\n\nhint: a {what} computes with integers only, as the kernel does; fix.h has fixed-point products"
        );
    }
    if message.contains("Wunused-function") {
        return format!(
            "\n\nhint: a function that {declaration}(…) does not name as a hook, and that nothing calls, must be \
             removed"
        );
    }
    String::new()
}

/// Whether two paths lead to the same file.
pub fn is_same_file(one: &Path, other: &Path) -> bool {
    match (one.canonicalize(), other.canonicalize()) {
        (Ok(one), Ok(other)) => one == other,
        _ => one == other,
    }
}

/// Runs a compiler with an end: a file may include a device, or itself without end.
const LIMITED: &str = "ulimit -t 30; ulimit -v 2000000; exec \"$0\" \"$@\"";

/// The first line of `cc --version`.
fn compiler() -> io::Result<String> {
    let output = Command::new("cc").arg("--version").output()?;
    Ok(String::from_utf8_lossy(&output.stdout).lines().next().unwrap_or_default().to_owned())
}
