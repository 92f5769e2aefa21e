/** The data behind distributions. */
import type { Panel } from "../data/select";
import { mean, percentile } from "../data/stats";
import type { Cell, Rows } from "./rows";
import type { Look } from "./series";

/** If there are more values than this, their percentiles are given. */
const MOST = 50_000;

/**
 * Every value that occurred, with the share of all values that do not exceed it; if there are too many, every
 * tenth of a per cent.
 */
export function cdfRows(panels: Panel[], quantity: string, look: Look, panelName: string): Rows {
  const all = panels.flatMap(({ name, curves }) => curves.map((curve) => ({ name, curve })));
  const total = all.reduce((sum, { curve }) => sum + curve.of.values.length, 0);
  const rows: Cell[][] = [];
  for (const { name, curve } of all) {
    const { of } = curve;
    const own: Cell[] = [name, look(curve.series, curve.run).label];
    if (total > MOST) {
      for (let part = 0; part <= 1000; part++) rows.push([...own, percentile(of, part / 10), part / 1000]);
      continue;
    }
    const n = of.values.length;
    for (let i = 0; i < n; i++) {
      if (i + 1 < n && of.values[i + 1] === of.values[i]) continue;
      const upTo = of.cumulative ? (of.cumulative[i] as number) : i + 1;
      rows.push([...own, of.values[i] as number, upTo / of.count]);
    }
  }
  const note = total > MOST ? `Of ${total} values, every tenth of a per cent.` : undefined;
  return { columns: [panelName, "series", quantity, "share"], rows, ...(note ? { note } : {}) };
}

/** Percentiles of each curve, as a table for readers. */
export function percentileRows(panels: Panel[], quantity: string, look: Look, panelName: string): Rows {
  const parts = [1, 10, 25, 50, 75, 90, 95, 99, 99.9];
  const cut = quantity.lastIndexOf("_");
  const [stem, unit] = cut < 0 ? [quantity, ""] : [quantity.slice(0, cut), quantity.slice(cut)];
  const names = ["mean", "min", ...parts.map((part) => `p${part}`), "max"].map(
    (part) => `${stem}_${part}${unit}`,
  );
  const rows = panels.flatMap(({ name, curves }) =>
    curves.map((curve): Cell[] => [
      name,
      look(curve.series, curve.run).label,
      curve.of.count,
      mean(curve.of),
      percentile(curve.of, 0),
      ...parts.map((part) => percentile(curve.of, part)),
      percentile(curve.of, 100),
    ]),
  );
  return { columns: [panelName, "series", "count", ...names], rows };
}
