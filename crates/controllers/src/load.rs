//! A user's own controller.

use std::path::Path;

use crate::Controller;
use crate::compile::{Kind, LoadError, is_same_file};
use crate::declared::declared;
use crate::raw::{ABI, RawAlias, RawController};
use crate::registry;
use crate::registry::Declaration;
use crate::registry::generated::HEADERS;

const KIND: Kind =
    Kind { what: "controller", declaration: "CONTROLLER", example: "controllers/reno.c", headers: HEADERS };

/// The names of the controllers that `path` declares, at least one, without compiling it; second names
/// (`ALIAS`) are left out.
///
/// # Errors
/// If the file cannot be read or declares no controller.
pub fn declared_in(path: &Path) -> Result<Vec<String>, LoadError> {
    KIND.read(path).map(|(_, names)| names)
}

/// Compiles `path` with the system's `cc` and loads the controllers that it declares; [`crate::find`] returns them
/// from then on. The code stays loaded until the process ends. A file that is loaded again, because it may have
/// changed, replaces its earlier version under its names; existing users of the earlier version keep it.
///
/// # Errors
/// If the file cannot be read, declares no controller, or does not compile.
pub fn load(path: &Path) -> Result<Vec<Controller>, LoadError> {
    let (text, names) = KIND.read(path)?;
    let aliases = declared("ALIAS", &text);
    let other_file = |name: &str| {
        registry::find(name).filter(|&other| !is_of(other, path)).map(|other| other.source_file().to_owned())
    };
    KIND.refuse_taken(path, names.iter().chain(&aliases), other_file)?;
    let compiled = KIND.compile(path)?;
    let text: &'static str = Box::leak(text.into_boxed_str());
    let address = |name: &String| compiled.address(&format!("tresse_{name}"));
    let mut declarations = Vec::new();
    for name in &names {
        // SAFETY: `CONTROLLER(name, …)` defines `tresse_name` with this type.
        declarations.push(Declaration::Controller(unsafe { &*address(name)?.cast::<RawController>() }));
    }
    for name in &aliases {
        // SAFETY: `ALIAS(name, of, …)` defines `tresse_name` with this type.
        declarations.push(Declaration::Alias(unsafe { &*address(name)?.cast::<RawAlias>() }));
    }
    let first = address(&names[0])?;
    let file = compiled.keep(first)?;
    let controllers: Vec<Controller> = declarations
        .into_iter()
        .map(|declaration| {
            let controller = Controller::new(declaration, text, Some(file));
            let abi = controller.raw.abi;
            if abi != ABI {
                let message = format!("the controller.h next to it has ABI {abi}; this program has {ABI}");
                return Err(LoadError::Declaration { path: path.to_owned(), message });
            }
            controller
                .check()
                .map_err(|message| LoadError::Declaration { path: path.to_owned(), message })?;
            Ok(controller)
        })
        .collect::<Result<_, LoadError>>()?;
    for controller in &controllers {
        controller
            .check_single(&controllers)
            .map_err(|message| LoadError::Declaration { path: path.to_owned(), message })?;
    }
    registry::register(&controllers, |other| is_of(other, path));
    Ok(controllers)
}

/// Whether `controller` was loaded from `path`.
fn is_of(controller: Controller, path: &Path) -> bool {
    controller.file().is_some_and(|own| is_same_file(own, path))
}

/// The built-in headers that controllers may include: name and text.
pub fn headers() -> &'static [(&'static str, &'static str)] {
    HEADERS
}
