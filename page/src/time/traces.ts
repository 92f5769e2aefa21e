/** Lines of samples: from the tables of a run to the traces of panels. */
import type { TableData } from "../data/table";
import type { Trace } from "./decimate";
import type { Entity, PortSeries, SubflowSeries } from "./series";

/** The metrics of subflow samples. */
export type FlowMetric = "goodput_bps" | "cwnd_pkts" | "srtt_s";
/** The metrics of port samples. */
export type PortMetric = "waiting_pkts" | "utilisation_ratio" | "share_ratio";
export type TimeMetric = FlowMetric | PortMetric;

export const METRICS: Record<
  TimeMetric,
  { title: string; short: string; of: "flows" | "ports"; percent?: true; meaning: string }
> = {
  goodput_bps: {
    title: "Goodput",
    short: "Goodput",
    of: "flows",
    meaning: "payload that arrived in each interval, over its length",
  },
  cwnd_pkts: {
    title: "Congestion window",
    short: "Window",
    of: "flows",
    meaning: "at the end of each interval",
  },
  srtt_s: { title: "Smoothed RTT", short: "SRTT", of: "flows", meaning: "at the end of each interval" },
  waiting_pkts: {
    title: "Queue",
    short: "Queue",
    of: "ports",
    meaning: "packets waiting at the end of each interval",
  },
  utilisation_ratio: {
    title: "Utilisation",
    short: "Utilisation",
    of: "ports",
    percent: true,
    meaning: "share of each interval in which the port was sending",
  },
  share_ratio: {
    title: "Share",
    short: "Share",
    of: "ports",
    percent: true,
    meaning:
      "the port’s share of its switch’s traffic at the end of each interval, the mean over destinations",
  },
};

export function isPortMetric(metric: TimeMetric): metric is PortMetric {
  return METRICS[metric].of === "ports";
}

export const PS = 1e-12;
export const PS_IN_S = 1e12;

function rate(amount: ArrayLike<number>, duration: ArrayLike<number>, factor: number): Float64Array {
  const y = new Float64Array(amount.length);
  for (let i = 0; i < y.length; i++) y[i] = ((amount[i] as number) * factor) / (duration[i] as number);
  return y;
}

/** One subflow: views of the table's columns, except for rates, which are computed. */
export function subflowTrace(samples: TableData, series: SubflowSeries, metric: FlowMetric): Trace {
  const end = series.offset + series.rows;
  const column = (name: string) => samples.number(name).subarray(series.offset, end);
  const states = samples.has("state") ? samples.text("state") : null;
  const trace: Trace = {
    start: column("start_ps"),
    duration: column("duration_ps"),
    y: new Float64Array(),
    per: 1,
    of: metric === "goodput_bps" ? "interval" : "end",
    absent: "missing",
  };
  if (metric === "goodput_bps") trace.y = rate(column("arrived_bytes"), trace.duration, 8 * PS_IN_S);
  else if (metric === "cwnd_pkts") trace.y = column("cwnd_pkts");
  else {
    trace.y = column("srtt_ps");
    trace.per = PS_IN_S;
  }
  const closed = states?.words.indexOf("closed") ?? -1;
  if (states && closed >= 0) {
    trace.codes = states.codes.subarray(series.offset, end);
    trace.closed = closed;
  }
  return trace;
}

/** How the values of several subflows are combined: rates and windows add up, round-trip times are averaged. */
export function entityTrace(samples: TableData, entity: Entity, metric: FlowMetric): Trace {
  const traces = entity.members.map((member) => subflowTrace(samples, member, metric));
  const [only] = traces;
  return only && traces.length === 1 ? only : combined(traces, metric === "srtt_s" ? "mean" : "sum");
}

/**
 * The sum or the mean of traces at every instant: their intervals are cut where any of them begins or ends,
 * so it is correct even for those that end early. If no trace has a value, it is `none`.
 */
