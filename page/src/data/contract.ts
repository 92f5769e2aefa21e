/**
 * The data that the program gives to the page: the contract between `crates/report` and `page/`.
 *
 * A page on disk holds everything in itself: `<script type="application/json" id="tresse-head">` is a {@link PageHead},
 * and each table of each run is `<script type="application/gzip" id="tresse-RUN-TABLE">` (`tresse-0-flows`): base64 of
 * a gzipped Arrow IPC stream, or of gzipped JSON for networks (`tresse-0-network-0`).
 *
 * `tresse view` serves the same page without data. It then asks, relative to its own address:
 * - `api/runs`: a {@link RunList};
 * - `api/events`: server-sent events `runs`, each a {@link RunList} whenever something has changed;
 * - `api/page?run=ID&run=ID`: a {@link PageHead};
 * - `api/table?run=ID&table=NAME&snapshot=S`: the Arrow IPC stream, or the JSON of a network (`table=network-0`), of the run as
 *   it was when the head with this `snapshot` was read; 410 if that is gone.
 */

/** A page of one run or of several that are compared. */
export interface PageHead {
  schema: "tresse/page/1";
  /** The version of the program that wrote the page. */
  version: string;
  runs: RunHead[];
  /** What the metrics of the results mean, by their names. */
  metrics: Record<string, MetricInfo>;
}

export interface MetricInfo {
  /** In words; empty if it has none. */
  unit: string;
  meaning: string;
  /** Its place in tables until the reader chooses others. */
  shown?: { of: ShownOf; place: number };
}

/** Cases whose flows are active together; those whose flows come one by one; those with jobs; all cases, last. */
export type ShownOf = "rates" | "completion" | "jobs" | "all";

export interface RunHead {
  /** Unique among the runs of the page: the name of its folder. */
  id: string;
  /** The key for requesting its tables; only on a page that is served. */
  snapshot?: string;
  state: RunState;
  /** The parts that could not be read, as sentences: a corrupt table, a missing network. */
  problems: string[];
  report: Report;
  experiment: {
    title: string;
    source: string;
    about: string;
    /** The experiment as it was run, as TOML: to be read by people. */
    resolved: string;
    /** The same, without what is only read or judged by. */
    keys: Record<string, Setting>;
    /** Where its published numbers come from. */
    published_source?: string;
    /** Whether it has published numbers or claims. */
    is_published?: boolean;
  };
  /** The requested figure, such as `fig8`, if the run was started by its name: it comes first and is large. */
  figure?: string;
  /** The command line that repeats the run. */
  command: string;
  /** The known facts about the machine; `started` is RFC 3339. */
  host: { os?: string; architecture?: string; threads?: number; started?: string };
  /** The progress of a run that has not ended. */
  progress?: Progress;
  /** Every case of the run, including incomplete ones. Tables name a case by its index here. */
  cases: CaseHead[];
  /** The published values of whole cases and of parts, including windows of time, which `CaseResult.published_by` lacks. */
  published: {
    /** The axes that it names; it applies to every value of each other axis. */
    case: Record<string, string | number>;
    /** `group`, `distance`, `size` or `layer`; or `window`, also with a `group`, and with a `subflow` of its one flow. */
    part: Record<string, string | number>;
    metrics: Metrics;
  }[];
  /** The figures that the experiment declares, those of the paper among them. */
  figures: Figure[];
  /** Its tables, by name. Tables that the run does not have and tables without rows are missing. */
  tables: Record<string, TableHead>;
  /** Its networks: usually one; the JSON of number i is the table `network-i`, a {@link Network}. */
  networks: NetworkHead[];
}

/** A value of a key. */
export type Setting = string | number | boolean | Setting[] | { [key: string]: Setting };

/** `killed`: its process is gone without reporting how it ended. `gave-up`: flows waited forever. */
export type RunState = "complete" | "under-way" | "interrupted" | "gave-up" | "killed";

export interface Progress {
  /** From 0 to 1; null if unknown. */
  done_ratio: number | null;
  elapsed_s: number;
  left_s: number | null;
  packet_hops: number;
  /** The number of finished replications, and of all. */
  replications_done: number;
  replications: number;
}

export interface CaseHead {
  /** The axes: scheme, subflows, pattern, variant and the experiment's own. A null subflows: the path manager decides. */
  case: Record<string, string | number | boolean | null>;
  /** `xmp-2 permutation` */
  label: string;
  /** `xmp-2` */
  scheme: string;
  /** Its index in `report.cases`; null if it is not complete. */
  result: number | null;
}

