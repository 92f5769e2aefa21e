/** Quantities: the values of table rows, and their divisions. */
import { DISTANCES, type Part } from "./cases";
import type { TableData } from "./table";

export interface Quantity {
  table: string;
  /** The item with one value. */
  of: string;
  /** The axis on which it is usually drawn. */
  log: boolean;
  values(table: TableData): ArrayLike<number>;
  /** How often each value occurs; for histograms. */
  weights?(table: TableData): ArrayLike<number>;
  /** The columns that divide its rows. */
  parts: Partial<Record<Part, string>>;
  /** What a reader has to know about it. */
  note?: string;
}

const SECOND = 1e12;
const FLOWS = { group: "group", distance: "locality", size: "size_bytes" };

function each(rows: number, value: (i: number) => number): Float64Array {
  const out = new Float64Array(rows);
  for (let i = 0; i < rows; i++) out[i] = value(i);
  return out;
}

/** For finished flows: from their start to the arrival of their last byte. */
function completion(table: TableData): Float64Array {
  const [end, lasted] = [table.number("end_ps"), table.number("lasted_ps")];
  return each(table.rows, (i) => (Number.isNaN(end[i]) ? Number.NaN : (lasted[i] as number)));
}

function column(name: string, factor = 1): (table: TableData) => ArrayLike<number> {
  return (table) => {
    const values = table.number(name);
    return factor === 1 ? values : each(table.rows, (i) => (values[i] as number) * factor);
  };
}

export const QUANTITIES: Record<string, Quantity> = {
  goodput_bps: { table: "flows", of: "flows", log: false, values: column("goodput_bps"), parts: FLOWS },
  fct_s: {
    table: "flows",
    of: "flows",
    log: true,
    parts: FLOWS,
    values: (table) => {
      const all = completion(table);
      return each(table.rows, (i) => (all[i] as number) / SECOND);
    },
    note: "FCT: from a flow’s start to the arrival of its last byte; flows that were stopped have none",
  },
  slowdown_ratio: {
    table: "flows",
    of: "flows",
    log: true,
    parts: FLOWS,
    values: (table) => {
      const [all, ideal] = [completion(table), table.number("ideal_ps")];
      return each(table.rows, (i) =>
        (ideal[i] as number) > 0 ? Math.max(1, (all[i] as number) / (ideal[i] as number)) : Number.NaN,
      );
    },
    note: "slowdown: the FCT over the flow’s FCT on an empty network",
  },
  size_bytes: { table: "flows", of: "flows", log: true, values: column("size_bytes"), parts: FLOWS },
  retransmissions_pkts: {
    table: "flows",
    of: "flows",
    log: false,
    values: column("retransmissions"),
    parts: FLOWS,
  },
  timeouts: { table: "flows", of: "flows", log: false, values: column("timeouts"), parts: FLOWS },
  cwnd_pkts: {
    table: "flows",
    of: "flows",
    log: false,
    parts: FLOWS,
    values: (table) => {
      const [sum, rounds] = [table.number("windows_pkts"), table.number("rounds")];
      return each(table.rows, (i) => (sum[i] as number) / (rounds[i] as number));
    },
    note: "window: the mean over the rounds of a flow’s subflows",
  },
  jct_s: {
    table: "jobs",
    of: "jobs",
    log: false,
    parts: { group: "part" },
    values: (table) => {
      const [start, end] = [table.number("start_ps"), table.number("end_ps")];
      return each(table.rows, (i) => ((end[i] as number) - (start[i] as number)) / SECOND);
    },
    note: "from the start of a job’s first flow until everything that the job waits for is done",
  },
  rtt_s: {
    table: "rtts",
    of: "ACKs",
    log: false,
    parts: { group: "group" },
    values: (table) => {
      const [least, most] = [table.number("least_ps"), table.number("most_ps")];
      return each(table.rows, (i) => middle(least[i] as number, most[i] as number) / SECOND);
    },
    weights: column("count"),
    note: "RTTs are counted in buckets: a value is off by at most 1/128 of it",
  },
  queue_pkts: {
    table: "lengths",
    of: "observations of queues",
    log: false,
    parts: { layer: "layer" },
    values: column("waiting_pkts"),
    weights: column("count"),
  },
  utilisation_ratio: {
    table: "links",
    of: "ports",
    log: false,
    parts: { layer: "layer" },
    values: (table) => {
      const carried = table.number("carried_bytes");
      const [rate, duration] = [table.number("rate_bps"), table.number("duration_ps")];
      return each(table.rows, (i) => {
        const capacity = ((rate[i] as number) * (duration[i] as number)) / (8 * SECOND);
        return capacity > 0 ? Math.min(1, (carried[i] as number) / capacity) : 0;
      });
    },
    note: "utilisation: the data that a port admitted over the data that its link could carry in the run",
  },
  drops_pkts: { table: "links", of: "ports", log: false, values: column("drops"), parts: { layer: "layer" } },
  marks_pkts: { table: "links", of: "ports", log: false, values: column("marks"), parts: { layer: "layer" } },
  convergence_s: {
    table: "convergence",
    of: "subflows",
    log: false,
    values: column("converged_ps", 1 / SECOND),
    parts: { group: "group" },
  },
};

/** The value that represents a bucket, both ends inclusive. */
function middle(least: number, most: number): number {
  return least + Math.ceil((most - least) / 2);
}

/** The parts of a quantity in their usual order. */
export function orderedParts(part: string, found: string[]): string[] {
  return part === "distance" ? DISTANCES.filter((name) => found.includes(name)) : found;
}

/** The unit-free stem and the unit of a quantity: its percentiles are `stem_pNN_unit`. */
export function percentileMetric(quantity: string, percent: number): string {
  const cut = quantity.lastIndexOf("_");
  return cut < 0 ? `${quantity}_p${percent}` : `${quantity.slice(0, cut)}_p${percent}${quantity.slice(cut)}`;
}