export function combined(traces: readonly Trace[], how: "sum" | "mean", none = Number.NaN): Trace {
  let rows = 0;
  for (const trace of traces) rows += trace.start.length;
  const edges = new Float64Array(rows * 2);
  let at = 0;
  for (const { start, duration } of traces) {
    for (let i = 0; i < start.length; i++) {
      const s = start[i] as number;
      edges[at++] = s;
      edges[at++] = s + (duration[i] as number);
    }
  }
  const cuts = unique(edges.sort());
  const cells = Math.max(0, cuts.length - 1);
  const sums = new Float64Array(cells + 1);
  const count = new Int32Array(cells + 1);
  for (const trace of traces) {
    let cell = 0;
    for (let i = 0; i < trace.start.length; i++) {
      const value = (trace.y[i] as number) / trace.per;
      if (Number.isNaN(value) || (trace.codes !== undefined && trace.codes[i] === trace.closed)) continue;
      const s = trace.start[i] as number;
      const e = s + (trace.duration[i] as number);
      while ((cuts[cell] ?? Infinity) < s) cell++;
      for (let c = cell; c < cells && (cuts[c] as number) < e; c++) {
        sums[c] = (sums[c] as number) + value;
        count[c] = (count[c] as number) + 1;
      }
    }
  }
  const y = new Float64Array(cells);
  const duration = new Float64Array(cells);
  for (let c = 0; c < cells; c++) {
    const n = count[c] as number;
    y[c] = n === 0 ? none : how === "mean" ? (sums[c] as number) / n : (sums[c] as number);
    duration[c] = (cuts[c + 1] as number) - (cuts[c] as number);
  }
  const of = traces[0]?.of ?? "interval";
  return { start: cuts.subarray(0, cells), duration, y, per: 1, of, absent: "missing" };
}

function unique(sorted: Float64Array): Float64Array {
  let kept = 0;
  for (let i = 0; i < sorted.length; i++) {
    if (i === 0 || sorted[i] !== sorted[i - 1]) sorted[kept++] = sorted[i] as number;
  }
  return sorted.subarray(0, kept);
}

/** The optimum of a flow, from any of its subflows; null if it has none. */
export function optimumTrace(samples: TableData, member: SubflowSeries): Trace | null {
  if (!samples.has("flow_optimum_bps")) return null;
  const end = member.offset + member.rows;
  const y = samples.number("flow_optimum_bps").subarray(member.offset, end);
  if (!y.some((value) => !Number.isNaN(value))) return null;
  return {
    start: samples.number("start_ps").subarray(member.offset, end),
    duration: samples.number("duration_ps").subarray(member.offset, end),
    y,
    per: 1,
    of: "interval",
    absent: "missing",
  };
}

const MILLION = 1e6;

/**
 * One port, from the start of its round to the end: intervals without a row were empty. Its share is missing if the run has
 * none.
 */
export function portTrace(
  queues: TableData,
  series: PortSeries,
  metric: PortMetric,
  from: number,
  to: number,
): Trace {
  const end = series.offset + series.rows;
  const column = (name: string) => queues.number(name).subarray(series.offset, end);
  const [start, duration] = [column("start_ps"), column("duration_ps")];
  if (metric === "share_ratio") {
    const y = queues.has("share_ppm") ? column("share_ppm") : new Float64Array(series.rows).fill(Number.NaN);
    return { start, duration, y, per: MILLION, of: "end", absent: "missing" };
  }
  const rates = metric === "utilisation_ratio";
  const y = rates ? rate(column("busy_ps"), duration, 1) : column("waiting_pkts");
  return { start, duration, y, per: 1, of: rates ? "interval" : "end", absent: "zero", from, to };
}

/** When the first of these rows begins and the last one ends, in ps; null if there are none. */
export function spanOf(
  table: TableData,
  series: readonly { offset: number; rows: number }[],
): [number, number] | null {
  const start = table.number("start_ps");
  const duration = table.number("duration_ps");
  let from = Infinity;
  let to = -Infinity;
  for (const { offset, rows } of series) {
    if (rows === 0) continue;
    const last = offset + rows - 1;
    from = Math.min(from, start[offset] ?? Infinity);
    to = Math.max(to, (start[last] ?? 0) + (duration[last] ?? 0));
  }
  return from < to ? [from, to] : null;
}
