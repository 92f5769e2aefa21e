//! `tresse daemon`: path managers on a live host.
//!
//! The machines of `crates/path-manager` decide. The kernel reports connections and opens and closes their
//! subflows ([`crate::path_manager`]), and its list of sockets has the data that the machines need. One
//! thread waits for everything: events of every namespace, timers, signals, and requests for the status.

mod alarms;
mod changed;
mod config;
mod connection;
mod control;
mod host;
mod metrics;
#[cfg(test)]
mod noise;
mod reason;
mod run;
mod status;

use std::collections::{BTreeSet, VecDeque};
use std::io;
use std::sync::Arc;

use tresse_path_manager::Memory;
use tresse_units::{SECOND, SplitMix, Time};

use crate::Error;
use crate::netns::Namespace;
use crate::path_manager::Event;
use alarms::Alarms;
pub use config::{Config, Policy, SOCKET};
use connection::{Command, Connection, Decision, Ends};
pub use control::ask;
use host::{Host, policy};
pub use metrics::text as metrics;
pub use run::run;
pub use status::{Counters, Outcome, Record, Status};

/// How often it looks for connections that have ended; less often if this would cost more than 1 % of a core.
const SURVEY: Time = 10 * SECOND;

/// Decisions that are remembered for `tresse status`.
const REMEMBERED: usize = 200;

/// The daemon's state.
#[derive(Debug)]
struct Daemon {
    config: Config,
    hosts: Vec<Host>,
    /// If the configuration asks for them.
    alarms: Option<Alarms>,
    /// Decides but does nothing.
    dry_run: bool,
    counters: Counters,
    records: VecDeque<Record>,
    random: SplitMix,
    /// Subflows that may still be opened in this second.
    budget: u32,
    /// When the second ends.
    second: Time,
    /// When it next looks for connections that have ended.
    survey_at: Time,
}

impl Daemon {
    fn new(config: Config, dry_run: bool, seed: u64, now: Time) -> Result<Self, Error> {
        let mut daemon = Self {
            budget: config.subflows_per_s,
            alarms: config.alarms.then(Alarms::listen).transpose()?,
            config,
            hosts: Vec::new(),
            dry_run,
            counters: Counters::default(),
            records: VecDeque::new(),
            random: SplitMix::new(seed),
            second: now + SECOND,
            survey_at: now + SURVEY,
        };
        for name in daemon.config.namespaces.clone() {
            daemon.open(name.as_deref(), now)?;
        }
        if !dry_run {
            changed::put_back_others();
        }
        Ok(daemon)
    }

    /// Manages the namespace with this name; `None` is the daemon's own.
    fn open(&mut self, name: Option<&str>, now: Time) -> Result<(), Error> {
        let namespace = name.map_or_else(Namespace::current, Namespace::named)?;
        let label = name.unwrap_or(config::OWN);
        if let Some(host) = self.hosts.iter().find(|host| host.is(&namespace)) {
            return Err(Error::Input(format!(
                "`{label}` and `{}` in `namespaces` are the same network namespace: name it once",
                host.name
            )));
        }
        self.hosts.push(Host::open(namespace, label.to_owned(), !self.dry_run)?);
        self.synchronise(self.hosts.len() - 1, now);
        Ok(())
    }

    /// Reads the events of a namespace. If some were lost, it looks at all live connections after reading the
    /// remaining events: these may show connections whose end was lost.
    fn hear(&mut self, host: usize, now: Time) {
        let (mut events, mut lost) = (Vec::new(), false);
        loop {
            match self.hosts[host].event() {
                Ok(Some(event)) => events.push(event),
                Ok(None) => break,
                Err(e) => {
                    tracing::warn!(
                        namespace = self.hosts[host].name,
                        "events were lost ({e}): checking all connections"
                    );
                    self.hosts[host].lost += 1;
                    lost = true;
                    if e.raw_os_error() != Some(libc::ENOBUFS) {
                        break;
                    }
                }
            }
        }
        // Connections that have ended meanwhile need nothing any more.
        let ended = events.iter().filter_map(|event| match event {
            Event::Closed { token } => Some(*token),
            _ => None,
        });
        let ended: BTreeSet<u32> = ended.collect();
        for event in events {
            match event {
                Event::Established { token, accepted, .. } if ended.contains(&token) => {
                    self.counters.connections += u64::from(!accepted);
                }
                event => self.handle(host, event, now),
            }
        }
        if lost {
            self.synchronise(host, now);
        }
    }

