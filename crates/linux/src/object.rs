//! The eBPF objects: embedded for the built-in controllers, compiled on the spot for users' files.

use std::ffi::OsStr;
use std::fs;
use std::io::Read;
use std::path::Path;
use std::sync::Mutex;

use flate2::read::DeflateDecoder;
use libbpf_rs::{Object, ObjectBuilder, OpenObject, PrintLevel};
use sha2::{Digest, Sha256};
use tresse_controllers::{ConfiguredController, Controller};

use crate::compile::{clang, compile};
use crate::{Error, diagnosis};

/// A controller and its objects, deflated.
struct BuiltIn {
    name: &'static str,
    hooks: &'static [u8],
    trace: &'static [u8],
}

mod embedded {
    use super::BuiltIn;
    include!(concat!(env!("OUT_DIR"), "/embedded.rs"));
}
pub(crate) use embedded::{MARK, SILENCE, STATUS};

/// Which program wraps the controller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wrapper {
    /// `bpf/controller.bpf.c`: the congestion control of sockets.
    Hooks,
    /// `bpf/trace.bpf.c`: hooks called from user space.
    Trace,
}

/// The name of the program: a second name has no separate program.
fn declared_name(controller: Controller) -> &'static str {
    controller.alias_of().unwrap_or_else(|| controller.name())
}

/// The object of `controller`.
///
/// # Errors
/// A controller whose hook no kernel calls; a user's file that does not compile for the BPF machine; no
/// compiler, or no space for its output.
pub(crate) fn bytes(controller: Controller, wrapper: Wrapper) -> Result<Vec<u8>, Error> {
    if let Some(why) = controller.why_not_attachable().filter(|_| controller.reports()) {
        return Err(Error::Machine(format!("{} does not run in a Linux kernel: {why}", controller.name())));
    }
    let Some(file) = controller.file() else {
        let found = embedded::BUILT_IN.iter().find(|b| b.name == declared_name(controller));
        let b = found.expect("each built-in controller has its eBPF build");
        let mut object = Vec::new();
        DeflateDecoder::new(if wrapper == Wrapper::Hooks { b.hooks } else { b.trace })
            .read_to_end(&mut object)
            .expect("the build has compressed it");
        return Ok(object);
    };
    let clang = clang().ok_or_else(|| {
        Error::Machine(
            "clang 16 or newer is needed to compile it for the kernel\n\nhint: apt-get install clang-16"
                .into(),
        )
    })?;
    let machine = |error: std::io::Error| Error::Machine(format!("a temporary folder: {error}"));
    let folder = tempfile::tempdir().map_err(machine)?;
    let program = if wrapper == Wrapper::Hooks { "controller.bpf.c" } else { "trace.bpf.c" };
    fs::create_dir(folder.path().join("bpf")).map_err(machine)?;
    for (name, text) in embedded::SOURCES {
        fs::write(folder.path().join(name), text).map_err(machine)?;
    }
    for (name, text) in libbpf_sys::API_HEADERS {
        fs::write(folder.path().join("bpf").join(name), text).map_err(machine)?;
    }
    let file = fs::canonicalize(file).map_err(|e| Error::Input(format!("{}: {e}", file.display())))?;
    let object = folder.path().join("object.o");
    let output = compile(
        clang,
        &folder.path().join(program),
        Some((&file, declared_name(controller))),
        &[folder.path()],
        &object,
    )
    .map_err(|error| Error::Machine(format!("{clang}: {error}")))?;
    if !output.status.success() {
        let message = tresse_controllers::without_repeats(&String::from_utf8_lossy(&output.stderr));
        return Err(Error::Input(diagnosis::of_compiler(&file, &message)));
    }
    fs::read(&object).map_err(machine)
}

/// What distinguishes one build of `controller` from another: a hash of the object, or, because a user's file
/// leaves its path in the object, of the file and of the program around it.
pub(crate) fn digest(controller: Controller, object: &[u8]) -> String {
    let mut hash = Sha256::new();
    if controller.file().is_some() {
        hash.update(controller.text());
        for (_, text) in embedded::SOURCES {
            hash.update(text);
        }
    } else {
        hash.update(object);
    }
    hash.finalize().iter().map(|b| format!("{b:02x}")).collect()
}

/// The messages of libbpf and the verifier about one object.
static LOG: Mutex<String> = Mutex::new(String::new());
/// Only one object at a time, so that [`LOG`] is about a single one.
static TURN: Mutex<()> = Mutex::new(());

fn collect(_: PrintLevel, message: String) {
    LOG.lock().expect("no holder of the lock panics").push_str(&message);
}

/// Does `work` with libbpf; returns the messages if it fails.
fn logged<T>(work: impl FnOnce() -> libbpf_rs::Result<T>) -> Result<T, (libbpf_rs::Error, String)> {
    let _turn = TURN.lock().expect("no holder of the lock panics");
    libbpf_rs::set_print(Some((PrintLevel::Warn, collect)));
    LOG.lock().expect("no holder of the lock panics").clear();
    work().map_err(|error| (error, std::mem::take(&mut *LOG.lock().expect("no holder of the lock panics"))))
}

/// Opens an object, so that it can be set up before it is loaded. `file` is the user's, if there is
/// one.
pub(crate) fn open(bytes: &[u8], file: Option<&Path>) -> Result<OpenObject, Error> {
    logged(|| ObjectBuilder::default().open_memory(bytes))
        .map_err(|(error, log)| diagnosis::of_open(&error, &log, file))
}

/// Loads an object. `file` is the user's, if there is one.
///
/// # Errors
/// Without the permission, without the kernel's type information, or if the verifier rejects it.
pub(crate) fn load(object: OpenObject, file: Option<&Path>) -> Result<Object, Error> {
    logged(|| object.load()).map_err(|(error, log)| diagnosis::of_load(&error, &log, file))
}

/// The bytes of the map `name`, before it is loaded.
pub(crate) fn set(object: &mut OpenObject, name: &str, write: impl FnOnce(&mut [u8])) {
    let mut map = object.maps_mut().find(|m| m.name() == OsStr::new(name)).expect("the object has the map");
    write(map.initial_value_mut().expect("the map has a first value"));
}

/// Writes the parameters' values to where the program reads them as constants.
pub(crate) fn set_parameters(object: &mut OpenObject, scheme: &ConfiguredController) {
    set(object, ".rodata.parameters", |bytes| {
        for (word, value) in bytes.chunks_exact_mut(8).zip(scheme.values()) {
            word.copy_from_slice(&value.to_ne_bytes());
        }
    });
}