export interface TableHead {
  /** Rows in the page. */
  rows: number;
  /** Rows of the run's own table. */
  rows_of_run: number;
  /** How the page's rows were made from the run's, if there are fewer of them: a sentence. */
  thinned?: string;
  columns: { name: string; unit: string; meaning: string }[];
}

/**
 * Tables (columns are Float64 unless said; integers of the run are exact; text is dictionary-encoded; null is missing):
 *
 * `flows`, `jobs`, `links`, `convergence`: the columns of the run's own table (`tresse explain results`), but for the
 * axes, which are replaced by `case` (Uint32, the index in `RunHead.cases`) and `seed`.
 *
 * `rtts`: `case`, `seed`, `group`, `least_ps`, `most_ps`, `count`: a histogram of the round-trip times of ACKs; the values
 * of a row are between least and most, ends included.
 * `lengths`: `case`, `seed`, `layer`, `waiting_pkts`, `count`: how often queues had this length when they were observed.
 *
 * `subflows`: one row for each series of samples, `case`, `seed`, `round`, `group`, `flow`, `from`, `to`, `subflow`,
 * `offset`, `rows` (Uint32: its rows in `samples`), `path` (text: its ports separated by spaces, from the sender; null if
 * switches choose).
 * `samples`: `start_ps` (delta), `duration_ps`, `arrived_bytes`, `cwnd_pkts`, `srtt_ps`, `state` (open, disorder, cwr,
 * recovery, loss, closed), `flow_optimum_bps`, and where the run has them `marks`, `retransmissions`, `timeouts`.
 * `ports`: one row for each series, `case`, `seed`, `round`, `port`, `layer`, `offset`, `rows`.
 * `queues`: `start_ps` (delta), `duration_ps`, `busy_ps`, `waiting_pkts` and where the run has them `marks`, `drops`. A port
 * that sent and held nothing in an interval has no row: its queue was 0.
 * `events`: `case`, `at_ps`, `kind` (text: link), `label` (text): the changes during a case, the same for every seed.
 *
 * A column whose field has the metadata `delta` = `1` holds the differences to the row before, the first to 0: a running sum
 * restores it.
 */
export type TableName =
  | "flows" | "jobs" | "links" | "convergence" | "rtts" | "lengths"
  | "subflows" | "samples" | "ports" | "queues" | "events";

export interface NetworkHead {
  /** Indexes in `RunHead.cases`. */
  cases: number[];
  topology: string;
  hosts: number;
  nodes: number;
  ports: number;
}

/** A network. Nodes are numbered, hosts first; ports are the directions of links, as in `links` and `queues`. */
export interface Network {
  nodes: {
    name: string[];
    /** The number of links to the nearest host; 0 for a host. */
    level: number[];
    /** The hosts' values, in their order. */
    rack: number[];
    pod: number[];
  };
  hosts: number;
  /** The node number of each host's first address is `host * addresses`: `from` and `to` of flows are numbers of hosts. */
  addresses: number;
  /** Whether every link joins two neighbouring levels: it can be drawn in layers. */
  layered: boolean;
  layers: string[];
  ports: {
    from: number[];
    to: number[];
    /** Indexes in `layers`. */
    layer: number[];
    /** The other direction of its link. */
    twin: number[];
    rate_bps: number[];
    delay_ps: number[];
    /** As in a file: "100pkt". */
    queue: string[];
    mark: string[];
  };
}

/** As `tresse run --json` prints it (docs/reference, `tresse explain results`). */
export interface Report {
  experiment: string;
  profile: string;
  seed: number;
  replications: number;
  too_wide?: string[];
  status: "running" | "complete" | "partial";
  version: string;
  model_version: number;
  /** Present if the run was on real hosts. */
  testbed?: { scale: string };
  out: string;
  wall_s: number;
  packet_hops: number;
  digest: string;
  inputs?: Record<string, unknown>;
  /** The changes by `--set` to what the numbers and claims were published for. */
  changed?: Record<string, unknown>[];
  judged: boolean;
  errors?: string[];
  cases: CaseResult[];
  claims: Claim[];
}

export type Metrics = Record<string, number>;
/** By division of a case (`group`, `distance`, `size`, `layer`) and the part's name. */
export type Parts = Record<string, Record<string, Metrics>>;

