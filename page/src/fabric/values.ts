/** The values of a port: for the whole run, or for one interval. */
import type { Network } from "../data/contract";
import type { Numbers, TableData } from "../data/table";
import { firstEndingAfter } from "../time/decimate";
import type { PortSeries, Scope } from "../time/series";
import { PS } from "../time/traces";

/** Totals of a port under one case and seed; null if the run has no row of it. */
export interface Totals {
  carried_bytes: number;
  utilisation_ratio: number;
  drops: number;
  lost: number;
  marks: number;
}

export type LinkMetric = "utilisation" | "drops" | "lost" | "marks" | "queue";

export const LINK_METRICS: Record<LinkMetric, { title: string; unit: string; needs: "links" | "queues" }> = {
  utilisation: { title: "Utilisation", unit: "%", needs: "links" },
  drops: { title: "Drops", unit: "packets", needs: "links" },
  lost: { title: "Losses", unit: "packets", needs: "links" },
  marks: { title: "Marks", unit: "packets", needs: "links" },
  queue: { title: "Queue", unit: "packets", needs: "queues" },
};

/**
 * Totals by the number of the port. The utilisation of a link is its carried data relative to its initial
 * rate times the length of the run.
 */
export function totalsOf(
  links: TableData | null,
  scope: Pick<Scope, "case" | "seed">,
  ports: number,
): (Totals | null)[] {
  const found: (Totals | null)[] = Array(ports).fill(null);
  if (!links) return found;
  const column = (name: string): ArrayLike<number> => (links.has(name) ? links.number(name) : []);
  const [caseOf, seed, port] = [column("case"), column("seed"), column("port")];
  const [carried, rate, lasted] = [column("carried_bytes"), column("rate_bps"), column("duration_ps")];
  const [drops, lost, marks] = [column("drops"), column("lost"), column("marks")];
  for (let row = 0; row < links.rows; row++) {
    if (caseOf[row] !== scope.case || seed[row] !== scope.seed) continue;
    const capacity = ((rate[row] ?? 0) * (lasted[row] ?? 0) * PS) / 8;
    found[port[row] ?? -1] = {
      carried_bytes: carried[row] ?? 0,
      utilisation_ratio: capacity > 0 ? (carried[row] ?? 0) / capacity : 0,
      drops: drops[row] ?? 0,
      lost: lost[row] ?? 0,
      marks: marks[row] ?? 0,
    };
  }
  return found;
}

export function totalOf(totals: Totals | null | undefined, metric: LinkMetric): number {
  if (!totals || metric === "queue") return Number.NaN;
  return metric === "utilisation" ? totals.utilisation_ratio : totals[metric];
}

/** The values of ports in the interval at an instant. */
export class Intervals {
  #series: (PortSeries | undefined)[];
  #times: { start: Numbers; duration: Numbers };
  #waiting: ArrayLike<number>;
  #busy: ArrayLike<number>;
  /** From the start of the round to its end, in seconds. */
  readonly from: number;
  readonly to: number;
  /** The usual length of an interval, in seconds. */
  readonly step: number;

  constructor(queues: TableData, series: readonly PortSeries[], network: Network) {
    this.#series = Array(network.ports.from.length);
    const [start, duration] = [queues.number("start_ps"), queues.number("duration_ps")];
    this.#times = { start, duration };
    this.#waiting = queues.number("waiting_pkts");
    this.#busy = queues.number("busy_ps");
    let [from, to, step] = [Infinity, 0, 0];
    for (const one of series) {
      this.#series[one.port] = one;
      if (one.rows === 0) continue;
      const last = one.offset + one.rows - 1;
      from = Math.min(from, start[one.offset] ?? Infinity);
      to = Math.max(to, (start[last] ?? 0) + (duration[last] ?? 0));
      step = Math.max(step, duration[one.offset] ?? 0);
    }
    this.from = Number.isFinite(from) ? from * PS : 0;
    this.to = to * PS;
    this.step = step * PS || this.to - this.from;
  }

  get count(): number {
    return Math.max(1, Math.ceil((this.to - this.from) / this.step - 1e-6));
  }

  /** The instant in the middle of an interval. */
  at(interval: number): number {
    return this.from + (interval + 0.5) * this.step;
  }

  /** A port without a row sent and held nothing. */
  value(port: number, at: number, metric: "utilisation" | "queue"): number {
    const series = this.#series[port];
    if (!series) return 0;
    const row = firstEndingAfter(this.#times, at / PS, series.offset, series.offset + series.rows);
    if (row === series.offset + series.rows || (this.#times.start[row] ?? Infinity) > at / PS) return 0;
    return metric === "queue"
      ? (this.#waiting[row] ?? 0)
      : (this.#busy[row] ?? 0) / (this.#times.duration[row] ?? 1);
  }
}

/** Values of the ports of a layer in equal bins from 0 to `most`. */
export function histogram(values: readonly number[], most: number, bins: number): number[] {
  const counts = Array<number>(bins).fill(0);
  for (const value of values) {
    if (Number.isNaN(value)) continue;
    const bin = Math.min(bins - 1, Math.max(0, Math.floor((value / most) * bins)));
    counts[bin] = (counts[bin] ?? 0) + 1;
  }
  return counts;
}
