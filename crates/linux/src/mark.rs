//! ECN marks for devices whose queue sets none: a virtual queue at the egress of a device.
//!
//! [`add`] puts an eBPF program (`bpf/mark.bpf.c`) behind a `clsact` queueing discipline of the
//! device. It computes how long the queue would be if the link had a given rate
//! (`bpf/virtual_queue.h`) and sets CE on ECN-capable packets that would find more than K there
//! (XMP §2.1; with classes of service, vMCC §V-A). Nothing is pinned: the filter owns the program,
//! the program its maps, and [`show`] and [`del`] find them through the filter.

mod filter;
mod queue;
mod settings;

use libbpf_rs::{MapCore, MapFlags, MapHandle};
use nix::unistd::geteuid;
use serde::Serialize;

pub use settings::{CLASSES, Class, Length, MAX_THRESHOLD, MAX_WEIGHT, Match, RATES, Settings};

use crate::netlink::{self, Link};
use crate::netns::Namespace;
use crate::{Error, object};
use queue::{Setup, Shared, from_bytes};

/// Bytes of an Ethernet header.
const ETHERNET: u32 = 14;

/// A device's marker and its counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Marker {
    pub device: String,
    /// The rate of the link that it represents, bit/s.
    pub rate_bps: u64,
    /// K of the whole queue, bytes.
    pub threshold_bytes: u32,
    /// How many segments a packet of the device may hold. Above 1, a mark applies to all of them.
    pub gso_max_segs: u32,
    /// The kernel's number of the program.
    pub program_id: u32,
    /// The default class, then the others in order.
    pub classes: Vec<ClassStatus>,
}

/// A class and its counts. Packets are packets on the wire.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ClassStatus {
    pub name: String,
    /// Its packets; the default class takes the rest.
    #[serde(rename = "match")]
    pub rule: Option<Match>,
    pub weight: u32,
    /// Its threshold at this moment, bytes.
    pub threshold_bytes: u32,
    /// The length of its virtual queue at this moment, bytes.
    pub backlog_bytes: u64,
    /// Packets that passed.
    pub packets: u64,
    /// Their bytes, Ethernet headers included.
    pub bytes: u64,
    /// Packets that got CE here.
    pub marked_pkts: u64,
    /// Packets above the threshold that are not ECN-capable and stayed as they were.
    pub not_ect_pkts: u64,
}

/// Puts a marker on a device, in the network namespace `netns` of `ip netns` or in the caller's.
///
/// # Errors
/// For settings out of range, a device that does not exist or already has a marker, a missing permission, or
/// a kernel without `clsact` or eBPF filters. The device is then unchanged.
pub fn add(device: &str, settings: &Settings, netns: Option<&str>) -> Result<Marker, Error> {
    settings.check()?;
    enter(netns, || {
        let link = link(device)?;
        if marker(&link)?.is_some() {
            return Err(Error::Input(format!(
                "{device} already has a marker\n\nhint: `tresse mark del {device}` first"
            )));
        }
        let setup = Setup::new(settings, link.mtu + ETHERNET)?;
        let mut open = object::open(object::MARK, None)?;
        object::set(&mut open, ".rodata.marker", |bytes| bytes.copy_from_slice(queue::as_bytes(&setup)));
        let object = object::load(open, None)?;
        let program = object.progs().next().expect("the object has one program");
        filter::attach(&link, &program)?;
        marker(&link)?.ok_or_else(|| Error::Machine(format!("the marker of {device} vanished")))
    })
}

/// Removes the marker from a device, and the `clsact` queueing discipline too if nothing else is there.
///
/// # Errors
/// If the device does not exist or has no marker, or without the permission.
pub fn del(device: &str, netns: Option<&str>) -> Result<(), Error> {
    enter(netns, || {
        let link = link(device)?;
        if filter::program(&link)?.is_none() {
            let elsewhere = if netns.is_none() { "; `--netns` for another namespace" } else { "" };
            return Err(Error::Input(format!(
                "{device} has no marker\n\nhint: `tresse mark show` lists those that have{elsewhere}"
            )));
        }
        filter::detach(&link)
    })
}

