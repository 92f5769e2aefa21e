//! A network namespace: the kernel's events in it, and commands to the kernel.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;

use tresse_path_manager::{Memory, Scope};

use super::changed::Changed;
use super::config::Policy;
use super::connection::{Command, Connection, Ends};
use crate::Error;
use crate::netns::Namespace;
use crate::path_manager::{Commands, Event, Events};
use crate::sock_diag::{SockDiag, Subflow};

/// A namespace that the daemon manages.
#[derive(Debug)]
pub(super) struct Host {
    namespace: Namespace,
    /// Its name in the configuration.
    pub name: String,
    events: Events,
    commands: Commands,
    diag: SockDiag,
    /// What is to be put back; `None` if nothing was changed.
    changed: Option<Changed>,
    /// The connections for which a policy has a path manager, by the kernel's names.
    pub connections: BTreeMap<u32, Connection>,
    /// Knowledge about losses: of all connections together, and of those to one host.
    losses: Memory,
    losses_to: BTreeMap<IpAddr, Memory>,
    /// How often events were lost.
    pub lost: u64,
}

/// The live connections in a namespace.
#[derive(Debug, Default)]
pub(super) struct Alive {
    /// The subflows of each connection.
    pub connections: BTreeMap<u32, Vec<Subflow>>,
    /// Ports with a listening socket.
    pub listening: BTreeSet<u16>,
}

impl Host {
    /// Manages a namespace, which the configuration calls `label`. Without `rules` it only listens.
    pub fn open(namespace: Namespace, label: String, rules: bool) -> Result<Self, Error> {
        let failed = |e: io::Error| {
            let hint = match e.kind() {
                io::ErrorKind::PermissionDenied => "run it as root, or with CAP_NET_ADMIN",
                _ => "`tresse doctor` shows what this machine lacks",
            };
            Error::Machine(format!("namespace {label}: its path manager: {e}\n\nhint: {hint}"))
        };
        let (events, commands, diag, changed) = namespace
            .within(|| {
                // Listen first, so that nothing is missed before the list of live connections is read.
                let (events, commands, diag) = (Events::listen()?, Commands::here()?, SockDiag::here()?);
                let changed = if rules { Changed::change()? } else { None };
                Ok((events, commands, diag, changed))
            })?
            .map_err(failed)?;
        if changed.is_some() {
            tracing::info!(
                namespace = label,
                "net.mptcp.pm_type is 1 until the daemon ends: it opens subflows instead of the kernel"
            );
        }
        Ok(Self {
            namespace,
            name: label,
            events,
            commands,
            diag,
            changed,
            connections: BTreeMap::new(),
            losses: Memory::default(),
            losses_to: BTreeMap::new(),
            lost: 0,
        })
    }

    /// Whether the namespace is still the one with its name.
    pub fn is_there(&self) -> bool {
        self.namespace.is_there()
    }

    /// Whether this is its namespace, under whatever name.
    pub fn is(&self, namespace: &Namespace) -> bool {
        self.namespace.inode == namespace.inode
    }

    /// The next event.
    ///
    /// # Errors
    /// `ENOBUFS` if some were lost.
    pub fn event(&mut self) -> io::Result<Option<Event>> {
        self.events.poll()
    }

    /// The connection with this name, and its knowledge about losses.
    pub fn connection(&mut self, token: u32) -> Option<(&mut Connection, &mut Memory)> {
        let connection = self.connections.get_mut(&token)?;
        let pair = connection.policy.manager.as_ref().and_then(|own| own.remembers()) == Some(Scope::Pair);
        let losses = match pair {
            true => self.losses_to.entry(connection.ends.1.ip()).or_default(),
            false => &mut self.losses,
        };
        Some((connection, losses))
    }

    /// The connections that are live now.
    pub fn alive(&mut self) -> io::Result<Alive> {
        let mut alive = Alive { listening: self.diag.listening()?, ..Alive::default() };
        for subflow in self.diag.subflows()? {
            alive.connections.entry(subflow.token).or_default().push(subflow);
        }
        Ok(alive)
    }

    /// The subflows of the managed connections.
    pub fn subflows(&mut self) -> io::Result<Vec<Subflow>> {
        let mut all = self.diag.subflows()?;
        all.retain(|own| self.connections.contains_key(&own.token));
        Ok(all)
    }

    /// A subflow as it is now; `None` if it has ended.
    pub fn subflow(&mut self, ends: Ends) -> io::Result<Option<Subflow>> {
        self.diag.subflow(ends)
    }

    /// The control group of a connection's first socket.
    pub fn cgroup(&mut self, token: u32) -> Option<u64> {
        self.diag.subflows().ok()?.into_iter().find(|own| own.token == token)?.cgroup
    }

    /// Executes a command.
    pub fn execute(&mut self, token: u32, command: Command) -> io::Result<()> {
        match command {
            Command::Open { from, id, to } => self.commands.create(token, id, from, to),
            Command::Close((local, remote)) => self.commands.destroy(token, local, remote),
            Command::SetBackup((local, remote), backup) => {
                self.commands.set_backup(token, local, remote, backup)
            }
        }
    }

    /// Forgets what it has changed: the namespace is gone.
    pub fn forget(&mut self) {
        if let Some(changed) = self.changed.take() {
            changed.forget();
        }
    }
}

impl Drop for Host {
    /// Restores who decides about subflows, also if the daemon fails.
    fn drop(&mut self) {
        if let Some(changed) = self.changed.take() {
            // A namespace that is gone needs no restoring.
            let _ = self.namespace.within(|| changed.put_back());
        }
    }
}

impl AsFd for Host {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.events.as_fd()
    }
}

impl Alive {
    /// Whether this host has opened the connection: no socket listens on its port here.
    pub fn is_opened_here(&self, token: u32) -> bool {
        let first = self.connections.get(&token).and_then(|all| all.first());
        first.is_some_and(|own| !self.listening.contains(&own.local.port()))
    }

    /// The ends of a connection's subflows.
    pub fn ends(&self, token: u32) -> Vec<Ends> {
        self.connections.get(&token).into_iter().flatten().map(|own| (own.local, own.remote)).collect()
    }
}

/// The rule of a connection, if a rule has a path manager for it.
pub(super) fn policy<'a>(
    policies: &'a [Arc<Policy>],
    namespace: &str,
    remote: SocketAddr,
    cgroup: impl FnOnce() -> Option<u64>,
) -> Option<&'a Arc<Policy>> {
    let cgroup = if policies.iter().any(|own| own.cgroup.is_some()) { cgroup() } else { None };
    policies.iter().find(|own| own.meets(namespace, remote, cgroup)).filter(|own| own.manager.is_some())
}
