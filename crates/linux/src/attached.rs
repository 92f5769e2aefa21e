//! An attached controller: found again by its pin, with everything that belongs to it.
//!
//! The pin is a link. From it the kernel leads to the struct_ops map, to the programs in it, and to the maps
//! that those use. So an attached controller has only one file in the file system, and appears and disappears
//! atomically.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

use libbpf_rs::query::LinkTypeInfo;
use libbpf_rs::{Link, MapCore, MapFlags, MapHandle, Program};
use nix::fcntl::{Flock, FlockArg};
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::bpffs::{self, FOLDER};
use crate::counters::COUNTERS;
use crate::netns::Namespace;

/// Which version attached what; the JSON in the map `stamp`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Stamp {
    /// The controller's name.
    pub controller: String,
    /// The version of the program that attached it.
    pub version: String,
    /// SHA-256 of the build: see `object::digest`.
    pub digest: String,
    /// The parameters' values.
    pub parameters: BTreeMap<String, u64>,
}

/// An attached controller.
#[derive(Debug)]
pub(crate) struct Attached {
    pub kernel_name: String,
    pub stamp: Stamp,
    programs: Vec<OwnedFd>,
    counters: MapHandle,
    defaults: MapHandle,
}

/// The kernel's own statistics about a hook (`sysctl kernel.bpf_stats_enabled=1`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Hook {
    /// Its function in `bpf/controller.bpf.c`.
    pub name: String,
    /// Calls while the statistics were switched on.
    pub calls: u64,
    /// Their total time, ns, including the statistics' own cost.
    pub run_time_ns: u64,
}

/// The pin of the controller whose kernel name is `name`.
pub(crate) fn pin(name: &str) -> PathBuf {
    Path::new(FOLDER).join(name)
}

/// Waits for its turn: only one process at a time changes what is attached. The kernel releases the lock when
/// the holder dies.
pub(crate) fn lock() -> Result<Flock<File>, Error> {
    bpffs::ensure()?;
    let busy = |error: io::Error| Error::Machine(format!("{FOLDER}: {error}"));
    let folder = File::open(FOLDER).map_err(busy)?;
    Flock::lock(folder, FlockArg::LockExclusive).map_err(|(_, error)| busy(error.into()))
}

/// The counts of an attached controller's wrapper, by the names of [`COUNTERS`]; `name` is its kernel name.
///
/// # Errors
/// If it is not attached.
pub fn counts(name: &str) -> Result<Vec<(&'static str, u64)>, Error> {
    Ok(Attached::open(name)?.counters())
}

