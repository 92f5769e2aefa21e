//! What is measured: each metric is one row, from which the checks of files, the schema and the tables of
//! `tresse explain metrics` are made.

use schemars::JsonSchema;
use serde::Serialize;
use tresse_fabric::Locality;

/// A metric, or a key of the optimum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MetricRow {
    /// Its name in files and results. It ends in the unit, except for counts and means of them.
    pub name: &'static str,
    /// Its unit, in words; empty if it has none.
    pub unit: &'static str,
    /// What it is defined for.
    pub of: Of,
    /// What it means, for the page of results.
    pub meaning: &'static str,
    /// The values that it can have.
    pub domain: Domain,
    /// Whether the value of a case is the sum of the values of its seeds: of counts, and of sums over all flows or
    /// ports. Every other one is a mean, a percentile or an extreme.
    pub is_total: bool,
    /// How it follows from a column of `flows.parquet`, over flows that have a value there; `None` if it has code of
    /// its own.
    pub value: Option<(Summary, &'static str)>,
    /// What has to be measured for it besides the usual; `None` if every run has it.
    pub measured: Option<Measured>,
    /// If it is only of those that finished, converged and so on: what counts the others.
    pub left_out: Option<LeftOut>,
    /// Its place in a table of results whose experiment names no metrics; `None` if it is not shown there.
    pub shown: Option<Shown>,
}

/// What a run measures only if `[measure]` asks for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measured {
    /// The RTT of every ACK.
    Rtt,
    /// The queues of ports.
    Queues,
    /// How long subflows take to converge.
    Convergence,
    /// How long goodput takes to recover from changes of links.
    Recovery,
}

impl Measured {
    /// A setting of `[measure]` that asks for it.
    pub fn setting(self) -> &'static str {
        match self {
            Self::Rtt => "rtt = true",
            Self::Queues => "queues = \"100us\"",
            Self::Convergence => "convergence = {}",
            Self::Recovery => "recovery = {}",
        }
    }
}

/// What counts those that a metric leaves out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeftOut {
    /// The metric that counts those left out.
    pub left_out: &'static str,
    /// The metric that counts all, those left out among them.
    pub all: &'static str,
}

/// The values that a metric can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Domain {
    /// Above 0: rates, times, windows. Where there is something to measure, it is not 0.
    Positive,
    /// 0 and above: counts, and what there may be none of.
    FromZero,
    /// Shares: 0, 1 and all between.
    Share,
    /// 1 and above: multiples of the least that is possible.
    FromOne,
}

/// How one value is made of those of many flows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Summary {
    /// Their sum; 0 of none.
    Sum,
    /// Their mean.
    Mean,
    /// The smallest value that so many per cent of them do not exceed: 0 is the smallest, 100 the largest.
    Percentile(u8),
}

/// Where a metric is in tables whose experiment names no metrics. The order of the tables is that of these values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct Shown {
    /// The kind of cases that it is shown for.
    pub of: Kind,
    /// Its place among those of this kind.
    pub place: u8,
    /// Whether it is also shown where whole runs, or the points of a sweep, are compared.
    pub compared: bool,
}

/// A kind of cases, or of what is shown of all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "ShownOf")]
pub enum Kind {
    /// Cases whose flows are active together, so that rates count.
    Rates,
    /// Cases whose flows come one by one, so that completion times count.
    Completion,
    /// Cases with jobs.
    Jobs,
    /// All cases, after the others.
    All,
}

impl Kind {
    /// Its name on the page and in Python.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rates => "rates",
            Self::Completion => "completion",
            Self::Jobs => "jobs",
            Self::All => "all",
        }
    }
}

/// What a metric is defined for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Of {
    /// Whole cases only.
    Cases,
    /// Cases, and all parts of their flows: groups, distances, sizes, slices.
    Flows,
    /// Cases and their groups.
    Groups,
    /// Cases and the layers of their networks.
    Layers,
    /// Windows of time, their groups, and subflows in them.
    Windows,
    /// The optimum of a case.
    Optimum,
}

impl Of {
    /// Whether it exists for parts of a case: `group`, `distance`, `size`, `slice` or `layer`.
    pub fn has(self, part: &str) -> bool {
        match self {
            Self::Cases | Self::Windows | Self::Optimum => false,
            Self::Flows => part != "layer",
            Self::Groups => part == "group",
            Self::Layers => part == "layer",
        }
    }
}

impl MetricRow {
    const fn new(of: Of, name: &'static str, unit: &'static str, meaning: &'static str) -> Self {
        let domain = match unit.as_bytes() {
            b"bit/s" | b"s" => Domain::Positive,
            _ => Domain::FromZero,
        };
        Self {
            name,
            unit,
            of,
            meaning,
            domain,
            is_total: false,
            value: None,
            measured: None,
            left_out: None,
            shown: None,
        }
    }

