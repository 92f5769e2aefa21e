//! A user's own controller: compiled with the system's C compiler and loaded into the process.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io};

use crate::Controller;
use crate::declared::declared;
use crate::raw::{ABI, RawAlias, RawController};
use crate::registry;
use crate::registry::Declaration;
use crate::registry::generated::HEADERS;
use crate::user_file::{Build, UserFile};

/// Why a controller's file could not be used.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The file could not be read.
    #[error("{}: {error}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// The file declares no controller.
    #[error(
        "{}: no controller is declared\n\nhint: a line must begin with `CONTROLLER(name, …)`, as in controllers/reno.c",
        path.display()
    )]
    NoDeclaration {
        /// The file.
        path: PathBuf,
    },
    /// There is a controller of that name already.
    #[error("{}: there is a controller `{name}` already; choose another name", path.display())]
    Taken {
        /// The file.
        path: PathBuf,
        /// The name.
        name: String,
    },
    /// The compiler refused it, and said why.
    #[error("{}: it does not compile\n{message}", path.display())]
    Compile {
        /// The file.
        path: PathBuf,
        /// The compiler's words, with the file's own lines.
        message: String,
    },
    /// What it declares contradicts itself.
    #[error("{}: {message}", path.display())]
    Declaration {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        message: String,
    },
    /// There is no C compiler.
    #[error(
        "a controller of one's own is compiled, and the C compiler `cc` cannot be started: {0}\n\n\
         hint: apt-get install gcc libc6-dev"
    )]
    Compiler(io::Error),
    /// The system refused something that is needed to compile or load it.
    #[error("{what}: {error}")]
    Machine {
        /// What was tried.
        what: &'static str,
        /// What the system said.
        error: io::Error,
    },
    /// It compiled but could not be loaded.
    #[error("{}: {message}", path.display())]
    Library {
        /// The file.
        path: PathBuf,
        /// What the loader said.
        message: String,
    },
}

/// Lines of the source (`-g`) and every function's frame are kept, so that it can be told where a hook went wrong.
/// Undefined functions must fail here, not when they are first called.
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
];

/// The names of the controllers that `path` declares, at least one, without compiling it; second names
/// (`ALIAS`) are left out.
///
/// # Errors
/// If the file cannot be read or declares no controller.
pub fn declared_in(path: &Path) -> Result<Vec<String>, LoadError> {
    read(path).map(|(_, names)| names)
}

/// The text of `path` and the names of the controllers in it.
fn read(path: &Path) -> Result<(String, Vec<String>), LoadError> {
    let text = fs::read_to_string(path).map_err(|error| LoadError::Read { path: path.to_owned(), error })?;
    let names = declared("CONTROLLER", &text);
    if names.is_empty() {
        return Err(LoadError::NoDeclaration { path: path.to_owned() });
    }
    Ok((text, names))
}

/// Compiles `path` with the system's `cc` and loads what it declares; [`crate::find`]
/// knows it from then on. The code stays loaded until the process ends: a file that is loaded again, for it has changed
/// perhaps, takes the place of its former self under its names, and whoever has that keeps it.
///
/// # Errors
/// If the file cannot be read, declares no controller, or does not compile.
pub fn load(path: &Path) -> Result<Vec<Controller>, LoadError> {
    let (text, names) = read(path)?;
    let aliases = declared("ALIAS", &text);
    let is_taken = |name: &&String| registry::find(name).is_some_and(|other| !is_of(other, path));
    if let Some(name) = names.iter().chain(&aliases).find(is_taken) {
        return Err(LoadError::Taken { path: path.to_owned(), name: name.clone() });
    }
    let machine = |what| move |error| LoadError::Machine { what, error };
    let dir = tempfile::tempdir().map_err(machine("a temporary folder"))?;
    for (name, text) in HEADERS {
        fs::write(dir.path().join(name), text).map_err(machine("a temporary file"))?;
    }
    let library = dir.path().join("controller.so");
    let compiler = compiler().map_err(LoadError::Compiler)?;
    let output = Command::new("cc")
        .args(FLAGS)
        .arg("-I")
        .arg(dir.path())
        .arg(path)
        .arg("-o")
        .arg(&library)
        .output()
        .map_err(LoadError::Compiler)?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr).trim_end().to_owned();
        return Err(LoadError::Compile { path: path.to_owned(), message });
    }
    let failed = |error: libloading::Error| {
        let cause = std::error::Error::source(&error).map_or_else(String::new, |c| format!(": {c}"));
        LoadError::Library { path: path.to_owned(), message: format!("{error}{cause}") }
    };
    let file = library;
    // SAFETY: the library holds controllers only; it has no constructors.
    let library = unsafe { libloading::Library::new(&file) }.map_err(failed)?;
    // Controllers are `'static`: the library must never be unloaded.
    let library: &'static libloading::Library = Box::leak(Box::new(library));
    let text: &'static str = Box::leak(text.into_boxed_str());
    // SAFETY: `CONTROLLER(name, …)` defines `tresse_name` with this type.
    let controllers = names.iter().map(|name| unsafe {
        library
            .get::<&'static RawController>(format!("tresse_{name}\0").as_bytes())
            .map(|raw| Declaration::Controller(*raw))
    });
    // SAFETY: `ALIAS(name, of, …)` defines `tresse_name` with this type.
    let aliases = aliases.iter().map(|name| unsafe {
        library
            .get::<&'static RawAlias>(format!("tresse_{name}\0").as_bytes())
            .map(|raw| Declaration::Alias(*raw))
    });
    let declarations = controllers.chain(aliases).collect::<Result<Vec<Declaration>, _>>().map_err(failed)?;
    let build = Build { compiler, flags: FLAGS };
    let file = UserFile::new(path, build, &file, declarations[0].address());
    let file: &'static UserFile = Box::leak(Box::new(file.map_err(machine("a temporary file"))?));
    let controllers: Vec<Controller> = declarations
        .into_iter()
        .map(|declaration| {
            let controller = Controller::new(declaration, text, Some(file));
            let abi = controller.raw.abi;
            if abi != ABI {
                let message = format!("the controller.h beside it has ABI {abi}; this program has {ABI}");
                return Err(LoadError::Declaration { path: path.to_owned(), message });
            }
            controller
                .check()
                .map_err(|message| LoadError::Declaration { path: path.to_owned(), message })?;
            Ok(controller)
        })
        .collect::<Result<_, LoadError>>()?;
    registry::register(&controllers, |other| is_of(other, path));
    Ok(controllers)
}

/// Whether `controller` was loaded from `path`.
fn is_of(controller: Controller, path: &Path) -> bool {
    controller.file().is_some_and(|own| match (own.canonicalize(), path.canonicalize()) {
        (Ok(own), Ok(path)) => own == path,
        _ => own == path,
    })
}

/// The headers that controllers may include, as they are built in: name and text.
pub fn headers() -> &'static [(&'static str, &'static str)] {
    HEADERS
}

/// The first line of `cc --version`.
fn compiler() -> io::Result<String> {
    let output = Command::new("cc").arg("--version").output()?;
    Ok(String::from_utf8_lossy(&output.stdout).lines().next().unwrap_or_default().to_owned())
}
