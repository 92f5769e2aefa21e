/** Which runs are listed, and in which order. */
import type { RunState, RunSummary } from "../data/contract";
import { matches, natural } from "../time/series";

export const STATES: Record<RunState, string> = {
  "under-way": "in progress",
  complete: "complete",
  interrupted: "interrupted",
  "gave-up": "gave up",
  killed: "killed",
};

export type Column = "experiment" | "schemes" | "state" | "date" | "cases" | "claims" | "headline" | "wall";

export interface Order {
  column: Column;
  descending: boolean;
}

/** The text that a search covers. */
export function searched(run: RunSummary): string {
  return [
    run.id,
    run.experiment,
    run.title,
    run.profile,
    STATES[run.state],
    run.error ?? "",
    ...run.schemes,
  ].join(" ");
}

export function filtered(
  runs: readonly RunSummary[],
  search: string,
  states: ReadonlySet<RunState>,
): RunSummary[] {
  return runs.filter((run) => (states.size === 0 || states.has(run.state)) && matches(searched(run), search));
}

function headlineOf(run: RunSummary): number {
  return run.headline?.values[0]?.value ?? Number.NaN;
}

/** Empty for a time that cannot be read. */
export function timeOf(run: RunSummary): number {
  return Date.parse(run.date);
}

const ranks: RunState[] = ["under-way", "complete", "interrupted", "gave-up", "killed"];

const byNumber: Partial<Record<Column, (run: RunSummary) => number>> = {
  date: timeOf,
  cases: (run) => run.cases,
  claims: (run) =>
    run.claims.hold + run.claims.fail + run.claims.inconclusive > 0 ? run.claims.hold : Number.NaN,
  headline: headlineOf,
  wall: (run) => run.progress?.elapsed_s ?? run.wall_s,
  state: (run) => ranks.indexOf(run.state),
};

/**
 * Runs without a value are last in either direction; equal ones are sorted by name, so that the order is
 * always the same.
 */
export function sorted(runs: readonly RunSummary[], { column, descending }: Order): RunSummary[] {
  const sign = descending ? -1 : 1;
  const value = byNumber[column];
  const words = (run: RunSummary) =>
    column === "schemes" ? run.schemes.join(" ") : run.experiment || run.id;
  return [...runs].sort((a, b) => {
    const tie = natural(a.id, b.id);
    if (!value) return sign * natural(words(a), words(b)) || tie;
    const [x, y] = [value(a), value(b)];
    if (Number.isNaN(x) || Number.isNaN(y)) return Number(Number.isNaN(x)) - Number(Number.isNaN(y)) || tie;
    return sign * (x - y) || tie;
  });
}

export function countsOf(runs: readonly RunSummary[]): Map<RunState, number> {
  const counts = new Map<RunState, number>();
  for (const run of runs) counts.set(run.state, (counts.get(run.state) ?? 0) + 1);
  return counts;
}

/** The address of the page of these runs. */
export function pageOf(ids: readonly string[]): string {
  return `#/run?${ids.map((id) => `run=${encodeURIComponent(id)}`).join("&")}`;
}

/** Runs that were in the list before but are not now. */
export function vanished(before: readonly RunSummary[], now: readonly RunSummary[]): string[] {
  const ids = new Set(now.map((run) => run.id));
  return before.filter((run) => !ids.has(run.id)).map((run) => run.id);
}