    fn handle(&mut self, host: usize, event: Event, now: Time) {
        match event {
            Event::Established { token, local, remote, accepted: false } => {
                self.counters.connections += 1;
                // Events about connections found at the first look may still arrive later.
                if self.hosts[host].connections.contains_key(&token) {
                    return;
                }
                self.meet(host, token, (local, remote), Vec::new(), now);
            }
            Event::Established { accepted: true, .. } => {}
            Event::Closed { token } => {
                self.hosts[host].connections.remove(&token);
                if let Some(alarms) = &self.alarms {
                    alarms.forget(token);
                }
            }
            Event::Joined { token, local, remote } => {
                self.change(host, token, |own, losses| own.joined((local, remote), now, losses));
            }
            Event::Gone { token, local, remote } => {
                self.change(host, token, |own, losses| own.gone((local, remote), now, losses));
            }
        }
    }

    /// A connection of this host exists: applies its rule.
    fn meet(&mut self, host: usize, token: u32, first: Ends, others: Vec<Ends>, now: Time) {
        let own = &mut self.hosts[host];
        let name = own.name.clone();
        let Some(policy) = policy(&self.config.policies, &name, first.1, || own.cgroup(token)) else {
            return;
        };
        self.counters.managed += 1;
        let connection = Connection::new(Arc::clone(policy), first, others, self.random.next());
        own.connections.insert(token, connection);
        self.change(host, token, |own, losses| own.start(now, losses));
    }

    /// Changes a connection, and carries out the resulting decisions of its path manager.
    fn change(
        &mut self,
        host: usize,
        token: u32,
        change: impl FnOnce(&mut Connection, &mut Memory) -> Vec<Decision>,
    ) {
        let Some((connection, losses)) = self.hosts[host].connection(token) else { return };
        let mut decisions = VecDeque::from(change(connection, losses));
        if let Some(alarms) = &self.alarms
            && let Some(limit) = connection.take_silence()
        {
            alarms.watch(token, limit);
        }
        let now = run::now();
        while let Some(decision) = decisions.pop_front() {
            let done = self.execute(host, token, &decision);
            let is_open = matches!(decision.command, Command::Open { .. });
            if is_open
                && matches!(done, Outcome::Refused(_))
                && let Some((connection, losses)) = self.hosts[host].connection(token)
            {
                decisions.extend(connection.lost(decision.subflow, now, losses));
            }
            self.record(host, token, decision, done);
        }
    }

    fn execute(&mut self, host: usize, token: u32, decision: &Decision) -> Outcome {
        if self.dry_run {
            return Outcome::Not;
        }
        if matches!(decision.command, Command::Open { .. })
            && let Err(limit) = self.permit(host, token, decision.subflow)
        {
            self.counters.limited += 1;
            return Outcome::Refused(limit);
        }
        match self.hosts[host].execute(token, decision.command) {
            Ok(()) => {
                self.budget -= u32::from(matches!(decision.command, Command::Open { .. }));
                Outcome::Yes
            }
            Err(e) => {
                self.counters.refused += 1;
                Outcome::Refused(e.to_string())
            }
        }
    }

    /// Whether one more subflow is within all limits.
    fn permit(&mut self, host: usize, token: u32, subflow: usize) -> Result<(), String> {
        let connection = &self.hosts[host].connections[&token];
        let policy = &connection.policy;
        if connection.live() > policy.subflows {
            return Err(format!("policy {} allows {} subflows", policy.name, policy.subflows));
        }
        let further =
            |host: &Host| host.connections.values().map(|own| own.live().saturating_sub(1)).sum::<usize>();
        if self.hosts.iter().map(further).sum::<usize>() > self.config.subflows {
            return Err(format!("the daemon may open {} subflows", self.config.subflows));
        }
        if self.budget == 0 {
            let most = self.config.subflows_per_s;
            return Err(format!("the daemon may open {most} subflows a second ({subflow} is not retried)"));
        }
        Ok(())
    }

    fn record(&mut self, host: usize, token: u32, decision: Decision, done: Outcome) {
        match decision.command {
            Command::Open { .. } => self.counters.opens += 1,
            Command::Close(_) => self.counters.closes += 1,
            Command::SetBackup(..) => self.counters.priorities += 1,
        }
        let name = &self.hosts[host].name;
        let record = Record::new(name, token, &decision, done);
        match &record.done {
            Outcome::Refused(why) => tracing::warn!(
                namespace = record.namespace,
                token = record.token,
                subflow = record.subflow,
                "not {}: {why}",
                record.what
            ),
            _ => tracing::info!(
                namespace = record.namespace,
                token = record.token,
                subflow = record.subflow,
                dry_run = self.dry_run,
                "{}: {}",
                record.what,
                record.because
            ),
        }
        self.records.push_back(record);
        if self.records.len() > REMEMBERED {
            self.records.pop_front();
        }
    }