export interface CaseResult {
  case: CaseHead["case"];
  metrics: Metrics;
  by: Parts;
  windows?: Record<string, WindowResult>;
  /** Half the width of the 95 % confidence interval. */
  ci95: Metrics;
  ci95_by?: Parts;
  /** `seeds` or `rounds`. */
  ci95_over: string;
  seeds?: { seed: number; metrics: Metrics; by: Parts; windows?: Record<string, WindowResult>; optimum?: Metrics }[];
  published: Metrics;
  published_by: Parts;
  /** The values that the controller claims to reach, and the flows' distance from them (`tresse explain optimum`). */
  optimum: Metrics;
  optimum_of: string;
  no_optimum: string | null;
  no_convergence: string | null;
  no_sharing_score: string | null;
}

export interface WindowResult {
  metrics: Metrics;
  groups?: Record<string, { metrics: Metrics; subflows?: Metrics[] }>;
}

export type Verdict = "holds" | "does not hold" | "inconclusive";

export interface Claim {
  id: string;
  text: string;
  source?: string;
  reading_of?: string;
  metric: string;
  form: "ratio" | "difference" | "band" | "order" | "jumps";
  holds: boolean | null;
  verdict: Verdict;
  value: number | null;
  ci95: number | null;
  of?: string;
  cases?: { of: number; hold: number; at_least?: number; do_not_hold?: string[]; inconclusive?: string[] };
  expected: Verdict;
  because?: string;
  contradicts?: string;
  why?: string;
}

/**
 * A figure, as an experiment declares it in `[[figures]]`.
 *
 * A *dimension* is an axis of the cases (`scheme`: with its number of subflows, `subflows`, `pattern`, `variant`, or an axis
 * of the experiment's own), or a division of a case: `group`, `distance`, `size`, `layer`, `window`.
 * A *quantity* is a value of rows: `goodput_bps`, `fct_s`, `slowdown_ratio`, `size_bytes`, `retransmissions_pkts`, `timeouts`,
 * `cwnd_pkts` (flows), `jct_s` (jobs), `rtt_s`, `queue_pkts` (observations of queues), `utilisation_ratio`, `drops_pkts`,
 * `marks_pkts` (links), `convergence_s`.
 * A *metric* is a value of a case's results: `goodput_mean_bps`.
 */
export interface Figure {
  /** `fig8`, as in the paper; unique in the experiment. */
  id: string;
  title: string;
  /** Facts that a reader needs to understand it; follows the title in the caption. */
  caption?: string;
  chart: "time" | "cdf" | "bars" | "matrix" | "lines" | "boxes" | "scatter";
  /**
   * `time`: goodput_bps, cwnd_pkts, srtt_s, waiting_pkts or utilisation_ratio, of samples. `bars`, `lines`, `scatter`: a
   * metric. `boxes`: a quantity (box: 10th, 50th and 90th percentile; whiskers: least and most). `cdf`: nothing.
   */
  y?: string;
  /** `cdf`: a quantity. `bars`, `boxes`: a dimension. `lines`: a dimension whose values are numbers, or end in one. `scatter`: a metric. */
  x?: string;
  /** One colour each; default: `scheme`, of `time` each `subflow` (or `flow`, `group`, `port`). */
  series?: string;
  /** Small multiples, one for each value; of `time` by default one for each case. */
  panels?: string;
  /** Which cases and parts: dimension → the wanted value or values. */
  where?: Record<string, string | number | boolean | (string | number | boolean)[]>;
  /** Axes that are logarithmic. */
  log?: ("x" | "y")[];
  /** As on the paper's axis, in the unit of the quantity's name. */
  x_range?: [number, number];
  y_range?: [number, number];
  /** Points that the paper printed and that no `[published]` value has: drawn next to ours and labelled as the paper's. */
  published?: { series: string; panel?: string; x: number | string; y: number }[];
}

/** `tresse view`: the runs of a folder. */
export interface RunList {
  schema: "tresse/view/1";
  /** The folder. */
  dir: string;
  runs: RunSummary[];
}

export interface RunSummary {
  /** Its folder, relative to `dir`. */
  id: string;
  experiment: string;
  title: string;
  schemes: string[];
  profile: string;
  seed: number;
  replications: number;
  state: RunState;
  /** RFC 3339: when it began, or when its folder was last written. */
  date: string;
  wall_s: number;
  packet_hops: number;
  cases: number;
  claims: { hold: number; fail: number; inconclusive: number };
  /** The first metric of its table, for each of at most 8 cases. */
  headline: { metric: string; values: { label: string; value: number; ci95: number | null }[] } | null;
  progress?: Progress;
  /** If it is one side of a twin, the ids of both sides, the simulated one first. */
  twin?: [string, string];
  /** Why it cannot be read; then everything except id, date and state is empty. */
  error?: string;
}