/// Every attached controller, by name; and the errors on reading others.
pub(crate) fn all() -> Result<(Vec<Attached>, Vec<Error>), Error> {
    let entries = match fs::read_dir(FOLDER) {
        Ok(entries) => entries,
        Err(e) if e.kind() == io::ErrorKind::NotFound => {
            return bpffs::look().map(|_| (Vec::new(), Vec::new()));
        }
        Err(e) => return Err(permission(&e)),
    };
    bpffs::trust()?;
    let mut names: Vec<String> =
        entries.flatten().map(|e| e.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    let (mut found, mut strange) = (Vec::new(), Vec::new());
    for name in names {
        match Attached::open(&name) {
            Ok(attached) => found.push(attached),
            // It may have been detached since the folder was read.
            Err(_) if !pin(&name).exists() => {}
            Err(error) => strange.push(error),
        }
    }
    Ok((found, strange))
}

fn permission(error: &io::Error) -> Error {
    Error::Machine(format!("{FOLDER}: {error}\n\nhint: run it as root: nobody else can see what is attached"))
}

impl Attached {
    /// The controller attached under `name`.
    pub(crate) fn open(name: &str) -> Result<Self, Error> {
        let path = pin(name);
        let strange = |what: &str| {
            let path = path.display();
            Error::Machine(format!(
                "{path}: {what}\n\nhint: it does not belong to tresse; `rm {path}` removes it"
            ))
        };
        let failed = |e: libbpf_rs::Error| permission(&io::Error::other(e));
        let link = Link::open(&path).map_err(failed)?;
        let info = link.info().map_err(failed)?;
        let LinkTypeInfo::StructOps(info) = info.info else {
            return Err(strange("not a struct_ops link"));
        };
        let map = MapHandle::from_map_id(info.map_id).map_err(failed)?;
        let programs = programs_of(&map);
        let cut = programs.iter().find(|fd| name_of(fd).as_deref() == Some("tresse_cut"));
        let maps = maps_of(cut.ok_or_else(|| strange("not a controller"))?);
        let find = |name: &str| {
            let found = maps.iter().find(|m| m.name() == name);
            found.and_then(|m| MapHandle::try_from(m).ok()).ok_or_else(|| strange("an unknown version"))
        };
        let text = find("stamp")?.lookup(&0u32.to_ne_bytes(), MapFlags::ANY).ok().flatten();
        let text = text.ok_or_else(|| strange("no stamp"))?;
        let end = text.iter().position(|&b| b == 0).unwrap_or(text.len());
        // Another version's stamp may differ; it can still be shown and detached.
        let stamp = serde_json::from_slice(&text[..end]).unwrap_or_default();
        let (counters, defaults) = (find("counters")?, find("defaults")?);
        Ok(Self { kernel_name: name.to_owned(), stamp, programs, counters, defaults })
    }

    /// The counters, summed over the cores.
    pub(crate) fn counters(&self) -> Vec<(&'static str, u64)> {
        let sum = |i: usize| -> u64 {
            let values = self.counters.lookup_percpu(&(i as u32).to_ne_bytes(), MapFlags::ANY);
            let values = values.ok().flatten().unwrap_or_default();
            values.iter().map(|v| u64::from_ne_bytes(v[..8].try_into().expect("eight bytes"))).sum()
        };
        COUNTERS.iter().enumerate().map(|(i, (name, _))| (*name, sum(i))).collect()
    }

    /// The kernel's statistics about the hooks; empty if they were never switched on.
    pub(crate) fn hooks(&self) -> Vec<Hook> {
        let of = |fd: &OwnedFd| {
            let info = info(fd, &mut [])?;
            let (calls, run_time_ns) = (info.run_cnt, info.run_time_ns);
            (calls > 0).then(|| Hook { name: name(&info), calls, run_time_ns })
        };
        self.programs.iter().filter_map(of).collect()
    }

    /// The default that a namespace had before ours.
    pub(crate) fn remembered(&self, namespace: &Namespace) -> Option<String> {
        let cookie = namespace.cookie().ok()?;
        let value = self.defaults.lookup(&cookie.to_ne_bytes(), MapFlags::ANY).ok().flatten()?;
        let end = value.iter().position(|&b| b == 0).unwrap_or(value.len());
        String::from_utf8(value[..end].to_vec()).ok()
    }

    /// Remembers the default that a namespace had.
    pub(crate) fn remember(&self, namespace: &Namespace, name: &str) -> Result<(), Error> {
        let cookie = namespace.cookie()?;
        let mut value = [0; 16];
        value[..name.len().min(15)].copy_from_slice(&name.as_bytes()[..name.len().min(15)]);
        self.defaults
            .update(&cookie.to_ne_bytes(), &value, MapFlags::ANY)
            .map_err(|e| Error::Machine(format!("the old default cannot be remembered: {e}")))
    }
}

/// The programs of a struct_ops map: the kernel puts their numbers in place of the functions' addresses.
fn programs_of(map: &MapHandle) -> Vec<OwnedFd> {
    let value = map.lookup(&0u32.to_ne_bytes(), MapFlags::ANY).ok().flatten().unwrap_or_default();
    value
        .chunks_exact(8)
        .filter_map(|word| u32::try_from(u64::from_ne_bytes(word.try_into().expect("eight bytes"))).ok())
        .filter(|&id| id != 0)
        .filter_map(|id| Program::fd_from_id(id).ok())
        .filter(|fd| name_of(fd).is_some_and(|name| name.starts_with("tresse_")))
        .collect()
}

fn info(fd: &OwnedFd, maps: &mut [u32]) -> Option<libbpf_sys::bpf_prog_info> {
    let mut info = libbpf_sys::bpf_prog_info {
        nr_map_ids: maps.len() as u32,
        map_ids: if maps.is_empty() { 0 } else { maps.as_mut_ptr() as u64 },
        ..Default::default()
    };
    let mut size = size_of_val(&info) as u32;
    // SAFETY: `info` is `size` bytes, and points to `nr_map_ids` words.
    let result = unsafe { libbpf_sys::bpf_prog_get_info_by_fd(fd.as_fd().as_raw_fd(), &mut info, &mut size) };
    (result == 0).then_some(info)
}

fn name_of(fd: &OwnedFd) -> Option<String> {
    Some(name(&info(fd, &mut [])?))
}

/// The name of a program; the kernel keeps 15 bytes of it.
fn name(info: &libbpf_sys::bpf_prog_info) -> String {
    info.name.iter().map(|&c| c as u8 as char).take_while(|&c| c != '\0').collect()
}

fn maps_of(program: &OwnedFd) -> Vec<MapHandle> {
    let mut ids = [0; 64];
    let Some(info) = info(program, &mut ids) else { return Vec::new() };
    let count = (info.nr_map_ids as usize).min(ids.len());
    ids[..count].iter().filter_map(|&id| MapHandle::from_map_id(id).ok()).collect()
}