    /// It has these values, and not those that its unit suggests: a rate or a time is positive, all else from zero.
    const fn within(self, domain: Domain) -> Self {
        Self { domain, ..self }
    }

    /// It adds up over seeds.
    const fn total(self) -> Self {
        Self { is_total: true, ..self }
    }

    /// It is there only if `[measure]` asks for this.
    const fn with(self, measured: Measured) -> Self {
        Self { measured: Some(measured), ..self }
    }

    /// It is this summary of a column of `flows.parquet`.
    const fn is(self, summary: Summary, column: &'static str) -> Self {
        Self { value: Some((summary, column)), ..self }
    }

    /// It is of those of `all` that `left_out` does not count.
    const fn without(self, left_out: &'static str, all: &'static str) -> Self {
        Self { left_out: Some(LeftOut { left_out, all }), ..self }
    }

    /// It is shown, at this place among those of its kind.
    const fn shown(self, of: Kind, place: u8) -> Self {
        Self { shown: Some(Shown { of, place, compared: false }), ..self }
    }

    /// The same, also where runs are compared.
    const fn compared(self, of: Kind, place: u8) -> Self {
        Self { shown: Some(Shown { of, place, compared: true }), ..self }
    }
}

impl AsRef<str> for MetricRow {
    fn as_ref(&self) -> &str {
        self.name
    }
}

/// The row of `name`, if there is one.
pub fn find(rows: &'static [MetricRow], name: &str) -> Option<&'static MetricRow> {
    rows.iter().find(|row| row.name == name)
}

/// The row of a metric as claims name it: of a case, a window, a slice (`web.fct_p99_s`) or the optimum
/// (`optimum.rounds`).
pub fn row_of(metric: &str) -> Option<&'static MetricRow> {
    match metric.split_once('.') {
        Some(("optimum", key)) => find(OPTIMUM_METRICS, key),
        Some((_, own)) => find(METRICS, own),
        None => find(METRICS, metric).or_else(|| find(WINDOW_METRICS, metric)),
    }
}

/// The metrics shown where whole runs, or the points of a sweep, are compared, in their order there.
pub fn compared() -> impl Iterator<Item = &'static str> {
    shown().into_iter().filter(|(shown, _)| shown.compared).map(|(_, name)| name)
}

/// The metrics that tables of results show, in their order there.
pub fn shown() -> Vec<(Shown, &'static str)> {
    let mut all: Vec<_> = METRICS.iter().filter_map(|row| Some((row.shown?, row.name))).collect();
    all.sort();
    all
}

/// The metrics of a layer: what its links carried, and how long its queues were.
pub fn of_layers() -> impl Iterator<Item = &'static str> {
    METRICS.iter().filter(|row| row.of == Of::Layers).map(|row| row.name)
}

macro_rules! rows {
    ($($of:ident $name:literal $unit:literal $meaning:literal $(. $more:ident($($value:expr),*))*;)*) => {
        &[$(MetricRow::new(Of::$of, $name, $unit, $meaning)$(.$more($($value),*))*),*]
    };
}

