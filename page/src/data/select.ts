/** Distributions of a quantity, by panel and series, from the tables of the chosen runs. */
import { axisValue, isPart, isWanted, SIZES, valuesOf, wantedParts } from "./cases";
import type { Figure, PageHead, RunHead } from "./contract";
import type { Source } from "./load";
import { orderedParts, QUANTITIES, type Quantity } from "./quantities";
import { type Distribution, distribution } from "./stats";
import type { TableData } from "./table";

export interface Question {
  quantity: string;
  /** A dimension that distinguishes curves. */
  series: string;
  /** Dimensions: a panel for each of their values together; empty: one panel. */
  panels: string[];
  /** A dimension along which each panel is divided further, as for boxes; undefined: none. */
  x?: string | undefined;
  where?: Figure["where"];
}

export interface Curve {
  /** The value of the dimension `x`; empty without it. */
  x: string;
  /** The value of the series' dimension. */
  series: string;
  /** The place of its run in the page. */
  run: number;
  of: Distribution;
}

export interface Panel {
  /** Empty if there is only one. */
  name: string;
  curves: Curve[];
}

/** The rows of a table that belong to a value of a dimension: its place in `names` for each row, -1 for none. */
interface Division {
  names: string[];
  place(row: number): number;
}

const ALL: Division = { names: [""], place: () => 0 };

/** The separator between the values of several dimensions in a name. */
export const BETWEEN = " · ";

/** Each value of one combined with each of the other. */
function together(a: Division, b: Division): Division {
  const n = b.names.length;
  const names = a.names.flatMap((first) =>
    b.names.map((second) => (first ? first + BETWEEN + second : second)),
  );
  const place = (row: number) => {
    const [first, second] = [a.place(row), b.place(row)];
    return first < 0 || second < 0 ? -1 : first * n + second;
  };
  return { names, place };
}

function byAxis(run: RunHead, runs: RunHead[], table: TableData, axis: string, beside: string[]): Division {
  const names = valuesOf(runs, axis, beside);
  const ofCase = run.cases.map((one) => names.indexOf(axisValue(one, axis, beside)));
  const cases = table.number("case");
  return { names, place: (row) => ofCase[cases[row] as number] ?? -1 };
}

function byPart(table: TableData, quantity: Quantity, part: string, wanted: string[] | null): Division {
  const column = isPart(part) ? quantity.parts[part] : undefined;
  if (!column || !table.has(column)) throw new Error(`there is no ${part} of ${quantity.of}`);
  if (part === "size") return bySize(table.number(column), wanted);
  const { codes, words } = table.text(column);
  const names = orderedParts(part, words).filter((name) => !wanted || wanted.includes(name));
  const places = words.map((word) => names.indexOf(word));
  return { names, place: (row) => places[codes[row] as number] ?? -1 };
}

/** Classes overlap: the selected ones are tried in order, by default the four that do not overlap. */
function bySize(sizes: ArrayLike<number>, wanted: string[] | null): Division {
  const classes = wanted ? SIZES.filter(([name]) => wanted.includes(name)) : SIZES.slice(0, 4);
  const place = (row: number) => {
    const size = sizes[row] as number;
    return classes.findIndex(([, above, upTo]) => above < size && size <= upTo);
  };
  return { names: classes.map(([name]) => name), place };
}

/** Whether there is anything by which this quantity can be divided. */
export function canDivide(quantity: string, dimension: string): boolean {
  return !isPart(dimension) || QUANTITIES[quantity]?.parts[dimension] !== undefined;
}

/** Values of one run, in a bucket for each panel, value of x, and series. */
function buckets(run: RunHead, runs: RunHead[], table: TableData, question: Question) {
  const quantity = QUANTITIES[question.quantity];
  if (!quantity) throw new Error(`there is no quantity ${question.quantity}`);
  const { where } = question;
  const drawn = [...question.panels, question.x, question.series];
  const dimensions = drawn.filter((name) => name !== undefined);
  const along = (dimension: string): Division => {
    if (isPart(dimension)) return byPart(table, quantity, dimension, wantedParts(where, dimension));
    return byAxis(run, runs, table, dimension, dimensions);
  };
  const panels = question.panels.map(along).reduce(together, ALL);
  const xs = question.x === undefined ? ALL : along(question.x);
  const series = along(question.series);
  const filters = Object.keys(where ?? {})
    .filter((key) => isPart(key) && !drawn.includes(key))
    .map((part) => byPart(table, quantity, part, wantedParts(where, part)));
  const wanted = run.cases.map((one) => isWanted(one, where));
  const cases = table.number("case");
  const values = quantity.values(table);
  const weights = quantity.weights?.(table);
  const n = series.names.length;
  const m = xs.names.length;
  const placeOf = (row: number) => {
    if (!wanted[cases[row] as number] || Number.isNaN(values[row])) return -1;
    if (filters.some((filter) => filter.place(row) < 0)) return -1;
    const [panel, x, own] = [panels.place(row), xs.place(row), series.place(row)];
    return panel < 0 || x < 0 || own < 0 ? -1 : (panel * m + x) * n + own;
  };
  // Two passes: first the size of each bucket, then into arrays of that size.
  const places = new Int32Array(table.rows);
  const counts = new Uint32Array(panels.names.length * m * n);
  for (let row = 0; row < table.rows; row++) {
    const place = placeOf(row);
    places[row] = place;
    if (place >= 0) counts[place] = (counts[place] as number) + 1;
  }
  const filled = Array.from(counts, (count) => new Float64Array(count));
  const weighed = weights && Array.from(counts, (count) => new Float64Array(count));
  counts.fill(0);
  for (let row = 0; row < table.rows; row++) {
    const place = places[row] as number;
    if (place < 0) continue;
    const at = counts[place] as number;
    counts[place] = at + 1;
    (filled[place] as Float64Array)[at] = values[row] as number;
    if (weighed) (weighed[place] as Float64Array)[at] = weights?.[row] as number;
  }
  return { panels: panels.names, xs: xs.names, series: series.names, filled, weighed };
}

/** The requested distributions, in the order of the experiment; those without a value are left out. */
export async function distributions(
  source: Source,
  head: PageHead,
  runs: number[],
  question: Question,
): Promise<Panel[]> {
  const quantity = QUANTITIES[question.quantity];
  if (!quantity) throw new Error(`There is no quantity ${question.quantity}.`);
  const all = runs.flatMap((run) => head.runs[run] ?? []);
  const found = new Map<string, Curve[]>();
  for (const place of runs) {
    const run = head.runs[place];
    const table = run && (await source.table(place, quantity.table));
    if (!run || !table) continue;
    const { panels, xs, series, filled, weighed } = buckets(run, all, table, question);
    panels.forEach((panel, p) => {
      const curves = found.get(panel) ?? [];
      found.set(panel, curves);
      xs.forEach((x, i) => {
        series.forEach((name, s) => {
          const at = (p * xs.length + i) * series.length + s;
          const values = filled[at] as Float64Array;
          if (values.length === 0) return;
          curves.push({ x, series: name, run: place, of: distribution(values, weighed?.[at]) });
        });
      });
    });
  }
  return [...found].filter(([, curves]) => curves.length > 0).map(([name, curves]) => ({ name, curves }));
}
