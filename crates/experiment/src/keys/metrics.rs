//! The names of what is measured, as files say them.

use tresse_fabric::Locality;

/// The names of all metrics; every one ends in its unit, counts have none. `docs/explain/results.md` says
/// what each means.
pub const METRICS: &[&str] = &[
    "goodput_mean_bps",
    "goodput_p10_bps",
    "goodput_p50_bps",
    "goodput_p90_bps",
    "goodput_min_bps",
    "goodput_max_bps",
    "goodput_total_bps",
    "jain_ratio",
    "fct_mean_s",
    "fct_p50_s",
    "fct_p99_s",
    "fct_max_s",
    "slowdown_mean_ratio",
    "slowdown_p50_ratio",
    "slowdown_p99_ratio",
    "cwnd_mean_pkts",
    "subflows_opened_mean",
    "flows",
    "unfinished_flows",
    "deadline_flows",
    "deadline_misses",
    "deadline_miss_ratio",
    "delivered_bytes",
    "timeouts",
    "timeouts_min",
    "timeouts_mean",
    "timeouts_max",
    "retransmissions_pkts",
    "drops_pkts",
    "lost_pkts",
    "marks_pkts",
    "mark_cuts",
    "rtt_mean_s",
    "rtt_p50_s",
    "rtt_p90_s",
    "rtt_p99_s",
    "rtt_max_s",
    "convergence_mean_s",
    "convergence_max_s",
    "unconverged",
    "utilisation_mean_ratio",
    "utilisation_min_ratio",
    "utilisation_p10_ratio",
    "utilisation_p50_ratio",
    "utilisation_p90_ratio",
    "utilisation_max_ratio",
    "queue_mean_pkts",
    "queue_p50_pkts",
    "queue_p99_pkts",
    "queue_max_pkts",
    "sharing_flows",
    "terminated_flows",
    "sharing_precision_ratio",
    "sharing_recall_ratio",
    "sharing_f_ratio",
    "jobs",
    "jct_mean_s",
    "jct_p50_s",
    "jct_p99_s",
    "jct_max_s",
    "job_deadline_miss_ratio",
    "offered_bisection_ratio",
    "offered_access_ratio",
    "simulated_s",
    "packet_hops",
];

/// The distances between two hosts, the shortest first.
pub const DISTANCES: [Locality; 3] = [Locality::InnerRack, Locality::InterRack, Locality::InterPod];

/// The size classes of results: a name, the size that a flow must exceed, and the largest, bytes. Four that share
/// all flows out among them (OPN Table 2), and what the papers call short (OPN, THESIS) and huge (THESIS).
pub const SIZES: [(&str, u64, u64); 6] = [
    ("up to 10kB", 0, 10_000),
    ("10kB to 100kB", 10_000, 100_000),
    ("100kB to 1MB", 100_000, 1_000_000),
    ("above 1MB", 1_000_000, u64::MAX),
    ("up to 100kB", 0, 100_000),
    ("above 10MB", 10_000_000, u64::MAX),
];

/// The metrics of a window, of its groups, and of subflows. `docs/explain/results.md` says what each means.
pub const WINDOW_METRICS: [&str; 8] = [
    "goodput_mean_bps",
    "goodput_total_bps",
    "goodput_min_bps",
    "goodput_max_bps",
    "jain_ratio",
    "goodput_sd_ratio",
    "cwnd_mean_pkts",
    "srtt_mean_s",
];

/// The metrics of a layer, or of all: what its links carried, and how long its queues were.
pub const LAYER_METRICS: [&str; 10] = [
    "utilisation_mean_ratio",
    "utilisation_min_ratio",
    "utilisation_p10_ratio",
    "utilisation_p50_ratio",
    "utilisation_p90_ratio",
    "utilisation_max_ratio",
    "queue_mean_pkts",
    "queue_p50_pkts",
    "queue_p99_pkts",
    "queue_max_pkts",
];

/// What the queues of hosts are called, which are in no switch's layer.
pub const HOSTS: &str = "hosts";

/// The keys of [`summary`].
pub const OPTIMUM_KEYS: [&str; 8] = [
    "goodput_mean_bps",
    "goodput_p10_bps",
    "goodput_p50_bps",
    "goodput_p90_bps",
    "goodput_distance_mean",
    "goodput_distance_max",
    "utility_distance_mean",
    "rounds",
];
