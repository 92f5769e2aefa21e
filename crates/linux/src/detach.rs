//! `tresse detach`: the defaults go back first, then the congestion control goes.

use std::time::Duration;
use std::{fs, thread};

use serde::Serialize;

use crate::attach::{Changed, check_name};
use crate::attached::{self, Attached};
use crate::netns::{self, Namespace};
use crate::{Error, default};

/// What `detach` did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    /// The controller.
    pub controller: String,
    /// Its name in the kernel, which is free now.
    pub kernel_name: String,
    /// The namespaces whose default was given back.
    pub default_in: Vec<Changed>,
}

/// Takes back the controller called `name`, by its own name or by that in the kernel.
///
/// Sockets that use it keep it until they are closed.
///
/// # Errors
/// If nothing of that name is attached, or if a namespace for which no former default is known names
/// it still; nothing is changed then. `force` gives such a namespace CUBIC, or else Reno.
pub fn detach(name: &str, force: bool) -> Result<Report, Error> {
    check_name(name)?;
    let _lock = attached::lock()?;
    let attached = find(name)?;
    let kernel_name = attached.kernel_name.clone();
    let users: Vec<(Namespace, Option<String>)> = netns::all()
        .into_iter()
        .filter(|namespace| default::get(namespace).is_ok_and(|d| d == kernel_name))
        .map(|namespace| {
            let before = attached.remembered(namespace.inode);
            (namespace, before)
        })
        .collect();
    let unknown: Vec<&str> =
        users.iter().filter(|(_, before)| before.is_none()).map(|(ns, _)| ns.label.as_str()).collect();
    if !unknown.is_empty() && !force {
        return Err(Error::Input(format!(
            "`{kernel_name}` is still the default of: {}\n\nhint: `sysctl net.ipv4.tcp_congestion_control=…` there, or \
             `--force` to put CUBIC or Reno in its place",
            unknown.join(", ")
        )));
    }
    let (mut default_in, mut failed) = (Vec::new(), None);
    for (namespace, before) in users {
        match default::restore(&namespace, before.as_deref()) {
            Ok(now) => {
                default_in.push(Changed { namespace: namespace.label, before: kernel_name.clone(), now });
            }
            // One that has gone meanwhile has no default.
            Err(_) if default::get(&namespace).is_err() => {}
            Err(error) => failed = Some(error),
        }
    }
    if let Some(error) = failed {
        return Err(error);
    }
    hand_down(&attached)?;
    let controller = attached.stamp.controller.clone();
    drop(attached);
    unregister(&kernel_name)?;
    Ok(Report { controller, kernel_name, default_in })
}

/// Another controller may have found this one as a default, and remember it: it shall remember what
/// this one found.
fn hand_down(leaving: &Attached) -> Result<(), Error> {
    for other in attached::all()?.0 {
        for namespace in netns::all() {
            if other.remembered(namespace.inode).as_deref() == Some(&leaving.kernel_name) {
                let before = leaving.remembered(namespace.inode);
                other.remember(namespace.inode, before.as_deref().unwrap_or("cubic"))?;
            }
        }
    }
    Ok(())
}

fn find(name: &str) -> Result<Attached, Error> {
    let (all, _) = attached::all()?;
    if attached::pin(name).exists() {
        return Attached::open(name);
    }
    let names: Vec<String> = all.iter().map(|a| a.kernel_name.clone()).collect();
    let own = format!("tr_{name}");
    let mut found: Vec<Attached> =
        all.into_iter().filter(|a| a.kernel_name == own || a.stamp.controller == name).collect();
    if let Some(exact) = found.iter().position(|a| a.kernel_name == own) {
        return Ok(found.swap_remove(exact));
    }
    match found.len() {
        1 => Ok(found.remove(0)),
        0 if names.is_empty() => Err(Error::Input(format!("`{name}` is not attached: nothing is"))),
        0 => Err(Error::Input(format!("`{name}` is not attached (there are: {})", names.join(", ")))),
        _ => {
            let several: Vec<&str> = found.iter().map(|a| a.kernel_name.as_str()).collect();
            Err(Error::Input(format!("`{name}` is attached as {}: which one?", several.join(" and "))))
        }
    }
}

/// Removes the pin, and waits until the kernel has let go of the name.
#[expect(clippy::disallowed_methods, reason = "it waits for the kernel")]
pub(crate) fn unregister(kernel_name: &str) -> Result<(), Error> {
    let pin = attached::pin(kernel_name);
    fs::remove_file(&pin).map_err(|e| Error::Machine(format!("{}: {e}", pin.display())))?;
    for _ in 0..200 {
        if !default::available().iter().any(|name| name == kernel_name) {
            return Ok(());
        }
        thread::sleep(Duration::from_millis(10));
    }
    Err(Error::Machine(format!(
        "the pin of `{kernel_name}` is removed, but the kernel still has it: another process holds its link\n\nhint: \
         `bpftool link` tells which"
    )))
}
