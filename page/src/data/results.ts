/** Metrics of the results, each with its case and part: for bars, lines, tables. */
import { axisValue, isPart, isWanted, PARTS, wantedParts } from "./cases";
import type { CaseHead, CaseResult, Figure, Metrics, PageHead, RunHead } from "./contract";
import { type InWindow, intervalsIn, metricsIn, windowsOf } from "./windows";

/** A metric of a case or of a part of it. */
export interface Point {
  run: number;
  one: CaseHead;
  /** The value of each requested dimension. */
  at: Record<string, string>;
  value: number;
  /** Half the 95 % interval. */
  ci95: number | null;
  published: number | null;
  optimum: number | null;
}

/** The results of a case or of a part of it. */
export interface Measured {
  run: number;
  one: CaseHead;
  result: CaseResult;
  /**
   * The divisions of the case and the values for this part; empty: the whole case. A window may have a group,
   * and the group a subflow.
   */
  part: Record<string, string>;
  metrics: Metrics;
  ci95: Metrics;
  published: Metrics;
  optimum: Metrics;
}

/** The name of a part for readers: `settled, x1`; empty for the whole case. */
export function partName({ part }: Measured): string {
  return Object.entries(part)
    .map(([by, name]) => (by === "subflow" ? `subflow ${name}` : name))
    .join(", ");
}

function whole(run: number, one: CaseHead, result: CaseResult): Measured {
  const { metrics, ci95, published, optimum } = result;
  return { run, one, result, part: {}, metrics, ci95, published, optimum };
}

function parts(run: number, one: CaseHead, result: CaseResult, by: string): Measured[] {
  return Object.entries(result.by[by] ?? {}).map(([name, metrics]) => ({
    run,
    one,
    result,
    part: { [by]: name },
    metrics,
    ci95: result.ci95_by?.[by]?.[name] ?? {},
    published: result.published_by?.[by]?.[name] ?? {},
    optimum: {},
  }));
}

function windows(head: PageHead, run: number, one: CaseHead, result: CaseResult, by: readonly string[]) {
  return windowsOf(result, by).flatMap((part): Measured[] => {
    const metrics = metricsIn(result.windows, part);
    if (!metrics) return [];
    const published = publishedOf(head.runs[run], one, part);
    return [{ run, one, result, part, metrics, ci95: intervalsIn(result, part), published, optimum: {} }];
  });
}

type Published = RunHead["published"][number];

/** Whether a published value belongs to this case: it names some of its axes. */
export function isOf(entry: Published, one: CaseHead): boolean {
  return Object.entries(entry.case).every(([axis, value]) => String(one.case[axis]) === String(value));
}

/** The published values of a window of a case; empty for a run that is not judged by them. */
function publishedOf(run: RunHead | undefined, one: CaseHead, part: InWindow): Metrics {
  const named = Object.entries(part);
  const same = (own: Published["part"]) =>
    Object.keys(own).length === named.length &&
    named.every(([name, value]) => String(own[name]) === String(value));
  const all = run?.report.judged ? run.published.filter((entry) => same(entry.part) && isOf(entry, one)) : [];
  return Object.assign({}, ...all.map((entry) => entry.metrics)) as Metrics;
}

/** A run's measurement for a published value, and its intervals; undefined if the run has none. */
export function measuredAt(
  result: CaseResult,
  { part }: Published,
): Pick<Measured, "metrics" | "ci95"> | undefined {
  const words = Object.fromEntries(Object.entries(part).map(([by, name]) => [by, String(name)]));
  const [[by, name] = []] = Object.entries(words);
  if (by === undefined || name === undefined) return { metrics: result.metrics, ci95: result.ci95 };
  if (words.window === undefined) {
    const metrics = result.by[by]?.[name];
    return metrics && { metrics, ci95: result.ci95_by?.[by]?.[name] ?? {} };
  }
  const at: InWindow = { ...words, window: words.window };
  const metrics = metricsIn(result.windows, at);
  return metrics && { metrics, ci95: intervalsIn(result, at) };
}

/** Every complete case of these runs, or its parts along `by`, which {@link partAsked} defines. */
export function measured(
  head: PageHead,
  runs: number[],
  by: readonly string[],
  where?: Figure["where"],
): Measured[] {
  return runs.flatMap((place) => {
    const run = head.runs[place];
    return (run?.cases ?? []).flatMap((one) => {
      const result = one.result === null ? undefined : run?.report.cases[one.result];
      if (!result || !isWanted(one, where)) return [];
      const [first] = by;
      if (first === undefined) return [whole(place, one, result)];
      const all = by.includes("window")
        ? windows(head, place, one, result, by)
        : parts(place, one, result, first);
      return all.filter(({ part }) =>
        Object.entries(part).every(([own, name]) => wantedParts(where, own)?.includes(name) ?? true),
      );
    });
  });
}

/** The divisions of a case: its parts, windows of time, and the subflows of a flow in these. */
export function isDividing(dimension: string): boolean {
  return isPart(dimension) || dimension === "window" || dimension === "subflow";
}

/** The value of a dimension for a measured point; `beside` are the other dimensions of the chart. */
export function valueAt(of: Measured, dimension: string, beside: readonly string[] = []): string {
  return of.part[dimension] ?? axisValue(of.one, dimension, beside);
}

/** A metric of the measurements; `optimum.NAME` is a metric of the optimum. */
export function metricOf(of: Measured, metric: string): number | null {
  const value = metric.startsWith("optimum.") ? of.optimum[metric.slice(8)] : of.metrics[metric];
  return typeof value === "number" ? value : null;
}

/** The parts that a figure uses: its own dimensions, and those in `where`. */
export function partAsked(dimensions: (string | undefined)[], where: Figure["where"]): string[] {
  const named = [...dimensions, ...Object.keys(where ?? {})].filter((name) => name !== undefined);
  const asked = [...new Set(named.filter(isDividing))];
  const inWindow =
    asked.includes("window") && !PARTS.some((part) => part !== "group" && asked.includes(part));
  if (asked.includes("subflow") && !asked.includes("window")) {
    throw new Error("The results have metrics by subflow only in windows of time.");
  }
  if (asked.length > 1 && !inWindow) {
    throw new Error(`The results have no metrics by ${asked.join(" and ")} together.`);
  }
  return asked;
}

/** The points of a chart of metrics. */
export function points(
  head: PageHead,
  runs: number[],
  metric: string,
  dimensions: string[],
  where?: Figure["where"],
): Point[] {
  return measured(head, runs, partAsked(dimensions, where), where).flatMap((of) => {
    const value = metricOf(of, metric);
    if (value === null) return [];
    const at = Object.fromEntries(dimensions.map((name) => [name, valueAt(of, name, dimensions)]));
    const own = (all: Metrics) => all[metric] ?? null;
    return [
      {
        run: of.run,
        one: of.one,
        at,
        value,
        ci95: own(of.ci95),
        published: own(of.published),
        optimum: own(of.optimum),
      },
    ];
  });
}
