//! The marker's filter at the egress of a device's `clsact` queueing discipline.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use libbpf_rs::query::{ProgInfoIter, ProgInfoQueryOptions, ProgramInfo};
use libbpf_rs::{ErrorKind, Program, TC_EGRESS, TC_INGRESS, TcHook, TcHookBuilder};

use super::no_netlink;
use crate::Error;
use crate::netlink::{self, Link};

/// Handle, priority and program name together identify our filter. The priority is larger than those that the
/// kernel assigns (up to 49152): filters before ours may set the packet mark that selects a class.
const HANDLE: u32 = 0x7472;
const PRIORITY: u32 = 50_000;
const PROGRAM: &str = "tresse_mark";

/// `TC_H_CLSACT`, and the parents of its filters.
const CLSACT: u32 = 0xffff_fff1;
const INGRESS: u32 = 0xffff_fff2;
const EGRESS: u32 = 0xffff_fff3;

/// Our program on the device, if there is one.
pub(super) fn program(link: &Link) -> Result<Option<ProgramInfo>, Error> {
    if netlink::qdisc(link.index, CLSACT).map_err(no_netlink)?.as_deref() != Some("clsact") {
        return Ok(None);
    }
    let filters = netlink::filters(link.index, EGRESS).map_err(no_netlink)?;
    let Some(ours) = filters.iter().find(|f| f.handle == HANDLE && f.priority == PRIORITY) else {
        return Ok(None);
    };
    // The list of programs is silently empty without the permission to see them.
    if let Err(e) = Program::fd_from_id(ours.program_id)
        && e.kind() == ErrorKind::PermissionDenied
    {
        return Err(failure(link, "reading the marker", e.kind(), &e));
    }
    let query = ProgInfoQueryOptions::default().include_map_ids(true);
    let mut programs = ProgInfoIter::with_query_opts(query);
    Ok(programs.find(|p| p.id == ours.program_id && p.name == PROGRAM))
}

/// Attaches the program; leaves no `clsact` behind if that fails.
pub(super) fn attach(link: &Link, program: &Program<'_>) -> Result<(), Error> {
    match netlink::qdisc(link.index, CLSACT).map_err(no_netlink)?.as_deref() {
        None => {
            hook(link, program.as_fd())
                .create()
                .map_err(|e| failure(link, "the qdisc clsact", e.kind(), &e))?;
            let result = fasten(link, program);
            if result.is_err() {
                remove_clsact(link, program.as_fd())?;
            }
            result
        }
        Some("clsact") => fasten(link, program),
        Some(other) => Err(Error::Input(format!(
            "{0} has the qdisc `{other}`, which sees no outgoing packets\n\n\
             hint: `tc qdisc del dev {0} {other}`; clsact, which replaces it, has ingress filters too",
            link.name
        ))),
    }
}

fn fasten(link: &Link, program: &Program<'_>) -> Result<(), Error> {
    match hook(link, program.as_fd()).attach() {
        Ok(_) => Ok(()),
        Err(e) if e.kind() == ErrorKind::AlreadyExists => Err(Error::Input(format!(
            "{} has a foreign filter with the marker's priority {PRIORITY} and handle {HANDLE:#x}\n\n\
             hint: `tc filter show dev {} egress`",
            link.name, link.name
        ))),
        Err(e) => Err(failure(link, "the filter", e.kind(), &e)),
    }
}

/// Removes our filter, which [`program`] has found, and `clsact` if nothing else is there.
pub(super) fn detach(link: &Link) -> Result<(), Error> {
    // libbpf needs a file for a hook, but reads it only to attach.
    let input = io::stdin();
    hook(link, input.as_fd()).detach().map_err(|e| failure(link, "the filter", e.kind(), &e))?;
    for parent in [INGRESS, EGRESS] {
        if !netlink::filters(link.index, parent).map_err(no_netlink)?.is_empty() {
            return Ok(());
        }
    }
    remove_clsact(link, input.as_fd())
}

fn remove_clsact(link: &Link, file: BorrowedFd<'_>) -> Result<(), Error> {
    let result = hook(link, file).attach_point(TC_EGRESS | TC_INGRESS).destroy();
    result.map_err(|e| failure(link, "the qdisc clsact", e.kind(), &e))
}

fn hook(link: &Link, file: BorrowedFd<'_>) -> TcHook {
    TcHookBuilder::new(file).ifindex(link.index).handle(HANDLE).priority(PRIORITY).hook(TC_EGRESS)
}

/// The meaning of the kernel's refusal.
fn failure(link: &Link, what: &str, kind: ErrorKind, error: &libbpf_rs::Error) -> Error {
    let hint = match kind {
        // The answer of a kernel with neither the feature nor its module.
        ErrorKind::NotFound => {
            "the kernel needs CONFIG_NET_SCH_INGRESS and CONFIG_NET_CLS_BPF (modules sch_ingress, cls_bpf)"
        }
        ErrorKind::PermissionDenied => {
            "it needs root, or CAP_SYS_ADMIN, on the whole machine: within a user namespace is not enough"
        }
        _ => "`dmesg` may say more",
    };
    Error::Machine(format!("{}: the kernel refused {what}: {error}\n\nhint: {hint}", link.name))
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::{Error, failure};
    use crate::netlink::Link;

    #[test]
    fn a_kernel_without_clsact_is_told_what_it_needs() {
        let link = Link { index: 1, name: "eth0".into(), mtu: 1500, gso_max_segs: 1 };
        for (errno, hint) in [
            (libc::ENOENT, "CONFIG_NET_SCH_INGRESS"),
            (libc::EPERM, "CAP_SYS_ADMIN"),
            (libc::ENOMEM, "dmesg"),
        ] {
            let error = libbpf_rs::Error::from(io::Error::from_raw_os_error(errno));
            let Error::Machine(message) = failure(&link, "the qdisc clsact", error.kind(), &error) else {
                panic!("the machine's turn");
            };
            assert!(message.starts_with("eth0: ") && message.contains(hint), "{message}");
        }
    }
}
