// Written by `cargo xtask generate` from the types of `crates/report` and `crates/results`, and from
// `crates/xtask/src/contract_head.ts`.

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

export type Metrics = { [name: string]: Metric };
/** By division of a case (`group`, `distance`, `size`, `layer`) and the part's name. */
export type Parts = { [division: string]: { [part: string]: Metrics } };

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
 * `queues`: `start_ps` (delta), `duration_ps`, `busy_ps`, `waiting_pkts` and where the run has them `marks`, `drops`,
 * `share_ppm`. A port that sent and held nothing in an interval has no row, unless it has a share: its queue was 0.
 * `events`: `case`, `at_ps`, `kind` (text: link), `label` (text): the changes during a case, the same for every seed.
 *
 * A column whose field has the metadata `delta` = `1` holds the differences to the row before, the first to 0: a running sum
 * restores it.
 */
export type TableName =
  | "flows" | "jobs" | "links" | "convergence" | "rtts" | "lengths"
  | "subflows" | "samples" | "ports" | "queues" | "events";

/** A page of one run, or of several that are compared. */
export interface PageHead {
  /** Of this form of the head. */
  schema: "tresse/page/1";
  /** The version of the program that wrote the page. */
  version: string;
  runs: RunHead[];
  /** The meanings of the metrics, by name. */
  metrics: { [key: string]: MetricInfo };
}

/** A run. */
export interface RunHead {
  /** Unique among the runs of the page: the name of its folder. */
  id: string;
  /** The key by which a page requests its tables; only if it is served. */
  snapshot?: string;
  state: RunState;
  /** What could not be read, one sentence each: a corrupt table, a missing network. */
  problems: string[];
  /** What it measured. */
  report: Report;
  /** What was run. */
  experiment: ExperimentHead;
  /** The figure, such as `fig8`, if the run was started under its name: it comes first and is large. */
  figure?: string;
  /** The command line that repeats it. */
  command: string;
  host: Host;
  /** Of a run in progress. */
  progress?: Progress;
  /** Every case, including those that are not complete. Tables name a case by its index here. */
  cases: CaseHead[];
  /** The published numbers of whole cases and of parts, including windows of time, which `CaseResult.published_by` lacks; empty if settings have changed the experiment. */
  published: PublishedHead[];
  /** The figures that the experiment declares. */
  figures: Figure[];
  /** Its tables, by name. Tables that the run does not have and tables without rows are missing. */
  tables: { [key: string]: TableHead };
  /** Usually one; the JSON of number i is the table `network-i`, a `Network`. */
  networks: NetworkHead[];
}

/** The state of a run, by its folder. */
export type RunState = "complete" | "under-way" | "interrupted" | "gave-up" | "killed";

/** What `tresse run --json` prints and `run.json` contains. */
export interface Report {
  /** `tresse/run/1`. */
  schema: string;
  /** The experiment's name. */
  experiment: string;
  profile: string;
  /** The first seed. */
  seed: number;
  /** How many seeds the case with the most has; while the run is in progress, how many were begun. */
  replications: number;
  /** The cases with an interval still wider than requested, although the maximum number of seeds was run. */
  too_wide?: string[];
  /** How it ended. */
  status: Status;
  /** The program's version. */
  version: string;
  /** See `MODEL_VERSION`. */
  model_version: number;
  /** The testbed, if real hosts ran it; none for a simulation. */
  testbed?: Testbed;
  /** The folder of results. */
  out: string;
  /** How long it took. */
  wall_s: number;
  /** Packets that entered a port, counted once for every port. */
  packet_hops: number;
  /** A fingerprint of the results. */
  digest: string;
  /** What it was made of; none for a run of an earlier program. */
  inputs?: { [key: string]: unknown };
  /** What `--set` has changed of the published experiment. */
  changed?: ({ [key: string]: unknown })[];
  /** Whether it is judged by published numbers and claims: a changed run is not, unless requested. */
  judged: boolean;
  /** The cases and seeds that gave up, and why: flows waited forever. */
  errors?: string[];
  /** What did not happen or was not recorded although it was requested, and why. */
  notes?: string[];
  cases: CaseResult[];
  /** The paper's claims. */
  claims: Claim[];
}

/** How a run ended. */
export type Status = "running" | "complete" | "partial";

/** Real hosts, as `tresse testbed run` sets them up. */
export interface Testbed {
  /** How fast the experiment's time passed, such as `1/3`. */
  scale: string;
  /** What moved packets between hosts, if it was not the emulated fabric: `bridge` or `ovs`. */
  switch?: string;
}

