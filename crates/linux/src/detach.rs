//! `tresse detach`: first restores the defaults, then removes the congestion control.

use std::time::Duration;
use std::{fs, thread};

use nix::sys::signal::kill;
use nix::unistd::Pid;
use serde::Serialize;

use crate::attach::{Changed, check_letters, kernel_name};
use crate::attached::{self, Attached};
use crate::netns::{self, Namespace};
use crate::{Error, default, sockets};

/// The result of `detach`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    pub controller: String,
    /// Its name in the kernel, which is free now.
    pub kernel_name: String,
    /// The namespaces whose default was restored.
    pub default_in: Vec<Changed>,
    /// How many sockets still use it, in every visible namespace; they keep it until they close.
    pub sockets_left: usize,
}

/// Removes the controller called `name`, by its own name or by its kernel name.
///
/// Sockets that use it keep it until they are closed.
///
/// # Errors
/// If nothing with this name is attached, if it belongs to a testbed that runs, or if it is still the default of a
/// namespace whose former default is unknown; nothing is changed then. `force` detaches it all the same, and gives such a
/// namespace CUBIC, or otherwise Reno.
pub fn detach(name: &str, force: bool) -> Result<Report, Error> {
    check_letters(name)?;
    let _lock = attached::lock()?;
    let attached = find(name)?;
    let kernel_name = attached.kernel_name.clone();
    if let Some(process) = process_of(&kernel_name).filter(|process| is_running(*process) && !force) {
        return Err(Error::Input(format!(
            "`{kernel_name}` belongs to the testbed that process {process} runs, and is detached when it ends\n\nhint: end \
             the testbed, or `--force` to take it away: new connections of its hosts then fail"
        )));
    }
    let users: Vec<(Namespace, Option<String>)> = netns::all()
        .into_iter()
        .filter(|namespace| default::get(namespace).is_ok_and(|d| d == kernel_name))
        .map(|namespace| {
            let before = attached.remembered(&namespace);
            (namespace, before)
        })
        .collect();
    let unknown: Vec<&str> =
        users.iter().filter(|(_, before)| before.is_none()).map(|(ns, _)| ns.label.as_str()).collect();
    if !unknown.is_empty() && !force {
        return Err(Error::Input(format!(
            "`{kernel_name}` is still the default of: {}\n\nhint: `sysctl net.ipv4.tcp_congestion_control=…` there, or \
             `--force` to replace it by CUBIC or Reno",
            unknown.join(", ")
        )));
    }
    let (mut default_in, mut failed) = (Vec::new(), None);
    for (namespace, before) in users {
        match default::restore(&namespace, before.as_deref()) {
            Ok(now) => {
                default_in.push(Changed { namespace: namespace.label, before: kernel_name.clone(), now });
            }
            // A namespace that has gone meanwhile has no default.
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
    // It is only told; whoever cannot be listed is not counted.
    let sockets_left = sockets::list(&[&kernel_name], &netns::all()).map_or(0, |all| all.len());
    unregister(&kernel_name)?;
    Ok(Report { controller, kernel_name, default_in, sockets_left })
}

/// The prefix of the kernel's names of controllers that a process attaches for its testbed, before its number.
const OF_PROCESS: &str = "tb";

/// The kernel's name for the `place`-th controller that this process attaches for its testbed.
pub fn name_in_testbed(place: usize) -> String {
    format!("{OF_PROCESS}{}_{place}", std::process::id())
}

/// The process that has attached the controller with this name for its testbed; it may be gone.
pub fn process_of(kernel_name: &str) -> Option<i32> {
    let (process, place) = kernel_name.strip_prefix(OF_PROCESS)?.split_once('_')?;
    place.parse::<usize>().ok().and(process.parse().ok())
}

fn is_running(process: i32) -> bool {
    kill(Pid::from_raw(process), None).is_ok()
}

/// Another controller may have found this one as a default and remember it: it should remember the default
/// that this one found.
fn hand_down(leaving: &Attached) -> Result<(), Error> {
    for other in attached::all()?.0 {
        for namespace in netns::all() {
            if other.remembered(&namespace).as_deref() == Some(&leaving.kernel_name) {
                let before = leaving.remembered(&namespace);
                other.remember(&namespace, before.as_deref().unwrap_or("cubic"))?;
            }
        }
    }
    Ok(())
}

fn find(name: &str) -> Result<Attached, Error> {
    let (mut all, _) = attached::all()?;
    if attached::pin(name).exists() {
        return Attached::open(name);
    }
    let names: Vec<_> = all.iter().map(|a| (&*a.kernel_name, &*a.stamp.controller)).collect();
    let chosen = choose(name, &names)?;
    Ok(all.swap_remove(chosen))
}

/// Which of `attached`, each a kernel name and its controller's name, is meant by the controller name `name`:
/// the only one of that controller, or the one whose kernel name `attach` chose itself.
fn choose(name: &str, attached: &[(&str, &str)]) -> Result<usize, Error> {
    let own = kernel_name(name);
    let of_it: Vec<usize> = (0..attached.len()).filter(|&i| attached[i].1 == name).collect();
    let under_own = attached.iter().position(|&(kernel_name, _)| kernel_name == own);
    let names = |separator: &str, which: &[usize]| {
        which.iter().map(|&i| attached[i].0).collect::<Vec<_>>().join(separator)
    };
    match (&*of_it, under_own) {
        (&[only], _) => Ok(only),
        // No stamp names the controller.
        ([], Some(own)) => Ok(own),
        (several, Some(own)) if several.contains(&own) => Ok(own),
        ([], None) if attached.is_empty() => {
            Err(Error::Input(format!("`{name}` is not attached: nothing is")))
        }
        ([], None) => {
            let all: Vec<usize> = (0..attached.len()).collect();
            Err(Error::Input(format!("`{name}` is not attached (available: {})", names(", ", &all))))
        }
        (several, _) => {
            let several = names(" and ", several);
            Err(Error::Input(format!("`{name}` is attached as {several}: name one of them")))
        }
    }
}

/// Removes the pin, and waits until the kernel has released the name.
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
         `bpftool link` shows which"
    )))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use tresse_controllers::{Controller, built_in};

    use super::choose;
    use crate::attach::{NAME_MAX, kernel_name};

    /// Every name that `attach` accepts, including second names, with the kernel name that it chooses.
    fn attachable() -> Vec<(String, &'static str)> {
        let controllers = built_in().into_iter().filter(Controller::attachable);
        controllers.map(|c| (kernel_name(c.name()), c.name())).collect()
    }

    /// A name that does not fit the kernel is shortened; this must not give two controllers the same name.
    #[test]
    fn every_controller_has_a_kernel_name_of_its_own() {
        let attachable = attachable();
        let names: BTreeSet<_> = attachable.iter().map(|(kernel_name, _)| kernel_name).collect();
        assert!(names.iter().all(|name| name.len() <= NAME_MAX && name.starts_with("tr_")), "{names:?}");
        assert_eq!(names.len(), attachable.len(), "{names:?}");
    }

    #[test]
    fn what_attach_called_is_found_by_the_same_name() {
        let attachable = attachable();
        let all: Vec<_> = attachable.iter().map(|(kernel_name, name)| (&**kernel_name, *name)).collect();
        for (i, (kernel_name, name)) in attachable.iter().enumerate() {
            // Next to all others, and if its stamp cannot be read.
            assert_eq!(choose(name, &all).expect("each has its own"), i, "{name}");
            assert_eq!(choose(name, &[("tr_other", ""), (kernel_name, "")]).expect("one of it"), 1);
        }
        for (name, expected) in
            [("newreno", "tr_newreno"), ("holnet_cc_ecn", "tr_hccecn"), ("holnet_cc_cos_ecn", "tr_hcccosecn")]
        {
            assert!(all.contains(&(expected, name)), "{all:?}");
        }
    }

    #[test]
    fn what_attach_was_told_to_call_is_found_too() {
        let attached =
            [("mine", "lia"), ("tr_lia", "xmp"), ("yours", "xmp"), ("tr_reno", "reno"), ("r", "reno")];
        assert_eq!(choose("lia", &attached).expect("one of it"), 0);
        assert_eq!(choose("reno", &attached).expect("one has its own name"), 3);
        let refused = |name, attached| choose(name, attached).expect_err("it is not clear").to_string();
        assert_eq!(refused("xmp", &attached), "`xmp` is attached as tr_lia and yours: name one of them");
        assert_eq!(refused("bos", &attached[..2]), "`bos` is not attached (available: mine, tr_lia)");
        assert_eq!(refused("bos", &[]), "`bos` is not attached: nothing is");
        // Another version's stamp is empty.
        assert_eq!(choose("bos", &[("tr_bos", "")]).expect("by its name in the kernel"), 0);
    }
}