    /// Looks at all live connections: at the beginning, and after events were lost. Connections that another
    /// daemon managed are taken over with their existing subflows.
    fn synchronise(&mut self, host: usize, now: Time) {
        let alive = match self.hosts[host].alive() {
            Ok(alive) => alive,
            Err(e) => {
                tracing::error!(namespace = self.hosts[host].name, "connections cannot be listed: {e}");
                return;
            }
        };
        self.hosts[host].connections.retain(|token, _| alive.connections.contains_key(token));
        for &token in alive.connections.keys() {
            let mut ends = alive.ends(token);
            if let Some(connection) = self.hosts[host].connections.get(&token) {
                let gone: Vec<Ends> = connection.open().filter(|own| !ends.contains(own)).collect();
                for own in gone {
                    self.change(host, token, |connection, losses| connection.gone(own, now, losses));
                }
                for own in ends {
                    self.change(host, token, |connection, losses| connection.joined(own, now, losses));
                }
            } else if alive.is_opened_here(token) {
                let first = ends.remove(0);
                self.counters.adopted += 1;
                self.meet(host, token, first, ends, now);
            }
        }
    }

    /// Looks at the subflows of all connections whose path managers need their states.
    fn look(&mut self, now: Time) {
        for host in 0..self.hosts.len() {
            let watched = self.hosts[host].connections.values().any(Connection::is_watched);
            if !watched {
                continue;
            }
            let subflows = match self.hosts[host].subflows() {
                Ok(subflows) => subflows,
                Err(e) => {
                    tracing::warn!(namespace = self.hosts[host].name, "subflows cannot be listed: {e}");
                    continue;
                }
            };
            for own in subflows {
                let ends = (own.local, own.remote);
                self.change(host, own.token, |connection, losses| {
                    connection.see(ends, own.info, now, losses)
                });
            }
        }
        self.serve(now);
    }

    /// Serves everything that is due.
    fn serve(&mut self, now: Time) {
        for host in 0..self.hosts.len() {
            let connections = self.hosts[host].connections.iter();
            let due: Vec<u32> = connections
                .filter(|(_, own)| own.deadline() <= now || !own.is_managed())
                .map(|(&t, _)| t)
                .collect();
            for token in due {
                self.change(host, token, |own, losses| own.start(now, losses));
                self.change(host, token, |own, losses| own.serve(now, losses));
            }
        }
        if self.second <= now {
            self.second = now + SECOND;
            self.budget = self.config.subflows_per_s;
            self.tidy();
        }
        if self.survey_at <= now {
            let before = run::worked();
            self.survey();
            self.survey_at = now + SURVEY.max((run::worked() - before) * run::LEISURE);
        }
    }

    /// Forgets connections that have ended: Linux 6.18 reports no end for some that both hosts end at the
    /// same time.
    fn survey(&mut self) {
        for host in self.hosts.iter_mut().filter(|host| !host.connections.is_empty()) {
            match host.subflows() {
                Ok(subflows) => {
                    let alive: BTreeSet<u32> = subflows.iter().map(|own| own.token).collect();
                    host.connections.retain(|token, _| alive.contains(token));
                }
                Err(e) => tracing::warn!(namespace = host.name, "subflows cannot be listed: {e}"),
            }
        }
    }

    /// Forgets namespaces that are gone, and looks for those that do not exist yet.
    fn tidy(&mut self) {
        let before = self.hosts.len();
        self.hosts.retain_mut(|host| {
            let stays = host.is_there();
            if !stays {
                tracing::warn!(namespace = host.name, "the namespace has disappeared");
                host.forget();
            }
            stays
        });
        if self.hosts.len() == self.config.namespaces.len() && self.hosts.len() == before {
            return;
        }
        for name in self.config.namespaces.clone() {
            let label = name.as_deref().unwrap_or(config::OWN);
            if self.hosts.iter().any(|host| host.name == label) {
                continue;
            }
            if self.open(name.as_deref(), run::now()).is_ok() {
                tracing::info!(namespace = label, "the namespace has appeared");
            }
        }
    }

    /// Switches to another configuration. Managed connections keep their rules; later ones get the new rules.
    fn reload(&mut self, config: Config) {
        let is_named = |host: &Host| {
            config.namespaces.iter().any(|name| name.as_deref().unwrap_or(config::OWN) == host.name)
        };
        self.hosts.retain(is_named);
        self.config = config;
        self.tidy();
    }
}

/// The error of a kernel call that tests whether the machine supports it.
fn machine(what: &str, e: &io::Error) -> Error {
    Error::Machine(format!("{what}: {e}"))
}