/** The results of one case over its replications. */
export interface CaseResult {
  case: { [key: string]: AxisValue };
  /** A fingerprint of its own results, under all its seeds. */
  digest?: string;
  /** Whether its flows have sizes and come one by one: `tresse run` then shows completion times by size. */
  arrivals?: boolean;
  /** The measured values of `metric::METRICS`. */
  metrics: { [key: string]: Metric };
  /** The same for parts of the flows, by `group` (a part of the workload, or a scheme of a mix), `distance` and `size`, and for the ports by `layer`; divisions with only one part are left out. */
  by: { [key: string]: { [key: string]: { [key: string]: Metric } } };
  /** The metrics of flows in the windows of time, the mean over seeds. */
  windows?: { [key: string]: WindowResult };
  /** The jumps in the completion times of its jobs, by the claims about them. */
  jumps?: { [key: string]: JumpsFound };
  /** Half the width of the 95 % confidence interval of a metric; for a count, of the sum over all seeds. */
  ci95: { [key: string]: number };
  /** The same for the metrics of parts; over seeds only. */
  ci95_by?: { [key: string]: { [key: string]: { [key: string]: number } } };
  /** What the interval is over: `seeds`, or `rounds` if there is only one seed. */
  ci95_over: string;
  /** What was measured under each seed, if there are several. */
  seeds?: SeedResult[];
  /** The published numbers. */
  published: { [key: string]: number };
  /** The published numbers for parts of it, as in `by`. */
  published_by: { [key: string]: { [key: string]: { [key: string]: number } } };
  /** The rates that the controller claims to reach, and how far the flows were from them; empty if it claims none. `docs/optimum.md` describes the keys. */
  optimum: { [key: string]: number };
  /** The flows of the optimum: those at the start of each round, none of which has finished. */
  optimum_of: string;
  /** Why there is no optimum, or why some rounds have none. */
  no_optimum: string | null;
  /** Why there are no convergence times; `None` if there are, or if they were not requested. */
  no_convergence: string | null;
  /** Why recovery times are missing, or are not those of all changes; `None` if none is missing, or if they were not requested. */
  no_recovery?: string;
  /** Why path-sharing detection has no score; `None` if it has one, or if nothing detects. */
  no_sharing_score: string | null;
}

/** A value of an axis, for the schema of what has axes as JSON. */
export type AxisValue = string | number | boolean | null;

/** A value; counts stay whole numbers. */
export type Metric = number;

/** What flows got in a window of time. */
export interface WindowResult {
  /** Metrics of all flows that were active. */
  metrics: { [key: string]: Metric };
  /** Metrics of the flows of each group, by its name. */
  groups?: { [key: string]: WindowGroup };
}

/** What the flows of a group got in a window of time. */
export interface WindowGroup {
  /** Metrics of all its flows. */
  metrics: { [key: string]: Metric };
  /** Metrics of each subflow, if the group is one flow. */
  subflows?: ({ [key: string]: Metric })[];
}

/** The two most frequent classes of completion times. */
export interface JumpsFound {
  /** How far they are apart, s. */
  apart_s: number;
  /** The median of each, s, the shorter one first. */
  at_s: [number, number];
  /** The share of the jobs in each. */
  shares: [number, number];
}

/** What was measured of a case under one seed. */
export interface SeedResult {
  seed: number;
  /** As in `CaseResult`. */
  metrics: { [key: string]: Metric };
  /** As in `CaseResult`. */
  by: { [key: string]: { [key: string]: { [key: string]: Metric } } };
  /** As in `CaseResult`. */
  windows?: { [key: string]: WindowResult };
  /** As in `CaseResult`. */
  optimum?: { [key: string]: number };
}

/** A claim and whether it holds. */
export interface Claim {
  /** Its name. */
  id: string;
  /** The claim in words. */
  text: string;
  /** Where the paper says it. */
  source?: string;
  /** The claim of which this is another reading, as in the file. */
  reading_of?: string;
  /** Its metric. */
  metric: string;
  /** The form of the claim, which determines what `value` is. */
  form: FormName;
  /** Whether it holds; `None` if that is inconclusive. */
  holds: boolean | null;
  /** The verdict. */
  verdict: Verdict;
  /** The value that decides; of several, the one nearest to failing. */
  value: number | null;
  /** Half the width of the 95 % confidence interval of `value` over seeds; `None` with one seed. */
  ci95: number | null;
  /** The case or pair that `value` belongs to, if the claim is about several. */
  of?: string;
  /** How many cases it holds for, if it is about several. */
  cases?: Share;
  /** The verdict that the experiment's file expects in this profile. */
  expected: Verdict;
  /** Why it is not expected to hold. */
  because?: string;
  /** The proof that it contradicts its own paper; such a claim is counted separately. */
  contradicts?: string;
  /** Why there is no value, or why it decides nothing. */
  why?: string;
}

