/** Statistics, computed in the same way as by the program. */

/** A distribution: its values in order, and the count of each if not 1. */
export interface Distribution {
  /** Ascending. */
  values: Float64Array;
  /** How many values there are up to each place, this one included; null: each occurs once. */
  cumulative: Float64Array | null;
  /** How many values there are in all. */
  count: number;
}

export const EMPTY: Distribution = { values: new Float64Array(), cumulative: null, count: 0 };

/** Values that are not numbers do not count. */
export function distribution(values: ArrayLike<number>, weights?: ArrayLike<number>): Distribution {
  if (weights) return weighted(values, weights);
  const kept = Float64Array.from(values).filter((value) => !Number.isNaN(value));
  kept.sort();
  return { values: kept, cumulative: null, count: kept.length };
}

function weighted(values: ArrayLike<number>, weights: ArrayLike<number>): Distribution {
  const sums = new Map<number, number>();
  for (let i = 0; i < values.length; i++) {
    const value = values[i] as number;
    const weight = weights[i] ?? 0;
    if (Number.isNaN(value) || !(weight > 0)) continue;
    sums.set(value, (sums.get(value) ?? 0) + weight);
  }
  const ascending = Float64Array.from(sums.keys()).sort();
  const cumulative = new Float64Array(ascending.length);
  let count = 0;
  ascending.forEach((value, i) => {
    count += sums.get(value) ?? 0;
    cumulative[i] = count;
  });
  return { values: ascending, cumulative, count };
}

/** The first place of `ascending` that is not below `wanted`; its length if there is none. */
export function lowerBound(ascending: ArrayLike<number>, wanted: number): number {
  let low = 0;
  let high = ascending.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ascending[middle] as number) < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The first place of `ascending` that is above `wanted`. */
export function upperBound(ascending: ArrayLike<number>, wanted: number): number {
  let low = 0;
  let high = ascending.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ascending[middle] as number) <= wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * The smallest value that at least `percent` per cent of all do not exceed: it occurred. Integer arithmetic
 * as long as `percent` is whole, so that it equals the program's value.
 */
export function percentile(of: Distribution, percent: number): number {
  if (of.count === 0) return Number.NaN;
  const rank = Math.max(1, Math.ceil((of.count * percent) / 100));
  const place = of.cumulative ? lowerBound(of.cumulative, rank) : rank - 1;
  return of.values[Math.min(place, of.values.length - 1)] as number;
}

/** The share of all values that do not exceed `x`. */
export function shareUpTo(of: Distribution, x: number): number {
  if (of.count === 0) return Number.NaN;
  const place = upperBound(of.values, x);
  const upTo = of.cumulative ? (place > 0 ? (of.cumulative[place - 1] as number) : 0) : place;
  return upTo / of.count;
}

export function mean(of: Distribution): number {
  let sum = 0;
  let before = 0;
  for (let i = 0; i < of.values.length; i++) {
    const upTo = of.cumulative ? (of.cumulative[i] as number) : i + 1;
    sum += (of.values[i] as number) * (upTo - before);
    before = upTo;
  }
  return of.count === 0 ? Number.NaN : sum / of.count;
}

/** A corner of the curve of an empirical distribution: at `x` it steps up to `share`. */
export interface Step {
  x: number;
  share: number;
}

/**
 * The steps of an empirical distribution that are distinguishable on a drawing. `cellX` and `cellShare` give
 * the cell of a grid of pixels. A run of steps in one column or one row of the grid is drawn by its first and
 * its last: the curve is nowhere off by more than a cell, has at most two points for each row or column, and
 * keeps the minimum and the maximum.
 */
export function steps(
  of: Distribution,
  cellX: (x: number) => number,
  cellShare: (share: number) => number,
): Step[] {
  const out: Step[] = [];
  let first = { x: Number.NaN, share: Number.NaN };
  let last: Step | null = null;
  const n = of.values.length;
  for (let i = 0; i < n; i++) {
    const x = of.values[i] as number;
    if (i + 1 < n && of.values[i + 1] === x) continue;
    const share = of.cumulative ? (of.cumulative[i] as number) / of.count : (i + 1) / of.count;
    const cell = { x: cellX(x), share: cellShare(share) };
    if (cell.x === first.x || cell.share === first.share) {
      last = { x, share };
      continue;
    }
    if (last) out.push(last);
    last = null;
    out.push({ x, share });
    first = cell;
  }
  if (last) out.push(last);
  return out;
}

/** The 97.5 % quantile of Student's t for 1, 2, … degrees of freedom; beyond the table it is below 2.05. */
const T = [
  12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16, 2.145, 2.131,
  2.12, 2.11, 2.101, 2.093, 2.086, 2.08, 2.074, 2.069, 2.064, 2.06, 2.056, 2.052, 2.048, 2.045, 2.042,
];

/** Half the width of the 95 % interval of the mean, by Student's t; null for fewer than two values. */
export function halfWidth95(values: number[]): number | null {
  const n = values.length;
  if (n < 2) return null;
  const middle = values.reduce((sum, value) => sum + value, 0) / n;
  const variance = values.reduce((sum, value) => sum + (value - middle) ** 2, 0) / (n - 1);
  return (T[n - 2] ?? 2.042) * Math.sqrt(variance / n);
}