/// The metrics of a case.
pub const METRICS: &[MetricRow] = rows! {
    Flows "goodput_mean_bps" "bit/s" "a flow's delivered payload over its lifetime, the mean over flows" .is(Summary::Mean, "goodput_bps") .compared(Kind::Rates, 0);
    Flows "goodput_p10_bps" "bit/s" "at least 10 % of the flows had no more" .is(Summary::Percentile(10), "goodput_bps") .compared(Kind::Rates, 1);
    Flows "goodput_p50_bps" "bit/s" "at least half of the flows had no more" .is(Summary::Percentile(50), "goodput_bps");
    Flows "goodput_p90_bps" "bit/s" "at least 90 % of the flows had no more" .is(Summary::Percentile(90), "goodput_bps") .compared(Kind::Rates, 2);
    Flows "goodput_min_bps" "bit/s" "the lowest" .within(Domain::FromZero) .is(Summary::Percentile(0), "goodput_bps");
    Flows "goodput_max_bps" "bit/s" "the highest" .is(Summary::Percentile(100), "goodput_bps");
    Flows "goodput_total_bps" "bit/s" "the sum over all flows: a rate of the network only if they were all active at the same time" .total();
    Flows "jain_ratio" "" "Jain's index of these rates, (Σx)² / (n Σx²): 1 if all are equal, 1/n if one flow has everything" .within(Domain::Share);
    Flows "fct_mean_s" "s" "flow completion time, from a flow's start to the arrival of its last byte, the mean" .compared(Kind::Completion, 0) .without("unfinished_flows", "flows");
    Flows "fct_p50_s" "s" "at least half of the flows took no longer" .shown(Kind::Completion, 1) .without("unfinished_flows", "flows");
    Flows "fct_p99_s" "s" "at least 99 % of the flows took no longer" .compared(Kind::Completion, 2) .without("unfinished_flows", "flows");
    Flows "fct_max_s" "s" "the slowest flow" .without("unfinished_flows", "flows");
    Flows "slowdown_mean_ratio" "" "completion time over the ideal one (`tresse explain measurement`), the mean" .within(Domain::FromOne) .without("unfinished_flows", "flows");
    Flows "slowdown_p50_ratio" "" "at least half of the flows had no more" .within(Domain::FromOne) .shown(Kind::Completion, 3) .without("unfinished_flows", "flows");
    Flows "slowdown_p99_ratio" "" "at least 99 % of the flows had no more" .within(Domain::FromOne) .shown(Kind::Completion, 4) .without("unfinished_flows", "flows");
    Flows "cwnd_mean_pkts" "packets" "the mean window over all rounds of all subflows" .within(Domain::Positive);
    Flows "subflows_opened_mean" "" "subflows that a flow's path manager opened, the mean over flows" .is(Summary::Mean, "opened");
    Flows "flows" "" "flows that finished or were stopped" .total() .shown(Kind::All, 4);
    Flows "unfinished_flows" "" "flows that were stopped, including by the end of the case" .total();
    Flows "deadline_flows" "" "flows known to have met or missed their deadline: those that finished, and those that were stopped after it" .total();
    Flows "deadline_misses" "" "flows that missed their deadline" .total();
    Flows "deadline_miss_ratio" "" "the share of `deadline_flows` that missed their deadline" .within(Domain::Share);
    Flows "delivered_bytes" "bytes" "payload of these flows that was delivered" .within(Domain::Positive) .is(Summary::Sum, "delivered_bytes") .total();
    Flows "timeouts" "" "retransmission timeouts of all flows; a lost SYN, which waits for `rto_initial`, is not counted" .is(Summary::Sum, "timeouts") .total() .compared(Kind::All, 1);
    Cases "timeouts_min" "" "the number in the round of the pattern with the fewest";
    Cases "timeouts_mean" "" "the mean per round of the pattern";
    Cases "timeouts_max" "" "the number in the round with the most";
    Flows "retransmissions_pkts" "packets" "segments retransmitted on the same subflow; those sent again on another one do not count" .is(Summary::Sum, "retransmissions") .total() .compared(Kind::All, 2);
    Cases "drops_pkts" "packets" "packets for which a queue had no room, or that could not be marked (`non_ect = \"drop\"`)" .total() .shown(Kind::All, 3);
    Cases "lost_pkts" "packets" "packets that ports lost by their loss probability, or with a link that failed" .total();
    Cases "marks_pkts" "packets" "packets that were marked, each counted once, at the first port that marked it" .total();
    Cases "trims_pkts" "packets" "packets that a port cut to their header (`trim` of `[fabric]`); missing if there are none" .total();
    Cases "pauses" "" "with `pfc` of `[fabric]`: how often a port was paused, all ports together; this and the next two are missing if no port was" .total();
    Cases "paused_s" "s" "how long ports were paused, summed over ports" .within(Domain::FromZero) .total();
    Cases "headroom_drops_pkts" "packets" "drops caused by a headroom that was too small" .total();
    Cases "share_moves" "" "updates of HOLNET's balancers that moved shares (`tresse explain inert`)" .total();
    Cases "path_shifts" "" "how often a path manager took new data off a subflow because of its path (MPTCP_OPN's traffic shifting)" .total();
    Cases "tuned_flows" "" "connections for which MPTCP_OPN's concurrency tuning chose fewer subflows than there were paths" .total();
    Flows "mark_cuts" "" "windows that were cut for a mark" .is(Summary::Sum, "mark_cuts") .total();
    Groups "rtt_mean_s" "s" "with `[measure] rtt = true`: the round-trip time that an ACK reports, the mean over ACKs" .with(Measured::Rtt) .shown(Kind::All, 0);
    Groups "rtt_p50_s" "s" "at least half of the ACKs reported no more, to within 1/128 of it" .with(Measured::Rtt);
    Groups "rtt_p90_s" "s" "at least 90 % of the ACKs reported no more, to within 1/128 of it" .with(Measured::Rtt);
    Groups "rtt_p99_s" "s" "at least 99 % of the ACKs reported no more, to within 1/128 of it" .with(Measured::Rtt);
    Groups "rtt_max_s" "s" "the longest" .with(Measured::Rtt);
    Cases "convergence_mean_s" "s" "with `[measure] convergence = {}`: how long a subflow took to converge, the mean over those that did" .with(Measured::Convergence) .within(Domain::FromZero) .without("unconverged", "convergences");
    Cases "convergence_max_s" "s" "the longest" .with(Measured::Convergence) .within(Domain::FromZero) .without("unconverged", "convergences");
    Cases "unconverged" "" "how often a subflow did not converge before the next event" .with(Measured::Convergence) .total();
    Cases "convergences" "" "after how many events a subflow could have converged, `unconverged` among them" .with(Measured::Convergence) .total();
    Cases "recovery_time_mean_s" "s" "with `[measure] recovery = {}`: how long after a change of links all flows together had their former goodput again, or 90 % of it, or `share` (`tresse explain measurement`), the mean over changes and seeds; this and the next one are missing if `unrecovered` is not 0" .with(Measured::Recovery) .within(Domain::FromZero);
    Cases "recovery_time_max_s" "s" "the longest" .with(Measured::Recovery) .within(Domain::FromZero) .compared(Kind::All, 5);
    Cases "unrecovered" "" "changes of links after which they did not have it again, over all seeds" .with(Measured::Recovery) .total() .compared(Kind::All, 6);
    Cases "flow_recovery_time_max_s" "s" "the same of single flows, the longest of any flow; missing if `unrecovered_flows` is not 0" .with(Measured::Recovery) .within(Domain::FromZero);
    Cases "unrecovered_flows" "" "how often a flow did not have its own former goodput again after a change of links" .with(Measured::Recovery) .total();
    Layers "utilisation_mean_ratio" "" "what a port admitted over what its link could carry in the run, each direction separately, the mean over all ports" .within(Domain::Share);
    Layers "utilisation_min_ratio" "" "the lowest" .within(Domain::Share);
    Layers "utilisation_p10_ratio" "" "at least 10 % of the ports had no more" .within(Domain::Share);
    Layers "utilisation_p50_ratio" "" "at least half of the ports had no more" .within(Domain::Share);
    Layers "utilisation_p90_ratio" "" "at least 90 % of the ports had no more" .within(Domain::Share);
    Layers "utilisation_max_ratio" "" "the highest" .within(Domain::Share);
    Layers "queue_mean_pkts" "packets" "with `[measure] queues = \"100us\"`: how many packets wait in a port of a switch, the mean over ports and observations" .with(Measured::Queues);
    Layers "queue_p50_pkts" "packets" "at least half of the observations of ports had no more" .with(Measured::Queues);
    Layers "queue_p99_pkts" "packets" "at least 99 % of the observations of ports had no more" .with(Measured::Queues);
    Layers "queue_max_pkts" "packets" "the longest queue observed" .with(Measured::Queues);
    Cases "sharing_flows" "" "flows with two subflows that shared a port that is not on all routes; this and the next four exist only under `path-sharing` with fixed routes, otherwise `no_sharing_score` says why not" .total();
    Cases "terminated_flows" "" "flows in which the path manager closed a subflow" .total();
    Cases "sharing_precision_ratio" "" "the share of these in which two subflows shared a port (`tresse explain path-sharing`)" .within(Domain::Share);
    Cases "sharing_recall_ratio" "" "the share of the flows with a shared port in which a subflow was closed" .within(Domain::Share);
    Cases "sharing_f_ratio" "" "F, the harmonic mean of the two" .within(Domain::Share);
    Cases "jobs" "" "jobs that ended" .total();
    Cases "jct_mean_s" "s" "job completion time, from the start of a job's first flow until everything that it waits for is done, the mean" .compared(Kind::Jobs, 0);
    Cases "jct_p50_s" "s" "at least half of the jobs took no longer";
    Cases "jct_p99_s" "s" "at least 99 % of the jobs took no longer" .compared(Kind::Jobs, 1);
    Cases "jct_max_s" "s" "the slowest job";
    Cases "job_deadline_miss_ratio" "" "of the ended jobs with a deadline, the share that missed it" .within(Domain::Share) .shown(Kind::Jobs, 2);
    Cases "offered_bisection_ratio" "" "for arrivals at a load: their payload over what the narrowest tier of the network can carry of such flows (`tresse explain poisson`)" .within(Domain::Positive);
    Cases "offered_access_ratio" "" "the same, over what the links of the sending hosts can carry" .within(Domain::Positive);
    Cases "simulated_s" "s" "simulated time, summed over all seeds" .total();
    Cases "packet_hops" "" "packets that entered a port, counted once for every port" .total();
};

