/** Axes: their ends, ticks and labels. */
import { axisTitle, formatted, number, type Scale, scaled, scaleFor } from "../data/format";

export interface Axis {
  /** In the unit of the name. */
  domain: [number, number];
  log: boolean;
  label: string;
  ticks: number[];
  format(value: number): string;
  /** A value next to a mark, as short as possible: without the unit if it is at the axis. */
  short(value: number): string;
}

/** Powers of ten between two values, with 2 and 5 if there are few. */
export function logTicks(from: number, to: number, most: number): number[] {
  const first = Math.floor(Math.log10(from));
  const last = Math.ceil(Math.log10(to));
  const inside = (value: number) => value >= from * 0.9999 && value <= to * 1.0001;
  const with_ = (multiples: number[], step = 1) => {
    const out: number[] = [];
    for (let e = first; e <= last; e += step) for (const m of multiples) out.push(m * 10 ** e);
    return out.filter(inside);
  };
  const dense = with_([1, 2, 5]);
  if (dense.length <= most) return dense;
  const powers = with_([1]);
  return powers.length <= most ? powers : with_([1], Math.ceil(powers.length / most));
}

/** Round numbers between two values, about `most` of them. */
export function linearTicks(from: number, to: number, most: number): number[] {
  const rough = (to - from) / Math.max(1, most);
  if (!(rough > 0)) return [from];
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 2.5, 5, 10].find((m) => m * power >= rough * 0.999) ?? 10) * power;
  const first = Math.ceil(from / step - 1e-9);
  const count = Math.floor(to / step + 1e-9) - first;
  return Array.from({ length: count + 1 }, (_, i) => (first + i) * step);
}

export interface AxisWish {
  log: boolean;
  /** As in a paper. */
  range?: [number, number] | undefined;
  /** Whether a linear axis begins at 0. */
  fromZero?: boolean;
  ticks?: number;
  label?: string;
}

/** An axis for values of this name that contains all of `values`. */
export function axisFor(name: string, values: Iterable<number>, wish: AxisWish): Axis {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const value of values) {
    if (!Number.isFinite(value) || (wish.log && value <= 0)) continue;
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  if (low > high) [low, high] = wish.log ? [1, 10] : [0, 1];
  const { log } = wish;
  const most = wish.ticks ?? 6;
  if (wish.range) [low, high] = wish.range;
  else if (log) [low, high] = low === high ? [low / 2, high * 2] : [low / 1.08, high * 1.08];
  else {
    if (wish.fromZero !== false && low > 0) low = 0;
    if (low === high) high = low + 1;
    const room = (high - low) * 0.04;
    [low, high] = [low < 0 ? low - room : low, high + room];
  }
  if (log && low <= 0) low = high / 1e6;
  if (log) {
    return {
      domain: [low, high],
      log,
      label: wish.label ?? axisTitle(name),
      ticks: logTicks(low, high, most),
      format: (value) => formatted(name, value, 3),
      short: (value) => formatted(name, value, 3),
    };
  }
  // A tick has up to four digits before the next unit is used.
  const scale: Scale = scaleFor(name, Math.max(Math.abs(low), Math.abs(high)) / 4);
  const ticks = linearTicks(low / scale.factor, high / scale.factor, most).map((tick) => tick * scale.factor);
  const step = ticks.length > 1 ? (ticks[1] as number) - (ticks[0] as number) : 1;
  const decimals = Math.max(0, Math.min(8, -Math.floor(Math.log10(step / scale.factor) + 1e-9)));
  const exact = Math.abs(
    (step / scale.factor) * 10 ** decimals - Math.round((step / scale.factor) * 10 ** decimals),
  );
  const own = { ...scale, decimals: exact > 1e-6 ? decimals + 1 : decimals };
  return {
    domain: [low, high],
    log,
    label: wish.label ?? axisTitle(name, scale),
    ticks,
    format: (value) => scaled(value, own),
    short: (value) => number(value / scale.factor, 3),
  };
}

/** The room for the labels at the ticks of a vertical axis. */
export function leftMargin(y: Axis): number {
  const longest = Math.max(0, ...y.ticks.map((tick) => y.format(tick).length));
  return Math.max(48, 14 + 6.4 * longest);
}

/** An axis of shares, 0 to 1. */
export function shareAxis(label: string, log: boolean, least = 1e-4): Axis {
  const share = (value: number) => number(value, 2);
  if (log) {
    const ticks = logTicks(least, 1, 5);
    return { domain: [least, 1], log, label, ticks, format: share, short: share };
  }
  const ticks = [0, 0.2, 0.4, 0.6, 0.8, 1];
  return { domain: [0, 1], log, label, ticks, format: share, short: share };
}
