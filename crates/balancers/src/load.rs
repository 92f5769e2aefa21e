//! A user's own balancer.

use std::path::Path;

use tresse_controllers::{Kind, LoadError, is_same_file};

use crate::Balancer;
use crate::raw::{ABI, RawBalancer};
use crate::registry;
use crate::registry::generated::HEADERS;

const KIND: Kind =
    Kind { what: "balancer", declaration: "BALANCER", example: "balancers/oblivious.c", headers: HEADERS };

/// The names of the balancers that `path` declares, at least one, without compiling it.
///
/// # Errors
/// If the file cannot be read or declares no balancer.
pub fn declared_in(path: &Path) -> Result<Vec<String>, LoadError> {
    KIND.read(path).map(|(_, names)| names)
}

/// Compiles `path` with the system's `cc` and loads what it declares; [`crate::find`] knows it from then on.
/// The code stays loaded until the process ends: a file that is loaded again replaces its earlier version
/// under its names, but existing users keep the earlier version.
///
/// # Errors
/// If the file cannot be read, declares no balancer, or does not compile.
pub fn load(path: &Path) -> Result<Vec<Balancer>, LoadError> {
    let (text, names) = KIND.read(path)?;
    let is_of = |balancer: Balancer| balancer.file().is_some_and(|own| is_same_file(own, path));
    KIND.refuse_taken(path, &names, |name| {
        registry::find(name).filter(|&other| !is_of(other)).map(|other| other.source_file().to_owned())
    })?;
    let compiled = KIND.compile(path)?;
    let mut declarations: Vec<&'static RawBalancer> = Vec::new();
    for name in &names {
        let address = compiled.address(&format!("tresse_balancer_{name}"))?;
        // SAFETY: `BALANCER(name, …)` defines `tresse_balancer_name` with this type, and it stays loaded.
        declarations.push(unsafe { &*address.cast() });
    }
    let file = compiled.keep(std::ptr::from_ref(declarations[0]).cast())?;
    let text: &'static str = Box::leak(text.into_boxed_str());
    let wrong = |message| LoadError::Declaration { path: path.to_owned(), message };
    let mut balancers = Vec::new();
    for raw in declarations {
        if raw.abi != ABI {
            let abi = raw.abi;
            return Err(wrong(format!("the balancer.h next to it has ABI {abi}; this program has {ABI}")));
        }
        let balancer = Balancer::loaded(raw, text, file);
        balancer.check().map_err(wrong)?;
        balancers.push(balancer);
    }
    registry::register(&balancers, is_of);
    Ok(balancers)
}

/// The built-in headers that balancers may include: name and text.
pub fn headers() -> &'static [(&'static str, &'static str)] {
    HEADERS
}
