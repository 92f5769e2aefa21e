/** Slowdowns by the size of flows: the usual figure for comparing the cost for short and long flows. */
import { axisValue, isWanted } from "./cases";
import type { Figure, PageHead } from "./contract";
import type { Source } from "./load";
import { QUANTITIES } from "./quantities";
import { BETWEEN } from "./select";
import { type Distribution, distribution } from "./stats";

export interface Bin {
  series: string;
  run: number;
  panel: string;
  /** The sizes of its flows are between these, inclusive. */
  least: number;
  most: number;
  of: Distribution;
}

const PER_DECADE = 4;

/** The bin of a size: equal widths on a logarithmic axis; single sizes if there are few. */
export function binOf(sizes: ArrayLike<number>): (size: number) => number {
  const distinct = new Set<number>();
  for (let i = 0; i < sizes.length && distinct.size <= 12; i++) {
    if (!Number.isNaN(sizes[i])) distinct.add(sizes[i] as number);
  }
  if (distinct.size <= 12) return (size) => size;
  return (size) => Math.floor(Math.log10(Math.max(1, size)) * PER_DECADE + 1e-9);
}

/** The slowdowns of each bin of sizes, by scheme and panel. */
export async function slowdownsBySize(
  source: Source,
  head: PageHead,
  runs: number[],
  panels: string[],
  quantity: "slowdown_ratio" | "fct_s",
  where?: Figure["where"],
): Promise<Bin[]> {
  const out: Bin[] = [];
  for (const place of runs) {
    const run = head.runs[place];
    const table = run && (await source.table(place, "flows"));
    if (!run || !table) continue;
    const values = QUANTITIES[quantity]?.values(table) ?? [];
    const [cases, sizes] = [table.number("case"), table.number("size_bytes")];
    const bin = binOf(sizes);
    const wanted = run.cases.map((one) => isWanted(one, where));
    const found = new Map<number, Map<number, { values: number[]; least: number; most: number }>>();
    for (let row = 0; row < table.rows; row++) {
      const [own, size, value] = [cases[row] as number, sizes[row] as number, values[row] as number];
      if (!wanted[own] || Number.isNaN(size) || Number.isNaN(value)) continue;
      const at = bin(size);
      const bins = found.get(own) ?? new Map<number, { values: number[]; least: number; most: number }>();
      found.set(own, bins);
      const known = bins.get(at);
      if (!known) bins.set(at, { values: [value], least: size, most: size });
      else {
        known.values.push(value);
        known.least = Math.min(known.least, size);
        known.most = Math.max(known.most, size);
      }
    }
    for (const [own, bins] of found) {
      const one = run.cases[own];
      if (!one) continue;
      const panel = panels.map((axis) => axisValue(one, axis)).join(BETWEEN);
      const ascending = [...bins].sort(([a], [b]) => a - b);
      for (const [, { values: all, least, most }] of ascending) {
        out.push({ series: one.scheme, run: place, panel, least, most, of: distribution(all) });
      }
    }
  }
  return out;
}
