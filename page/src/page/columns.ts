/** Which metrics the table of results shows: those of the program's own table, and those that the reader chooses. */
import type { PageHead } from "../data/contract";
import { capitalised, shortName } from "../data/format";
import type { Measured } from "../data/results";

/** The metrics that the experiment's own table names: `[measure] table = ["…"]`. */
function ownTable(head: PageHead): string[] {
  return head.runs.flatMap((run) => {
    const section = /^\[measure\][^[]*?^table = \[([^\]]*)\]/m.exec(run.experiment.resolved);
    return [...(section?.[1] ?? "").matchAll(/"([^"]+)"/g)].map((found) => found[1] ?? "");
  });
}

const GOODPUT = ["goodput_mean_bps", "goodput_p10_bps", "goodput_p90_bps"];
const COMPLETION = ["fct_mean_s", "fct_p50_s", "fct_p99_s", "slowdown_p50_ratio", "slowdown_p99_ratio"];
const JOBS = ["jct_mean_s", "jct_p99_s", "job_deadline_miss_ratio"];
const OTHERS = ["rtt_mean_s", "timeouts", "retransmissions_pkts", "drops_pkts", "flows"];

/** Whether flows arrive one by one, so that their completion times matter. */
function hasArrivals(head: PageHead): boolean {
  return head.runs.some((run) =>
    run.report.cases.some((one) => one.metrics.offered_bisection_ratio !== undefined),
  );
}

/** The metrics that are shown until the reader chooses, in the order of the table. */
export function defaultColumns(head: PageHead, rows: Measured[]): string[] {
  const published = rows.flatMap((row) => Object.keys(row.published));
  const own = ownTable(head);
  const main = own.length > 0 ? own : hasArrivals(head) ? COMPLETION : GOODPUT;
  const all = [...new Set([...main, ...published, ...(own.length > 0 ? [] : JOBS), ...OTHERS])];
  return all.filter((metric) => rows.some((row) => has(row, metric)));
}

/** An empty column is useless. */
function has(row: Measured, metric: string): boolean {
  return row.metrics[metric] !== undefined && row.metrics[metric] !== 0;
}

/** All metrics of any row, in the order of their meanings. */
export function allColumns(head: PageHead, rows: Measured[]): string[] {
  const found = new Set(rows.flatMap((row) => Object.keys(row.metrics)));
  const known = Object.keys(head.metrics).filter((metric) => found.has(metric));
  return [...known, ...[...found].filter((metric) => !known.includes(metric))];
}

export function columnTitle(metric: string): string {
  return capitalised(shortName(metric));
}