/** The name of a form. */
export type FormName = "ratio" | "difference" | "band" | "order" | "jumps";

/** What the results say about a claim. */
export type Verdict = "holds" | "inconclusive" | "does not hold";

/** The cases of a claim by their verdicts. */
export interface Share {
  /** How many there are; at least 2. */
  of: number;
  /** How many hold. */
  hold: number;
  /** How many must hold. Default: all. */
  at_least?: number;
  /** Those that do not hold. */
  do_not_hold?: string[];
  /** Those that are inconclusive. */
  inconclusive?: string[];
}

/** What was run. */
export interface ExperimentHead {
  title: string;
  /** Where it comes from. */
  source: string;
  /** What a reader needs to know. */
  about: string;
  /** As it was run, as TOML. */
  resolved: string;
  /** The same as JSON, without what is only read or judged by. */
  keys: { [key: string]: Setting };
  /** Where its published numbers come from; empty if it has none. */
  published_source?: string;
  /** Whether it has published numbers or claims. */
  is_published: boolean;
}

/** A value of a key, for the schema. */
export type Setting = string | number | boolean | Setting[] | { [key: string]: Setting };

/** The machine that a run was on, and when it began; fields that an earlier program did not record are empty. */
export interface Host {
  os: string;
  architecture: string;
  /** How many cases ran at a time. */
  threads: number;
  /** When it began: RFC 3339, UTC. */
  started: string;
}

/** `progress.json`: the progress of a run, for readers of its folder. */
export interface Progress {
  /** 0 to 1; `None` if that is not known. */
  done_ratio: number | null;
  /** Seconds since it began. */
  elapsed_s: number;
  /** Seconds until it ends; `None` if that is not known. */
  left_s: number | null;
  /** Packet-hops so far. */
  packet_hops: number;
  /** Replications that have ended. */
  replications_done: number;
  /** Replications that are to run. */
  replications: number;
  /** The schemes of all cases, with their numbers of subflows: results name only those of complete cases. */
  schemes: string[];
}

/** A case. */
export interface CaseHead {
  /** By axis: scheme, subflows, pattern, variant and the experiment's own. No number of subflows: the path manager decides. */
  case: { [key: string]: AxisValue };
  /** `xmp-2 permutation` */
  label: string;
  /** `xmp-2` */
  scheme: string;
  /** Its index in the report; `None` if it is not complete. */
  result: number | null;
}

/** The published numbers of a case, or of a part of it. */
export interface PublishedHead {
  /** The axes that it names; it covers every value of each other axis. */
  case: { [key: string]: AxisValue };
  /** The part, if any: `group`, `distance`, `size` or `layer`; or `window`, optionally with a `group` and a `subflow`. */
  part: { [key: string]: PartValue };
  /** The numbers, by metric. */
  metrics: { [key: string]: number };
}

/** The name of a part, or the number of a subflow, for the schema. */
export type PartValue = string | number;

/** A figure. What divides it (`x` of bars, `series`, `panels`) is a *dimension*. A dimension is an axis of the cases (`scheme`, with its number of subflows; `subflows`, `pattern`, `variant`, or a key with a list of values), or divides a case: `group`, `distance`, `size`, `layer`, `window`. `tresse explain figures` describes the charts. */
export interface Figure {
  /** Its name in the paper, such as `fig8`, or a name of your own; unique in the experiment. */
  id: string;
  /** What it shows, in one line. */
  title: string;
  /** What a reader needs to know to understand it; follows the title in the caption. */
  caption?: string;
  /** The kind of chart. */
  chart: Chart;
  /** For `time`, `bars`, `matrix`, `lines`, `boxes` and `scatter`: the quantity on the y axis, or in the cells. */
  y?: string;
  /** For `cdf`, a quantity; for `bars`, `matrix`, `boxes` and `lines`, a dimension; for `scatter`, a metric. */
  x?: string;
  /** The dimension whose values each have a colour. Default: `scheme`; for `time`, the subflows. */
  series?: string;
  /** The dimension whose values each have a panel. Default: one panel; for `time`, one for all schemes. */
  panels?: string;
  /** Which cases and parts it shows: the value of a dimension, or a list of them. Default: all. */
  where?: { [key: string]: unknown };
  /** The axes that are logarithmic. */
  log?: Direction[];
  /** The range of the x axis, in the unit at the end of the quantity's name. Default: the range of the data. */
  x_range?: [number, number];
  /** The same for the y axis. */
  y_range?: [number, number];
  /** Points that the paper prints and that are not `[published]` values; they are shown next to ours. */
  published?: Point[];
}

