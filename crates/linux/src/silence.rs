//! Alarms about subflows that have data in flight and hear nothing (`bpf/silence.bpf.c`).

use std::cell::RefCell;
use std::ffi::OsStr;
use std::fmt;
use std::fs::{self, File};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::rc::Rc;

use libbpf_rs::{Link, MapCore, MapFlags, Object, RingBuffer, RingBufferBuilder};
use tresse_units::{NANOSECOND, Time};

use crate::{Error, object};

/// A subflow has heard nothing for as long as its connection allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Alarm {
    /// Its last ACK of new data, on the monotonic clock.
    pub heard: Time,
    /// Its connection.
    pub token: u32,
    pub ports: (u16, u16),
}

/// The program at work: until this is dropped.
pub(crate) struct Silence {
    ring: RingBuffer<'static>,
    alarms: Rc<RefCell<Vec<Alarm>>>,
    _link: Link,
    object: Object,
}

impl Silence {
    /// For the sockets that are opened from now on, in all network namespaces.
    ///
    /// # Errors
    /// Without cgroup v2, the permission (CAP_BPF, CAP_PERFMON and CAP_NET_ADMIN), or a kernel whose verifier accepts it.
    pub fn listen() -> Result<Self, Error> {
        let failed = |e: libbpf_rs::Error| Error::Machine(format!("alarms about silent subflows: {e}"));
        let root = root()?;
        let object = object::load(object::open(object::SILENCE, None)?, None)?;
        let program = object.progs_mut().next().expect("the object has one program");
        let link = program.attach_cgroup(root.as_raw_fd()).map_err(failed)?;
        let alarms = Rc::new(RefCell::new(Vec::new()));
        let ring = {
            let alarms = Rc::clone(&alarms);
            let map = map(&object, "alarms");
            let mut ring = RingBufferBuilder::new();
            ring.add(&map, move |bytes| {
                alarms.borrow_mut().extend(alarm(bytes));
                0
            })
            .map_err(failed)?;
            ring.build().map_err(failed)?
        };
        Ok(Self { ring, alarms, _link: link, object })
    }

    /// Reports the subflows of this connection that are silent for so long; `None`: for twice their smoothed RTT.
    pub fn watch(&self, token: u32, silence: Option<Time>) {
        let ns = silence.map_or(0, |silence| (silence / NANOSECOND).max(1));
        // If this fails, its subflows are found silent at the next look.
        let _ = map(&self.object, "watched").update(&token.to_ne_bytes(), &ns.to_ne_bytes(), MapFlags::ANY);
    }

    /// Reports no more about it.
    pub fn forget(&self, token: u32) {
        let _ = map(&self.object, "watched").delete(&token.to_ne_bytes());
    }

    /// The alarms since the last call.
    pub fn take(&self) -> Vec<Alarm> {
        // An error leaves them for the next time.
        let _ = self.ring.consume();
        self.alarms.take()
    }
}

impl AsFd for Silence {
    fn as_fd(&self) -> BorrowedFd<'_> {
        // SAFETY: the ring buffer keeps it open.
        unsafe { BorrowedFd::borrow_raw(self.ring.epoll_fd()) }
    }
}

impl fmt::Debug for Silence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Silence").finish_non_exhaustive()
    }
}

fn map<'a>(object: &'a Object, name: &str) -> libbpf_rs::Map<'a> {
    object.maps().find(|map| map.name() == OsStr::new(name)).expect("the object has the map")
}

/// `struct alarm`.
fn alarm(bytes: &[u8]) -> Option<Alarm> {
    let heard = u64::from_ne_bytes(bytes.get(..8)?.try_into().ok()?);
    let token = crate::netlink::word(bytes, 8)?;
    let port = |at| crate::netlink::half(bytes, at);
    Some(Alarm { heard: heard * NANOSECOND, token, ports: (port(12), port(14)) })
}

/// The root of the control groups (version 2), by the mounts that this process sees.
fn root() -> Result<File, Error> {
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let mut fields = mounts.lines().map(|line| line.split(' '));
    let place = fields.find_map(|mut field| {
        let (place, kind) = (field.nth(1)?, field.next()?);
        (kind == "cgroup2").then_some(place)
    });
    let place = place.ok_or_else(|| {
        Error::Machine("alarms about silent subflows: control groups of version 2 are not mounted".to_owned())
    })?;
    File::open(place).map_err(|e| Error::Machine(format!("alarms about silent subflows: {place}: {e}")))
}
