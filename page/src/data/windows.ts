/** The rates of flows in windows of time. */
import { magnitude } from "./cases";
import type { CaseResult, Metrics, RunHead, WindowResult } from "./contract";
import { isTable } from "./settings";
import { halfWidth95 } from "./stats";

/** A window by its name; or a group in it, or one subflow of the group's only flow. */
export type InWindow = { window: string; group?: string; subflow?: string };

/** The metrics of a window, or of a part of it. */
export function metricsIn(
  windows: Record<string, WindowResult> | undefined,
  { window, group, subflow }: InWindow,
): Metrics | undefined {
  const own = windows?.[window];
  if (group === undefined) return own?.metrics;
  const flows = own?.groups?.[group];
  return subflow === undefined ? flows?.metrics : flows?.subflows?.[Number(subflow)];
}

/** All windows of a case, with the requested divisions; a subflow belongs to a group. */
export function windowsOf(result: CaseResult, asked: readonly string[]): InWindow[] {
  return Object.entries(result.windows ?? {}).flatMap(([window, { groups }]): InWindow[] => {
    if (!asked.includes("group") && !asked.includes("subflow")) return [{ window }];
    return Object.entries(groups ?? {}).flatMap(([group, { subflows }]): InWindow[] => {
      if (!asked.includes("subflow")) return [{ window, group }];
      return (subflows ?? []).map((_, i) => ({ window, group, subflow: String(i) }));
    });
  });
}

/** The intervals of means over seeds, which the results themselves do not have for windows. */
export function intervalsIn(result: CaseResult, at: InWindow): Metrics {
  const seeds = (result.seeds ?? []).map((seed) => metricsIn(seed.windows, at) ?? {});
  const out: Metrics = {};
  for (const metric of Object.keys(seeds[0] ?? {})) {
    const values = seeds.flatMap((seed) => seed[metric] ?? []);
    const half = halfWidth95(values);
    if (half !== null) out[metric] = half;
  }
  return out;
}

/** The windows of an experiment with their two ends as written, in the order of time. */
export function windowEnds(run: RunHead): Map<string, [string, string]> {
  const all: [string, [string, string]][] = [];
  const measure = run.experiment.keys.measure;
  const windows = isTable(measure) && isTable(measure.windows) ? measure.windows : {};
  for (const [name, ends] of Object.entries(windows)) {
    const [from, to] = Array.isArray(ends) ? ends : [];
    if (typeof from === "string" && typeof to === "string") all.push([name, [from, to]]);
  }
  const at = (time: string) => magnitude(time) ?? 0;
  all.sort(([, a], [, b]) => at(a[0]) - at(b[0]) || at(a[1]) - at(b[1]));
  return new Map(all);
}

/** The meanings of metrics in windows that differ from those of whole flows. */
export const WINDOW_MEANINGS: Record<string, string> = {
  goodput_mean_bps:
    "a flow’s payload that arrived in the window, divided by the time that it was active there, the mean over flows",
  goodput_total_bps: "the payload of all flows that arrived in the window, divided by its length",
  goodput_min_bps: "the lowest goodput of any flow over the time that it was active in the window",
  goodput_max_bps: "the highest goodput of any flow over the time that it was active in the window",
  jain_ratio:
    "Jain’s index of the flows’ rates in the window, (Σx)² / (n Σx²): 1 if all are equal, 1/n if one flow has everything",
  goodput_sd_ratio:
    "the standard deviation over time of a flow’s rate in the window over its mean, the mean over flows",
  cwnd_mean_pkts: "the congestion window in the window of time, the mean over time and subflows",
  srtt_mean_s: "the smoothed RTT in the window of time, the mean over time and subflows",
};
