/** The current meaning of a network's colours: the whole run, or one interval. */
import type { Network } from "../data/contract";
import { formatted } from "../data/format";
import { endOf } from "./scale";
import { type Intervals, LINK_METRICS, type LinkMetric, type Totals, totalOf } from "./values";

export interface Shown {
  metric: LinkMetric;
  /** For each port; NaN if unknown. */
  values: Float64Array;
  /** The end of the scale. */
  most: number;
  /** From 0 to 1. */
  shares: Float64Array;
  /** In ascending order. */
  order: Uint32Array;
}

/** For one interval, only utilisation and queues are known. */
export function metricIn(metric: LinkMetric, interval: number | null): LinkMetric {
  if (interval === null) return metric === "queue" ? "utilisation" : metric;
  return metric === "queue" ? "queue" : "utilisation";
}

/** `most` is fixed for intervals, so that colours can be compared as time passes. */
export function shownOf(
  network: Network,
  metric: LinkMetric,
  totals: readonly (Totals | null)[],
  intervals: Intervals | null,
  interval: number | null,
  mostOfIntervals: number,
): Shown {
  const count = network.ports.from.length;
  const values = new Float64Array(count);
  const at = intervals && interval !== null ? intervals.at(interval) : 0;
  for (let port = 0; port < count; port++) {
    values[port] =
      intervals && interval !== null
        ? intervals.value(port, at, metric === "queue" ? "queue" : "utilisation")
        : totalOf(totals[port], metric);
  }
  const greatest = values.reduce((most, one) => Math.max(most, Number.isNaN(one) ? 0 : one), 0);
  const most = metric === "utilisation" ? 1 : interval !== null ? mostOfIntervals : endOf(greatest);
  const order = Uint32Array.from(values, (_, port) => port);
  const rank = (port: number) => (Number.isNaN(values[port]) ? -1 : (values[port] ?? 0));
  order.sort((a, b) => rank(a) - rank(b));
  return { metric, values, most, shares: values.map((value) => value / most), order };
}

export function valueText(metric: LinkMetric, value: number): string {
  if (Number.isNaN(value)) return "–";
  if (metric === "utilisation") return `${(value * 100).toFixed(1)} %`;
  return formatted("", value, 4);
}

/** The end of the scale, in words. */
export function mostText({ metric, most }: Shown): string {
  return metric === "utilisation" ? "100 %" : `${formatted("", most, 3)} ${LINK_METRICS[metric].unit}`;
}
