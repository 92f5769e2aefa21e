/** Which metrics the table of results shows: those of the program's own table, and those that the reader chooses. */
import type { PageHead, ShownOf } from "../data/contract";
import { capitalised, shortName } from "../data/format";
import type { Measured } from "../data/results";
import { isTable } from "../data/settings";

/** The metrics that the experiment's own table names: `[measure] table = ["…"]`. */
function ownTable(head: PageHead): string[] {
  return head.runs.flatMap((run) => {
    const measure = run.experiment.keys.measure;
    const table = isTable(measure) ? measure.table : undefined;
    return Array.isArray(table) ? table.map(String) : [];
  });
}

/** The metrics that are shown of cases of this kind, in their order. */
function shown(head: PageHead, of: ShownOf): string[] {
  const own = Object.entries(head.metrics).flatMap(([name, { shown }]) =>
    shown?.of === of ? [{ name, place: shown.place }] : [],
  );
  return own.sort((a, b) => a.place - b.place).map(({ name }) => name);
}

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
  const main = own.length > 0 ? own : shown(head, hasArrivals(head) ? "completion" : "rates");
  const jobs = own.length > 0 ? [] : shown(head, "jobs");
  const all = [...new Set([...main, ...published, ...jobs, ...shown(head, "all")])];
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