/// The metrics of a window, of its groups, and of subflows.
pub const WINDOW_METRICS: &[MetricRow] = rows! {
    Windows "goodput_mean_bps" "bit/s" "a flow's payload that arrived in the window, divided by the time that it was active there, the mean over flows";
    Windows "goodput_total_bps" "bit/s" "the payload of all flows that arrived in the window, divided by its length, or by the part of it that the run reached";
    Windows "goodput_min_bps" "bit/s" "the lowest of any flow" .within(Domain::FromZero);
    Windows "goodput_max_bps" "bit/s" "the highest of any flow";
    Windows "jain_ratio" "" "Jain's index of the flows' rates" .within(Domain::Share);
    Windows "goodput_sd_ratio" "" "how unsteady a flow is: the standard deviation of its rate over the intervals of `samples`, divided by the mean; the mean over flows" .within(Domain::Positive);
    Windows "cwnd_mean_pkts" "packets" "the window at the ends of intervals, the mean over time and subflows" .within(Domain::Positive);
    Windows "srtt_mean_s" "s" "the smoothed RTT at the ends of intervals, the mean over time and subflows";
};

/// The keys of a case's optimum, written `optimum.KEY` in place of a metric.
pub const OPTIMUM_METRICS: &[MetricRow] = rows! {
    Optimum "goodput_mean_bps" "bit/s" "the optimal goodput of a flow, the mean over the flows of all rounds that have an optimum";
    Optimum "goodput_p10_bps" "bit/s" "at least 10 % of the flows have no more";
    Optimum "goodput_p50_bps" "bit/s" "at least half of the flows have no more";
    Optimum "goodput_p90_bps" "bit/s" "at least 90 % of the flows have no more";
    Optimum "goodput_distance_mean" "" "how far a flow's rate was from its optimal one, 0 to 1, the mean over flows and rounds" .within(Domain::Share);
    Optimum "goodput_distance_max" "" "the largest" .within(Domain::Share);
    Optimum "utility_distance_mean" "" "the loss of total utility, as a share of rate, the mean over rounds";
    Optimum "rounds" "" "rounds that have an optimum, over all seeds";
};

