//! The place where a pattern is built, and reading the values that several patterns have.

use std::path::Path;

use tresse_fabric::Topology;
use tresse_units::{Bytes, Rate, Time};
use tresse_workload::{self as workload, MOST_FLOWS, Size, Span, too_large};

use crate::diagnostic::{Diagnostic, Wrong};
use crate::plan::capacities::Capacities;
use crate::plan::flow_sizes;
use crate::plan::host_sets::HostSets;
use crate::plan::patterns::kind::Keys;
use crate::read::Loaded;
use crate::schema::bounds::LONGEST;
use crate::schema::workload::{Draw, DrawTable, FlowSize, HostSet, Pairs, Workload};

const MOST_CONNECTIONS: u32 = 10_000;

/// A workload of a pattern, and its location.
#[derive(Debug)]
pub struct WorkloadContext<'a> {
    pub loaded: &'a Loaded,
    pub fabric: &'a Topology,
    pub(crate) capacities: &'a Capacities,
    /// The smallest segment of its schemes, in bytes.
    pub mss: u32,
    /// The keys that lead to the workload.
    pub path: &'a [&'a str],
    pub workload: &'a Workload,
    /// When its case ends, ps.
    pub duration: Option<Time>,
}

/// The pairs that may be drawn.
pub(crate) struct Between {
    pub pairs: workload::Pairs,
    pub from: Vec<u32>,
    pub to: Vec<u32>,
}

