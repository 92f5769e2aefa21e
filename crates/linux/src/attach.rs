//! `tresse attach`: a controller becomes a TCP congestion control of the kernel.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::fd::{AsFd, AsRawFd};

use libbpf_rs::{ErrorKind, MapCore, MapFlags, Object};
use serde::Serialize;
use tresse_controllers::{ConfiguredController, Controller};

use crate::attached::{self, Attached, Stamp};
use crate::netns::Namespace;
use crate::object::{self, Wrapper};
use crate::{Error, default};

/// The longest name that the kernel takes (`TCP_CA_NAME_MAX` - 1).
pub(crate) const NAME_MAX: usize = 15;

/// `TCP_CONG_NON_RESTRICTED`: any user and any network namespace may choose it.
const NON_RESTRICTED: u32 = 1;
/// `TCP_CONG_NEEDS_ECN`: its packets are ECN-capable regardless of `net.ipv4.tcp_ecn`.
const NEEDS_ECN: u32 = 2;

/// Which namespaces get the controller as their default.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Default {
    /// None.
    No,
    /// The caller's.
    Here,
    /// Those with these names in `ip netns`.
    In(Vec<String>),
}

/// The result of `attach`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    pub controller: String,
    /// The name by which sockets select it.
    pub kernel_name: String,
    /// Whether it was already attached in exactly this way.
    pub already_attached: bool,
    /// The namespaces whose default it has become, with their previous defaults.
    pub default_in: Vec<Changed>,
    /// The namespaces whose default it was before.
    pub default_before_in: Vec<String>,
}

/// A namespace whose default was changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Changed {
    pub namespace: String,
    /// Its default before.
    pub before: String,
    /// Its default now.
    pub now: String,
}

/// The kernel name of the controller called `name`, unless another is requested.
pub(crate) fn kernel_name(name: &str) -> String {
    let whole = format!("tr_{name}");
    match name.split_once('_') {
        Some((first, rest)) if whole.len() > NAME_MAX => {
            let initial = &first[..first.len().min(1)];
            format!("tr_{initial}{}", rest.replace('_', ""))
        }
        _ => whole,
    }
}

/// Registers `scheme` as the congestion control `name` and pins it.
///
/// Attaching the same again changes only the defaults.
///
/// # Errors
/// A name that is too long or in use; a namespace that does not exist; a signal that the kernel cannot give;
/// anything that loading needs but lacks. Nothing is changed then.
pub fn attach(scheme: &ConfiguredController, name: Option<&str>, default: &Default) -> Result<Report, Error> {
    let controller = scheme.controller();
    let name = name.map_or_else(|| kernel_name(controller.name()), str::to_owned);
    check_name(&name)?;
    check_signals(controller)?;
    let namespaces = match default {
        Default::No => Vec::new(),
        Default::Here => vec![Namespace::current()?],
        Default::In(names) => names.iter().map(|n| Namespace::named(n)).collect::<Result<_, _>>()?,
    };
    let bytes = object::bytes(controller, Wrapper::Hooks)?;
    let stamp = Stamp {
        controller: controller.name().to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        digest: object::digest(controller, &bytes),
        parameters: parameters(scheme),
    };
    let _lock = attached::lock()?;
    let already = attached::pin(&name).exists();
    let default_before_in = if already { default::namespaces_of(&name) } else { Vec::new() };
    if already {
        same_or_refuse(&Attached::open(&name)?, &stamp)?;
    } else if default::available().contains(&name) {
        return Err(Error::Input(format!(
            "the kernel already has a congestion control `{name}`, which is not tresse's\n\nhint: \
             `--name` gives this one another name"
        )));
    } else {
        register(scheme, &name, &bytes, &stamp)?;
    }
    match take_over(&name, &namespaces) {
        Ok(default_in) => {
            let controller = controller.name().to_owned();
            Ok(Report {
                controller,
                kernel_name: name,
                already_attached: already,
                default_in,
                default_before_in,
            })
        }
        Err(error) => {
            if !already {
                crate::detach::unregister(&name)?;
            }
            Err(error)
        }
    }
}

fn parameters(scheme: &ConfiguredController) -> BTreeMap<String, u64> {
    let declared = scheme.controller().parameters();
    declared.iter().zip(scheme.values()).map(|(p, &value)| (p.name.to_owned(), value)).collect()
}

fn check_name(name: &str) -> Result<(), Error> {
    if name.len() > NAME_MAX {
        let n = name.len();
        return Err(Error::Input(format!(
            "the name `{name}` has {n} characters; the kernel allows at most {NAME_MAX}\n\nhint: `--name` chooses a \
             shorter one"
        )));
    }
    check_letters(name)
}

/// Whether `name` could be a controller's or a kernel name, of any length.
pub(crate) fn check_letters(name: &str) -> Result<(), Error> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if name.is_empty() || name.starts_with('-') || !name.chars().all(allowed) {
        return Err(Error::Input(format!("`{name}` is not a name: letters, digits, `_` and `-`")));
    }
    Ok(())
}