/** The kind of a chart. */
export type Chart = "time" | "cdf" | "bars" | "matrix" | "lines" | "boxes" | "scatter";

/** An axis of a chart. */
export type Direction = "x" | "y";

/** A point that a paper prints. */
export interface Point {
  /** The series that it belongs to: a value of that dimension. */
  series: string;
  /** The panel that it belongs to, if there are several. */
  panel?: string;
  /** Its position: a number, or a value of the dimension. */
  x: unknown;
  /** Its value, in the unit of the figure's quantity. */
  y: number;
}

/** A table of a run, as on the page. */
export interface TableHead {
  /** Rows in the page. */
  rows: number;
  /** Rows of the run's own table. */
  rows_of_run: number;
  /** How the page's rows were made from the run's, if there are fewer. */
  thinned?: string;
  columns: ColumnHead[];
}

/** A column of a table. */
export interface ColumnHead {
  name: string;
  /** Its unit; empty if it has none. */
  unit: string;
  /** The meaning in one sentence. */
  meaning: string;
}

/** A network of a run. */
export interface NetworkHead {
  /** The cases that are run on it, as indexes in `RunHead.cases`. */
  cases: number[];
  /** The name of its topology. */
  topology: string;
  hosts: number;
  /** Its nodes, including hosts. */
  nodes: number;
  /** Its ports: two for each link. */
  ports: number;
}

/** The meaning of a metric. */
export interface MetricInfo {
  /** Its unit in words; empty if it has none. */
  unit: string;
  /** The meaning in one sentence. */
  meaning: string;
  /** Its place in tables until the reader chooses others. */
  shown?: Shown;
}

/** Where a metric is in tables whose experiment names no metrics. The order of the tables is that of these values. */
export interface Shown {
  /** The kind of cases that it is shown for. */
  of: ShownOf;
  /** Its place among those of this kind. */
  place: number;
  /** Whether it is also shown where whole runs, or the points of a sweep, are compared. */
  compared: boolean;
}

/** A kind of cases, or of what is shown of all. */
export type ShownOf = "rates" | "completion" | "jobs" | "all";

/** `api/runs`: the runs of a folder. */
export interface RunList {
  schema: "tresse/view/1";
  /** The folder. */
  dir: string;
  /** The runs, in the order of their names. */
  runs: RunSummary[];
}

/** A run of the list. */
export interface RunSummary {
  /** Its folder, relative to the one that is viewed. */
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
  claims: ClaimCounts;
  /** The first metric of its table, for each of at most 8 cases. */
  headline: Headline | null;
  progress?: Progress;
  /** The ids of both sides, the simulated one first, if it is one of a twin. */
  twin?: [string, string];
  /** Why it cannot be read; then everything except id, date and state is empty. */
  error?: string;
}

export interface ClaimCounts {
  hold: number;
  fail: number;
  inconclusive: number;
}

export interface Headline {
  metric: string;
  values: HeadlineValue[];
}

export interface HeadlineValue {
  label: string;
  value: number;
  ci95: number | null;
}

/** A network. Nodes are numbered, hosts first; ports are the directions of links, as in the tables `links` and `queues`. */
export interface Network {
  nodes: Nodes;
  hosts: number;
  /** The node number of each host's first address is `host * addresses`: `from` and `to` of flows are numbers of hosts. */
  addresses: number;
  /** Whether every link joins two neighbouring levels: it can be drawn in layers. */
  layered: boolean;
  layers: string[];
  ports: Ports;
}

export interface Nodes {
  name: string[];
  /** The number of links to the nearest host; 0 for a host. */
  level: number[];
  /** The hosts' values, in their order. */
  rack: number[];
  /** As `rack`. */
  pod: number[];
}

export interface Ports {
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
  /** As `queue`. */
  mark: string[];
}
