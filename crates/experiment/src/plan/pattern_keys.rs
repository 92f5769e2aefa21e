//! Which keys of `[workloads.NAME]` belong to which pattern.

use crate::keys::workload::{Pattern, Workload};

/// Keys that every pattern has.
pub(crate) const COMMON: [&str; 6] = ["pattern", "duration", "scheme", "mix", "class", "application"];

/// The keys of a pattern beside these.
pub(crate) fn allowed(kind: Pattern) -> &'static [&'static str] {
    match kind {
        Pattern::Permutation | Pattern::RackToRack => &["size", "connections", "rounds", "datagrams"],
        Pattern::Incast => &["size", "connections", "rounds", "servers", "senders", "receivers"],
        Pattern::Random => &["size", "pairs", "at_most", "per_host", "flows"],
        Pattern::Jobs => &["jobs", "servers", "request", "response", "gap", "deadline", "total"],
        Pattern::Poisson => {
            &["size", "load", "load_on", "flows", "pairs", "senders", "receivers", "deadline"]
        }
        Pattern::Spread => &["size", "flows", "window", "pairs", "senders", "receivers"],
        Pattern::OnOff => &["senders", "receivers", "on", "off", "start", "stop", "datagrams"],
        Pattern::Flows => &["flow", "file"],
        Pattern::Collective => &[
            "collective",
            "size",
            "ranks",
            "stride",
            "shuffle",
            "chunks",
            "iterations",
            "compute",
            "parallel",
        ],
        Pattern::Goal => &["file"],
    }
}

/// The keys that are said.
pub(crate) fn keys(w: &Workload) -> impl Iterator<Item = &'static str> {
    let keys = [
        ("pattern", w.pattern.is_some()),
        ("duration", w.duration.is_some()),
        ("scheme", w.scheme.is_some()),
        ("mix", !w.mix.is_empty()),
        ("class", w.class != 0),
        ("size", w.size.is_some()),
        ("flows", w.flows.is_some()),
        ("pairs", w.pairs.is_some()),
        ("senders", w.senders.is_some()),
        ("receivers", w.receivers.is_some()),
        ("deadline", w.deadline.is_some()),
        ("application", w.application.is_some()),
        ("datagrams", w.datagrams.is_some()),
        ("connections", w.connections.is_some()),
        ("rounds", w.rounds.is_some()),
        ("at_most", w.at_most.is_some()),
        ("per_host", w.per_host.is_some()),
        ("jobs", w.jobs.is_some()),
        ("total", w.total.is_some()),
        ("servers", w.servers.is_some()),
        ("request", w.request.is_some()),
        ("response", w.response.is_some()),
        ("gap", w.gap.is_some()),
        ("load", w.load.is_some()),
        ("load_on", w.load_on.is_some()),
        ("window", w.window.is_some()),
        ("on", w.on.is_some()),
        ("off", w.off.is_some()),
        ("start", w.start.is_some()),
        ("stop", w.stop.is_some()),
        ("flow", !w.flow.is_empty()),
        ("file", w.file.is_some()),
        ("collective", w.collective.is_some()),
        ("ranks", w.ranks.is_some()),
        ("stride", w.stride.is_some()),
        ("shuffle", w.shuffle.is_some()),
        ("chunks", w.chunks.is_some()),
        ("iterations", w.iterations.is_some()),
        ("compute", w.compute.is_some()),
        ("parallel", w.parallel.is_some()),
    ];
    keys.into_iter().filter(|(_, said)| *said).map(|(key, _)| key)
}