/// The marker of a device if it has one, or those of all devices.
///
/// # Errors
/// If the device does not exist, or without the permission.
pub fn show(device: Option<&str>, netns: Option<&str>) -> Result<Vec<Marker>, Error> {
    enter(netns, || {
        let links = match device {
            Some(device) => vec![link(device)?],
            None => netlink::links().map_err(no_netlink)?,
        };
        links.iter().filter_map(|l| marker(l).transpose()).collect()
    })
}

/// Runs `f` in the namespace, if this process has the permissions that it needs.
fn enter<T: Send>(netns: Option<&str>, f: impl FnOnce() -> Result<T, Error> + Send) -> Result<T, Error> {
    if !geteuid().is_root() {
        return Err(Error::Machine(
            "a marker is an eBPF program in the kernel, and only root may see or change it\n\n\
             hint: run it again with sudo"
                .into(),
        ));
    }
    match netns {
        Some(name) => Namespace::named(name)?.within(f)?,
        None => f(),
    }
}

fn no_netlink(error: std::io::Error) -> Error {
    Error::Machine(format!("the network devices cannot be listed (rtnetlink): {error}"))
}

fn link(name: &str) -> Result<Link, Error> {
    let links = netlink::links().map_err(no_netlink)?;
    let found = links.iter().find(|l| l.name == name).cloned();
    found.ok_or_else(|| {
        let names: Vec<_> = links.iter().map(|l| &*l.name).collect();
        Error::Input(format!("there is no network device `{name}` (available: {})", names.join(", ")))
    })
}

/// The marker of a device, if it has one.
fn marker(link: &Link) -> Result<Option<Marker>, Error> {
    let Some(program) = filter::program(link)? else { return Ok(None) };
    let device = &link.name;
    let foreign = || {
        Error::Machine(format!(
            "the marker of {device} is from another version\n\nhint: `tresse mark del {device}`, then add it again"
        ))
    };
    let (mut setup, mut shared) = (None, None);
    for id in &program.map_ids {
        let map = MapHandle::from_map_id(*id)
            .map_err(|e| Error::Machine(format!("the map {id} of {device}'s marker cannot be read: {e}")))?;
        // The kernel takes the lock, so a packet never changes the state halfway.
        let read = |flags| map.lookup(&0u32.to_ne_bytes(), flags).ok().flatten();
        match map.name().to_str() {
            Some(".rodata.marker") => {
                setup = read(MapFlags::ANY).and_then(|b| from_bytes::<Setup>(&b));
            }
            Some("tresse_queue") => shared = read(MapFlags::LOCK).and_then(|b| from_bytes::<Shared>(&b)),
            _ => {}
        }
    }
    let (setup, mut shared) = (setup.ok_or_else(foreign)?, shared.ok_or_else(foreign)?);
    shared.queue.drain(&setup.queue, monotonic_ns());
    let class = |i: usize| ClassStatus {
        name: setup.rules[i].name(),
        rule: setup.rules[i].matches(),
        weight: setup.queue.class[i].weight,
        threshold_bytes: shared.queue.threshold(&setup.queue, i),
        backlog_bytes: shared.queue.backlog(i),
        packets: shared.counters[i].packets,
        bytes: shared.counters[i].bytes,
        marked_pkts: shared.counters[i].marked,
        not_ect_pkts: shared.counters[i].not_ect,
    };
    Ok(Some(Marker {
        device: device.clone(),
        rate_bps: setup.rate,
        threshold_bytes: setup.queue.threshold,
        gso_max_segs: link.gso_max_segs,
        program_id: program.id,
        classes: (0..queue::SLOTS.min(setup.queue.classes as usize)).map(class).collect(),
    }))
}

/// The clock of `bpf_ktime_get_ns`.
fn monotonic_ns() -> u64 {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the kernel fills `t`; this clock always exists.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut t) };
    t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
}

#[cfg(test)]
mod tests;