fn check_signals(controller: Controller) -> Result<(), Error> {
    match controller.why_not_attachable() {
        None => Ok(()),
        Some(why) => {
            Err(Error::Input(format!("{} does not run in a Linux kernel: {why}", controller.name())))
        }
    }
}

fn same_or_refuse(there: &Attached, stamp: &Stamp) -> Result<(), Error> {
    if there.stamp == *stamp {
        return Ok(());
    }
    let name = &there.kernel_name;
    let differs = if there.stamp.controller != stamp.controller {
        format!("it is the controller `{}`", there.stamp.controller)
    } else if there.stamp.parameters != stamp.parameters {
        let text: Vec<_> = there.stamp.parameters.iter().map(|(k, v)| format!("{k}={v}")).collect();
        format!("with {}", text.join(" "))
    } else {
        format!("another build of it, by version {}", there.stamp.version)
    };
    Err(Error::Input(format!(
        "`{name}` is already attached: {differs}\n\nhint: `tresse detach {name}` first, or `--name` for a second one"
    )))
}

/// Loads, registers and pins. The pin is the last step: a process that dies before it leaves nothing.
fn register(scheme: &ConfiguredController, name: &str, bytes: &[u8], stamp: &Stamp) -> Result<(), Error> {
    let controller = scheme.controller();
    let mut open = object::open(bytes, controller.file())?;
    object::set_parameters(&mut open, scheme);
    let flags = NON_RESTRICTED | if controller.needs_ecn() { NEEDS_ECN } else { 0 };
    object::set(&mut open, "tresse", |ops| {
        // `struct tcp_congestion_ops` of bpf/compat.h: eight functions, the flags, the name.
        ops[64..68].copy_from_slice(&flags.to_ne_bytes());
        ops[68..84].fill(0);
        ops[68..68 + name.len()].copy_from_slice(name.as_bytes());
    });
    let mut object = object::load(open, controller.file())?;
    keep(&object, stamp)?;
    let failed = |error: libbpf_rs::Error| match error.kind() {
        ErrorKind::AlreadyExists => Error::Input(format!(
            "the kernel already has a `{name}`\n\nhint: `--name` gives this one another name"
        )),
        _ => Error::Machine(format!("`{name}` cannot be registered: {error}\n\nhint: `tresse doctor`")),
    };
    let mut ops = object.maps_mut().find(|m| m.name() == OsStr::new("tresse")).expect("the object has it");
    let mut link = ops.attach_struct_ops().map_err(failed)?;
    link.pin(attached::pin(name)).map_err(failed)
}

/// Binds the maps that only user space reads to a program, and writes the stamp.
fn keep(object: &Object, stamp: &Stamp) -> Result<(), Error> {
    let failed = |error: std::io::Error| Error::Machine(format!("the stamp cannot be saved: {error}"));
    let program =
        object.progs().find(|p| p.name() == OsStr::new("tresse_cut")).expect("the object has the hook");
    for name in ["stamp", "defaults"] {
        let map = object.maps().find(|m| m.name() == OsStr::new(name)).expect("the object has the map");
        // SAFETY: both are open, and no options are given.
        let result = unsafe {
            libbpf_sys::bpf_prog_bind_map(
                program.as_fd().as_raw_fd(),
                map.as_fd().as_raw_fd(),
                std::ptr::null(),
            )
        };
        if result != 0 {
            return Err(failed(std::io::Error::from_raw_os_error(-result)));
        }
    }
    let map = object.maps().find(|m| m.name() == OsStr::new("stamp")).expect("the object has the map");
    let mut text = serde_json::to_vec(stamp).expect("a stamp is plain data");
    text.resize(map.value_size() as usize, 0);
    map.update(&0u32.to_ne_bytes(), &text, MapFlags::ANY).map_err(|e| failed(std::io::Error::other(e)))
}

/// Makes `name` the default of `namespaces`; all of them or none.
fn take_over(name: &str, namespaces: &[Namespace]) -> Result<Vec<Changed>, Error> {
    if namespaces.is_empty() {
        return Ok(Vec::new());
    }
    let attached = Attached::open(name)?;
    let mut changed: Vec<(&Namespace, String)> = Vec::new();
    for namespace in namespaces {
        let result = default::get(namespace).and_then(|before| {
            if before != name {
                // Remembered first: a process that dies between the two steps loses nothing.
                attached.remember(namespace, &before)?;
                default::set(namespace, name)?;
                changed.push((namespace, before));
            }
            Ok(())
        });
        if let Err(error) = result {
            for (namespace, before) in &changed {
                // A namespace that is gone needs no restoring.
                let _ = default::restore(namespace, Some(before));
            }
            return Err(error);
        }
    }
    Ok(changed
        .into_iter()
        .map(|(namespace, before)| Changed {
            namespace: namespace.label.clone(),
            before,
            now: name.to_owned(),
        })
        .collect())
}