/// The distances between two hosts, the shortest first.
pub const DISTANCES: [Locality; 3] = [Locality::InnerRack, Locality::InterRack, Locality::InterPod];

/// The size classes of results: a name, the size that a flow must exceed, and the largest size, bytes. The first
/// [`DISJOINT_SIZES`] divide all flows among them (OPN Table 2); the others are what the papers call short (OPN,
/// THESIS) and huge (THESIS).
pub const SIZES: [(&str, u64, u64); 6] = [
    ("up to 10kB", 0, 10_000),
    ("10kB to 100kB", 10_000, 100_000),
    ("100kB to 1MB", 100_000, 1_000_000),
    ("above 1MB", 1_000_000, u64::MAX),
    ("up to 100kB", 0, 100_000),
    ("above 10MB", 10_000_000, u64::MAX),
];

/// How many of [`SIZES`], from the first, divide all flows among them.
pub const DISJOINT_SIZES: usize = 4;

/// The layer name of the queues of hosts, which are in no switch's layer.
pub const HOSTS: &str = "hosts";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_has_a_place_of_its_own() {
        let all = shown();
        let places: Vec<_> = all.iter().map(|(shown, _)| (shown.of, shown.place)).collect();
        assert!(places.windows(2).all(|two| two[0] < two[1]), "{all:?}");
    }

    #[test]
    fn those_left_out_are_counted_for_the_same_parts() {
        for row in METRICS {
            for count in row.left_out.iter().flat_map(|own| [own.left_out, own.all]) {
                let count = find(METRICS, count).expect("a metric");
                assert_eq!((count.of, count.is_total), (row.of, true), "{}", row.name);
            }
        }
    }

    #[test]
    fn a_name_ends_in_its_unit_and_stands_once() {
        for rows in [METRICS, WINDOW_METRICS, OPTIMUM_METRICS] {
            for (place, MetricRow { name, unit, .. }) in rows.iter().enumerate() {
                let endings = [("_bps", "bit/s"), ("_s", "s"), ("_pkts", "packets"), ("_bytes", "bytes")];
                let ending = endings.iter().find(|(ending, _)| name.ends_with(ending));
                assert_eq!(ending.map_or("", |(_, unit)| unit), *unit, "{name}");
                assert!(rows[..place].iter().all(|row| row.name != *name), "{name} stands twice");
            }
        }
    }
}
