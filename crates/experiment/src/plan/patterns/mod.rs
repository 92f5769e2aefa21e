//! From the keys of a workload to the pattern that starts its flows.

pub mod listed;

use std::fmt;
use std::sync::Arc;

use tresse_units::{NEVER, Time};
use tresse_workload as workload;
use tresse_workload::{
    Incast, IncastConfig, Jobs, JobsConfig, Limit, MOST_FLOWS, OnOff, OnOffConfig, Pairing, Poisson,
    PoissonConfig, RandomConfig, RandomPattern, Rounds, RoundsConfig, Size, Source, Span, Spread,
    SpreadConfig,
};

use crate::diagnostic::Diagnostic;
use crate::keys::bounds::LONGEST;
use crate::keys::workload::{self as keys, Draw, DrawTable, LoadOn, Pattern as Kind, Workload};
use crate::plan::case_builder::Builder;
use crate::plan::host_sets::HostSets;
use crate::plan::offered::{self, Allowed, Capacity};
use crate::plan::parts::Make;
use crate::plan::{flow_sizes, pattern_keys};

/// What starts the flows of a part.
#[derive(Clone)]
pub struct Pattern {
    kind: Kind,
    make: Make,
    endless: bool,
    has_jobs: bool,
    /// What its flows offer, and what the network carries of such flows, bit/s; for arrivals at a load.
    pub offered: Option<Offered>,
}

/// An offered load.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Offered {
    /// Payload of all flows, bit/s.
    pub rate: f64,
    /// What it is a share of.
    pub capacity: Capacity,
}

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Pattern").field(&self.kind).finish()
    }
}

const MOST_CONNECTIONS: u32 = 10_000;

impl Pattern {
    /// Of the workload at `path`; `duration` is that of its case.
    ///
    /// # Errors
    /// The first thing that is wrong, with its place in the file.
    pub(crate) fn new(
        b: &Builder,
        path: &[&str],
        w: &Workload,
        duration: Option<Time>,
    ) -> Result<Self, Diagnostic> {
        let Some(kind) = w.pattern else {
            return Err(b.wrong(
                path,
                "",
                "it needs a `pattern`, such as \"permutation\" (`tresse list workloads`)",
            ));
        };
        let allowed = pattern_keys::allowed(kind);
        if let Some(key) =
            pattern_keys::keys(w).find(|k| !pattern_keys::COMMON.contains(k) && !allowed.contains(k))
        {
            let message =
                format!("the pattern {} has no `{key}` (it has: {})", kind.name(), allowed.join(", "));
            return Err(b.wrong(path, key, &message));
        }
        let at = At { b, path, w, kind };
        let mut has_jobs = matches!(kind, Kind::Jobs | Kind::Incast | Kind::Collective);
        let (make, endless, offered): (Make, bool, Option<Offered>) = match kind {
            Kind::Permutation | Kind::RackToRack => (at.rounds()?, w.size.is_none(), None),
            Kind::Incast => (at.incast()?, false, None),
            Kind::Random => (at.random()?, w.flows.is_none(), None),
            Kind::Jobs => (at.jobs()?, w.total.is_none(), None),
            Kind::Poisson => {
                let (make, offered) = at.poisson(duration)?;
                (make, w.flows.is_none() && duration.is_none(), Some(offered))
            }
            Kind::Spread => (at.spread()?, false, None),
            Kind::OnOff => (at.on_off()?, w.stop.is_none(), None),
            Kind::Collective => (listed::collective(&at)?, false, None),
            Kind::Flows | Kind::Goal => {
                let tasks = listed::tasks(&at)?;
                let endless = tasks.is_endless();
                has_jobs = tasks.has_jobs();
                (Arc::new(move |_| Box::new(tasks.clone()) as Box<dyn Source>), endless, None)
            }
        };
        Ok(Self { kind, make, endless, has_jobs, offered })
    }

    /// The flows under `seed`.
    pub(crate) fn source(&self, seed: u64) -> Box<dyn Source> {
        (self.make)(seed)
    }

    /// Whether its flows make up jobs.
    pub(crate) fn has_jobs(&self) -> bool {
        self.has_jobs
    }

    /// Whether it goes on as long as something else lasts.
    pub(crate) fn is_endless(&self) -> bool {
        self.endless
    }
}

/// A workload of a pattern, where it stands.
pub(crate) struct At<'a> {
    pub b: &'a Builder<'a>,
    pub path: &'a [&'a str],
    pub w: &'a Workload,
    pub kind: Kind,
}

