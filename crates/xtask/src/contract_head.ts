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