impl WorkloadContext<'_> {
    /// An error in a key; in the whole workload if there is no key.
    pub(crate) fn wrong(&self, key: &str, message: &str) -> Diagnostic {
        let whole: &[&str] = if key.is_empty() { self.path } else { &[self.path, &[key]].concat() };
        self.loaded.error_at(whole, message)
    }

    /// The keys of its pattern.
    pub(crate) fn keys<K: Keys>(&self) -> Result<K, Diagnostic> {
        self.workload
            .own
            .clone()
            .try_into()
            .map_err(|e: toml::de::Error| self.wrong("", &Wrong::from(e).message))
    }

    /// A value that the pattern needs.
    pub(crate) fn needed<T>(&self, key: &str, value: Option<T>, example: &str) -> Result<T, Diagnostic> {
        value.ok_or_else(|| {
            let pattern = self.workload.pattern.as_deref().unwrap_or_default();
            self.wrong("pattern", &format!("the pattern {pattern} needs `{key}`, such as {example}"))
        })
    }

    /// A number within these bounds, or `default`.
    pub(crate) fn number(
        &self,
        key: &str,
        value: Option<u32>,
        default: u32,
        most: u32,
    ) -> Result<u32, Diagnostic> {
        match value.unwrap_or(default) {
            n if (1..=most).contains(&n) => Ok(n),
            n => Err(self.wrong(key, &format!("{n}: 1 to {most}"))),
        }
    }

    /// How many connections carry each transfer.
    pub(crate) fn connections(&self, connections: Option<u32>) -> Result<u32, Diagnostic> {
        self.number("connections", connections, 1, MOST_CONNECTIONS)
    }

    /// This many flows in total.
    pub(crate) fn flows(&self, key: &str, flows: u64) -> Result<u64, Diagnostic> {
        match flows {
            0 => Err(self.wrong(key, "0: at least 1")),
            n if n > MOST_FLOWS => {
                // As it was measured: what is known of a flow is kept until its case ends, with its metrics' values then.
                let gigabytes = u128::from(n) * 124 / 1_000_000_000;
                let message = format!(
                    "{n} flows would take {gigabytes} GB of memory: use at most {MOST_FLOWS}, in shorter experiments"
                );
                Err(self.wrong(key, &message))
            }
            n => Ok(n),
        }
    }

    /// The largest message that each of its schemes carries, bytes.
    pub(crate) fn most(&self) -> u64 {
        u64::from(u32::MAX) * u64::from(self.mss)
    }

    /// The size of a message.
    pub(crate) fn message(&self, key: &str, Bytes(bytes): Bytes) -> Result<u64, Diagnostic> {
        match bytes {
            0 => Err(self.wrong(key, "at least one byte")),
            _ if bytes > self.most() => Err(self.wrong(key, &too_large(bytes, self.most()))),
            _ => Ok(bytes),
        }
    }

    /// The sizes of flows.
    pub(crate) fn size(&self, size: &FlowSize) -> Result<Size, Diagnostic> {
        flow_sizes::resolve(size, self.most(), &self.loaded.source, &self.loaded.files)
            .map_err(|e| self.loaded.error(e.below("size").below_all(self.path)))
    }

    /// The sizes of flows that need one.
    pub(crate) fn sized(&self, size: Option<FlowSize>) -> Result<Size, Diagnostic> {
        self.size(&self.needed("size", size, "size = \"1MB\"")?)
    }

    /// The rate of datagrams, bit/s, for flows that may have a size.
    pub(crate) fn datagrams(&self, rate: Option<Rate>, is_sized: bool) -> Result<Option<u64>, Diagnostic> {
        match rate {
            Some(rate) if is_sized || self.workload.application.is_some() || rate.0 == 0 => {
                let message = "datagrams have a rate above 0, and neither a `size` nor an `application`";
                Err(self.wrong("datagrams", message))
            }
            rate => Ok(rate.map(|rate| rate.0)),
        }
    }

    /// The time given by a key, within bounds.
    pub(crate) fn span(&self, key: &str, draw: Draw, least: Time) -> Result<Span, Diagnostic> {
        let span = match draw {
            Draw::Fixed(time) => Span::Fixed(time.0),
            Draw::Mean(DrawTable::Exponential(mean)) => Span::Exponential(mean.0),
            Draw::Mean(DrawTable::Lognormal(mean)) => Span::LogNormal(mean.0),
        };
        if !(least..=LONGEST).contains(&span.mean()) {
            let least = if least == 0 { "at most" } else { "more than 0s and at most" };
            return Err(self.wrong(key, &format!("{least} 1000s")));
        }
        Ok(span)
    }

    /// When a flow, or a job, should have finished.
    pub(crate) fn deadline(&self, deadline: Option<Draw>) -> Result<Option<Span>, Diagnostic> {
        deadline.map(|deadline| self.span("deadline", deadline, 1)).transpose()
    }

    /// The hosts that a key names. Default: all.
    pub(crate) fn hosts(&self, key: &str, set: Option<&HostSet>) -> Result<Vec<u32>, Diagnostic> {
        let sets = HostSets { fabric: self.fabric };
        match set {
            Some(set) => sets.hosts(set).map_err(|e| self.wrong(key, &e)),
            None => Ok((0..self.fabric.hosts()).collect()),
        }
    }

    /// The ranks of a trace are hosts from 0.
    pub(crate) fn has_ranks(&self, key: &str, trace: &Path, ranks: u32) -> Result<(), Diagnostic> {
        let hosts = self.fabric.hosts();
        if ranks > hosts {
            let message =
                format!("{} has {ranks} ranks, but the fabric has only {hosts} hosts", trace.display());
            return Err(self.wrong(key, &message));
        }
        Ok(())
    }

    /// The rack of every host, if flows must leave theirs.
    pub(crate) fn racks(&self, pairs: Option<Pairs>) -> Result<Option<Vec<u32>>, Diagnostic> {
        match pairs.unwrap_or_default() {
            Pairs::Any => Ok(None),
            Pairs::InterRack if self.has_one_rack() => {
                Err(self.wrong("pairs", "this fabric has only one rack"))
            }
            Pairs::InterRack => Ok(Some(self.fabric.racks.clone())),
        }
    }

    /// Whether no flow can leave its rack.
    pub(crate) fn has_one_rack(&self) -> bool {
        let racks = &self.fabric.racks;
        racks.iter().all(|&rack| rack == racks[0])
    }

    /// The pairs that may be drawn.
    pub(crate) fn pairs(
        &self,
        senders: Option<&HostSet>,
        receivers: Option<&HostSet>,
        allowed: Option<Pairs>,
    ) -> Result<Between, Diagnostic> {
        let (from, to) = (self.hosts("senders", senders)?, self.hosts("receivers", receivers)?);
        let mut pairs = workload::Pairs::between(from.clone(), to.clone());
        if let Some(racks) = self.racks(allowed)? {
            pairs = pairs.inter_rack(&racks);
        }
        if pairs.check().is_err() {
            return Err(self.wrong("pattern", "no sender has a receiver that it may send to"));
        }
        Ok(Between { pairs, from, to })
    }
}