impl At<'_> {
    /// What is wrong with a key.
    pub fn wrong(&self, key: &str, message: &str) -> Diagnostic {
        self.b.wrong(self.path, key, message)
    }

    /// A value that the pattern needs.
    pub fn needed<T: Clone>(&self, key: &str, value: &Option<T>, example: &str) -> Result<T, Diagnostic> {
        value.clone().ok_or_else(|| {
            self.wrong(
                "pattern",
                &format!("the pattern {} needs `{key}`, such as {example}", self.kind.name()),
            )
        })
    }

    /// A number in these bounds; `default` if it is not said.
    pub fn number(&self, key: &str, value: Option<u32>, default: u32, most: u32) -> Result<u32, Diagnostic> {
        match value.unwrap_or(default) {
            n if (1..=most).contains(&n) => Ok(n),
            n => Err(self.wrong(key, &format!("{n}: 1 to {most}"))),
        }
    }

    fn hosts(&self) -> u32 {
        self.b.fabric().hosts()
    }

    /// The sizes; none if flows have no end.
    fn size(&self) -> Result<Option<Size>, Diagnostic> {
        let Some(size) = &self.w.size else { return Ok(None) };
        let loaded = self.b.loaded;
        let size = flow_sizes::resolve(size, &loaded.source)
            .map_err(|e| loaded.error(e.below("size").below_all(self.path)))?;
        let mss = self.b.schemes.values().map(|s| s.transport.mss).min().unwrap_or(1460);
        if size.largest().div_ceil(u64::from(mss)) > u64::from(u32::MAX) {
            return Err(self.wrong("size", "a flow has fewer than 2^32 segments"));
        }
        Ok(Some(size))
    }

    fn sized(&self) -> Result<Size, Diagnostic> {
        self.needed("size", &self.w.size, "size = \"1MB\"")?;
        Ok(self.size()?.expect("it was said"))
    }

    /// The hosts that a key names; `default` if it is not said.
    pub fn set(&self, key: &str, set: &Option<keys::HostSet>) -> Result<Option<Vec<u32>>, Diagnostic> {
        let sets = HostSets { fabric: self.b.fabric() };
        set.as_ref().map(|set| sets.hosts(set).map_err(|e| self.wrong(key, &e))).transpose()
    }

    fn all(&self) -> Vec<u32> {
        (0..self.hosts()).collect()
    }

    /// So many flows in all.
    fn flows(&self, key: &str, flows: u64) -> Result<u64, Diagnostic> {
        match flows {
            0 => Err(self.wrong(key, "at least one")),
            n if n > MOST_FLOWS => {
                let gigabytes = n / 4_000_000;
                let message = format!(
                    "{n} flows would take {gigabytes} GB of memory: at most {MOST_FLOWS}, in shorter experiments"
                );
                Err(self.wrong(key, &message))
            }
            n => Ok(n),
        }
    }

    fn span(&self, draw: Draw) -> Span {
        match draw {
            Draw::Fixed(time) => Span::Fixed(time.0),
            Draw::Mean(DrawTable::Exponential(mean)) => Span::Exponential(mean.0),
            Draw::Mean(DrawTable::Lognormal(mean)) => Span::LogNormal(mean.0),
        }
    }

    /// A time that a key says, in bounds.
    fn checked(&self, key: &str, draw: Draw, least: Time) -> Result<Span, Diagnostic> {
        let span = self.span(draw);
        if !(least..=LONGEST).contains(&span.mean()) {
            let least = if least == 0 { "at most" } else { "more than 0s and at most" };
            return Err(self.wrong(key, &format!("{least} 1000s")));
        }
        Ok(span)
    }

    fn rounds(&self) -> Result<Make, Diagnostic> {
        let size = self.size()?;
        let connections = self.number("connections", self.w.connections, 1, MOST_CONNECTIONS)?;
        let rounds = self.w.rounds.unwrap_or(1);
        if rounds == 0 {
            return Err(self.wrong("rounds", "at least one round"));
        }
        if size.is_none() && self.w.rounds.is_some() {
            return Err(self.wrong("rounds", "flows without a `size` never finish, so there is one round"));
        }
        let racks = &self.b.fabric().racks;
        let pairing = match self.kind {
            Kind::Permutation => Pairing::Permutation(self.hosts()),
            _ if racks.iter().all(|&r| r == racks[0]) => {
                return Err(self.wrong("pattern", "this fabric has one rack only"));
            }
            _ => Pairing::RackToRack(racks.iter().filter(|&&r| r == racks[0]).count() as u32),
        };
        let senders = match &pairing {
            Pairing::Permutation(hosts) | Pairing::RackToRack(hosts) => u64::from(*hosts),
            Pairing::Listed(pairs) => pairs.len() as u64,
        };
        self.flows("rounds", senders * u64::from(connections) * u64::from(rounds))?;
        Ok(Arc::new(move |seed| {
            let (pairing, size) = (pairing.clone(), size.clone());
            Box::new(Rounds::new(RoundsConfig { pairing, size, connections, rounds, seed }))
        }))
    }

    fn incast(&self) -> Result<Make, Diagnostic> {
        let size = self.sized()?;
        let receivers = self.set("receivers", &self.w.receivers)?.unwrap_or_else(|| vec![0]);
        let [receiver] = receivers[..] else {
            return Err(self.wrong("receivers", "an incast has one receiver"));
        };
        let mut senders = self.set("senders", &self.w.senders)?.unwrap_or_else(|| self.all());
        senders.retain(|&host| host != receiver);
        if let Some(servers) = self.w.servers {
            let n = self.number("servers", Some(servers), 1, senders.len() as u32)?;
            senders.truncate(n as usize);
        }
        if senders.is_empty() {
            return Err(self.wrong("senders", "no host is left that sends"));
        }
        let connections = self.number("connections", self.w.connections, 1, MOST_CONNECTIONS)?;
        let senders: Vec<u32> =
            senders.into_iter().flat_map(|s| std::iter::repeat_n(s, connections as usize)).collect();
        let rounds = self.number("rounds", self.w.rounds, 1, u32::MAX)?;
        self.flows("rounds", senders.len() as u64 * u64::from(rounds))?;
        Ok(Arc::new(move |seed| {
            let (senders, size) = (senders.clone(), size.clone());
            Box::new(Incast::new(IncastConfig { senders, receiver, size, rounds, seed }))
        }))
    }

    fn random(&self) -> Result<Make, Diagnostic> {
        let (hosts, size) = (self.hosts(), self.sized()?);
        let flows = self.w.flows.map(|n| self.flows("flows", n)).transpose()?;
        let at_most = self.number("at_most", self.w.at_most, 4, u32::MAX)?;
        let per_host = self.number("per_host", self.w.per_host, 1, 256)?;
        let racks = self.racks()?;
        Ok(Arc::new(move |seed| {
            let (racks, size) = (racks.clone(), size.clone());
            Box::new(RandomPattern::new(RandomConfig { hosts, racks, size, per_host, at_most, flows, seed }))
        }))
    }

    /// The rack of every host, if flows are to leave theirs.
    fn racks(&self) -> Result<Option<Vec<u32>>, Diagnostic> {
        let racks = &self.b.fabric().racks;
        match self.w.pairs.unwrap_or_default() {
            keys::Pairs::Any => Ok(None),
            keys::Pairs::InterRack if racks.iter().all(|&r| r == racks[0]) => {
                Err(self.wrong("pairs", "this fabric has one rack only"))
            }
            keys::Pairs::InterRack => Ok(Some(racks.clone())),
        }
    }

    fn jobs(&self) -> Result<Make, Diagnostic> {
        let (w, hosts) = (self.w, self.hosts());
        let jobs = self.number("jobs", w.jobs, 1, 65_536)?;
        let servers = self.needed("servers", &w.servers, "servers = 8")?;
        if servers == 0 || servers >= hosts {
            let message = format!("{servers} servers and a client of {hosts} hosts: 1 to {}", hosts - 1);
            return Err(self.wrong("servers", &message));
        }
        let request = self.needed("request", &w.request, "request = \"2kB\"")?.0;
        let response = self.needed("response", &w.response, "response = \"64kB\"")?.0;
        for (key, bytes) in [("request", request), ("response", response)] {
            if bytes == 0 {
                return Err(self.wrong(key, "at least one byte"));
            }
        }
        let gap = w.gap.map_or(Ok(Span::Fixed(0)), |gap| self.checked("gap", gap, 0))?;
        let deadline = w.deadline.map(|d| self.checked("deadline", d, 1)).transpose()?;
        let total = w.total.map(|n| self.flows("total", n.saturating_mul(2 * u64::from(servers))).map(|_| n));
        let count = total.transpose()?.map(|n| n as u32);
        Ok(Arc::new(move |seed| {
            let config = JobsConfig { hosts, jobs, servers, request, response, gap, deadline, count, seed };
            Box::new(Jobs::new(config))
        }))
    }

    /// The pairs that may be drawn, and what the network carries of them.
    fn pairs(&self) -> Result<(workload::Pairs, Vec<u32>, Vec<u32>), Diagnostic> {
        let from = self.set("senders", &self.w.senders)?.unwrap_or_else(|| self.all());
        let to = self.set("receivers", &self.w.receivers)?.unwrap_or_else(|| self.all());
        let mut pairs = workload::Pairs::between(from.clone(), to.clone());
        if let Some(racks) = self.racks()? {
            pairs = pairs.inter_rack(&racks);
        }
        if pairs.check().is_err() {
            return Err(self.wrong("pattern", "no sender has a receiver that it may send to"));
        }
        Ok((pairs, from, to))
    }

    fn poisson(&self, duration: Option<Time>) -> Result<(Make, Offered), Diagnostic> {
        let w = self.w;
        let size = self.sized()?;
        let load = self.needed("load", &w.load, "load = 0.5")?;
        if !(load > 0.0 && load <= 1.0) {
            let message = format!("{load}: above 0 and at most 1, the share of what the network carries");
            return Err(self.wrong("load", &message));
        }
        let (pairs, from, to) = self.pairs()?;
        let inter_rack = w.pairs == Some(keys::Pairs::InterRack);
        let allowed = Allowed { from: &from, to: &to, inter_rack };
        let Some(capacity) = offered::capacity(self.b.fabric(), &allowed) else {
            return Err(self.wrong("pattern", "a sender has no path to its receiver"));
        };
        let of = match w.load_on.unwrap_or_default() {
            LoadOn::Bisection => capacity.bisection,
            LoadOn::Access => capacity.access,
        };
        let rate = load * of;
        let interval = PoissonConfig::interval(&size, load, of as u64);
        let limit = match (w.flows, duration) {
            (Some(flows), _) => Limit::Flows(self.flows("flows", flows)?),
            (None, until) => {
                let until = until.unwrap_or(LONGEST);
                if duration.is_some() {
                    self.flows("load", (until as f64 / interval) as u64 + 1)?;
                }
                Limit::Until(until)
            }
        };
        let deadline = w.deadline.map(|d| self.checked("deadline", d, 1)).transpose()?;
        let make: Make = Arc::new(move |seed| {
            let (pairs, size) = (pairs.clone(), size.clone());
            Box::new(Poisson::new(PoissonConfig { pairs, size, interval, limit, deadline, seed }))
        });
        Ok((make, Offered { rate, capacity }))
    }

    fn spread(&self) -> Result<Make, Diagnostic> {
        let size = self.sized()?;
        let flows = self.needed("flows", &self.w.flows, "flows = 1000")?;
        let flows = self.flows("flows", flows)? as u32;
        let window = self.w.window.map_or(Ok(0), |w| match w.0 {
            window if window <= LONGEST => Ok(window),
            _ => Err(self.wrong("window", "at most 1000s")),
        })?;
        let (pairs, ..) = self.pairs()?;
        Ok(Arc::new(move |seed| {
            let (pairs, size) = (pairs.clone(), size.clone());
            Box::new(Spread::new(SpreadConfig { pairs, size, flows, window, seed }))
        }))
    }

    fn on_off(&self) -> Result<Make, Diagnostic> {
        let w = self.w;
        let (senders, receivers) = (
            self.needed("senders", &w.senders, "senders = \"host 0\"")?,
            self.needed("receivers", &w.receivers, "receivers = \"host 1\"")?,
        );
        let from = self.set("senders", &Some(senders))?.unwrap_or_default();
        let to = self.set("receivers", &Some(receivers))?.unwrap_or_default();
        if from.len() != to.len() {
            let message = format!("{} senders and {} receivers: one each", from.len(), to.len());
            return Err(self.wrong("receivers", &message));
        }
        let flows: Vec<(u32, u32)> = from.into_iter().zip(to).collect();
        if flows.iter().any(|(from, to)| from == to) {
            return Err(self.wrong("receivers", "a host does not send to itself"));
        }
        let on = self.checked("on", self.needed("on", &w.on, "on = \"5s\"")?, 1)?;
        let off = self.checked("off", self.needed("off", &w.off, "off = \"5s\"")?, 0)?;
        let (start, stop) = (w.start.map_or(0, |t| t.0), w.stop.map_or(NEVER, |t| t.0));
        if start >= stop {
            return Err(self.wrong("stop", "it ends before it starts"));
        }
        Ok(Arc::new(move |seed| {
            let flows = flows.clone();
            Box::new(OnOff::new(OnOffConfig { flows, on, off, start, stop, seed }))
        }))
    }
}
