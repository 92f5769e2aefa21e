/** Cases and how they are distinguished. */
import type { CaseHead, Figure, RunHead } from "./contract";

/** The divisions of a case into parts, in addition to the axes. */
export const PARTS = ["group", "distance", "size", "layer"] as const;
export type Part = (typeof PARTS)[number];

export function isPart(dimension: string): dimension is Part {
  return (PARTS as readonly string[]).includes(dimension);
}

export const DISTANCES = ["inner-rack", "inter-rack", "inter-pod"];

/** Size classes: above the first, up to the second; the last two repeat the same flows. */
export const SIZES: [name: string, above: number, upTo: number][] = [
  ["up to 10kB", -1, 1e4],
  ["10kB to 100kB", 1e4, 1e5],
  ["100kB to 1MB", 1e5, 1e6],
  ["above 1MB", 1e6, Number.POSITIVE_INFINITY],
  ["up to 100kB", -1, 1e5],
  ["above 10MB", 1e7, Number.POSITIVE_INFINITY],
];

type Value = string | number | boolean | null | undefined;

/**
 * The value of an axis as the page shows it. A scheme includes its number of subflows, unless `beside`, the
 * other dimensions of the chart, already contains this number: otherwise no two cases would have the same
 * scheme.
 */
export function axisValue(one: CaseHead, axis: string, beside: readonly string[] = []): string {
  if (axis === "scheme") return beside.includes("subflows") ? String(one.case.scheme) : one.scheme;
  const value: Value = one.case[axis];
  return value === null || value === undefined ? "–" : String(value);
}

/** The axes with more than one value among the cases, in the order of the experiment. */
export function axesOf(runs: RunHead[]): string[] {
  const values = new Map<string, Set<string>>();
  for (const one of runs.flatMap((run) => run.cases)) {
    for (const axis of Object.keys(one.case)) {
      if (!values.has(axis)) values.set(axis, new Set());
      values.get(axis)?.add(axisValue(one, axis));
    }
  }
  return [...values].filter(([, own]) => own.size > 1).map(([axis]) => axis);
}

/** The axes that are not part of the scheme's own label. */
export function otherAxes(runs: RunHead[]): string[] {
  return axesOf(runs).filter((axis) => axis !== "scheme" && axis !== "subflows");
}

/** All values of an axis: numbers in ascending order, others, including schemes, in order of appearance. */
export function valuesOf(runs: RunHead[], axis: string, beside: readonly string[] = []): string[] {
  const all = [...new Set(runs.flatMap((run) => run.cases.map((one) => axisValue(one, axis, beside))))];
  return axis === "scheme" ? all : ascending(all);
}

/** Values in ascending order if they are numbers, otherwise in order of appearance. */
export function ascending(values: string[]): string[] {
  const numbers = magnitudes(values);
  return numbers ? [...values].sort((a, b) => (numbers.get(a) ?? 0) - (numbers.get(b) ?? 0)) : values;
}

/** Values in the order in which `where` names them; others come last, in order of appearance. */
export function inOrderOf(values: string[], where: Figure["where"], dimension: string): string[] {
  const wanted = wantedParts(where, dimension);
  if (!wanted) return values;
  const place = (value: string) => (wanted.includes(value) ? wanted.indexOf(value) : wanted.length);
  return [...values].sort((a, b) => place(a) - place(b));
}

/** Whether `where` selects a case; its parts are ignored. */
export function isWanted(one: CaseHead, where: Figure["where"]): boolean {
  return Object.entries(where ?? {}).every(([dimension, wanted]) => {
    if (!(dimension in one.case)) return true;
    const all = (Array.isArray(wanted) ? wanted : [wanted]).map(String);
    const own = one.case[dimension];
    // A scheme may be named with or without its subflows.
    return all.includes(axisValue(one, dimension)) || (own !== null && all.includes(String(own)));
  });
}

/** The values of a part that `where` selects; null: all. */
export function wantedParts(where: Figure["where"], part: string): string[] | null {
  const wanted = where?.[part];
  if (wanted === undefined) return null;
  return (Array.isArray(wanted) ? wanted : [wanted]).map(String);
}

const UNITS: Record<string, number> = {
  ps: 1e-12,
  ns: 1e-9,
  us: 1e-6,
  µs: 1e-6,
  ms: 1e-3,
  s: 1,
  bps: 1,
  kbps: 1e3,
  Mbps: 1e6,
  Gbps: 1e9,
  Tbps: 1e12,
  B: 1,
  kB: 1e3,
  MB: 1e6,
  GB: 1e9,
  KiB: 1024,
  MiB: 1024 ** 2,
  GiB: 1024 ** 3,
  pkt: 1,
  "%": 0.01,
};

/** The number in a value: alone, with a unit (`10pkt`, `200ms`), or at its end (`xmp-4`); null if there is none. */
export function magnitude(value: string | number): number | null {
  if (typeof value === "number") return value;
  const plain = Number(value);
  if (value.trim() !== "" && Number.isFinite(plain)) return plain;
  const withUnit = /^(-?\d+(?:\.\d+)?)\s*([A-Za-zµ%]+)$/.exec(value);
  if (withUnit) {
    const factor = UNITS[withUnit[2] ?? ""];
    if (factor !== undefined) return Number(withUnit[1]) * factor;
  }
  const end = /(\d+(?:\.\d+)?)$/.exec(value);
  return end ? Number(end[1]) : null;
}

/** A number before a word: `10-flows`, `1-connection`. */
const LEADING = /^(-?\d+(?:\.\d+)?)[- ]?(\D.*)$/;

/**
 * The values of an axis as numbers; null if they are not all numbers, or not all different. A number at the
 * beginning counts if the rest is the same for all, except for the plural: `1-connection`, `2-connections`.
 */
export function magnitudes(values: string[]): Map<string, number> | null {
  const leading = values.map((value) => LEADING.exec(value));
  const same = new Set(leading.map((found) => singular(found?.[2] ?? "")));
  const counted = same.size === 1 && leading.every((found) => found && !((found[2] ?? "") in UNITS));
  const numbers = values.map((value, i) => (counted ? Number(leading[i]?.[1]) : magnitude(value)));
  if (numbers.some((value) => value === null) || new Set(numbers).size < new Set(values).size) return null;
  return new Map(values.map((value, i) => [value, numbers[i] ?? 0]));
}

function singular(word: string): string {
  return word.replace(/s$/, "");
}

const UNIT_WORDS: Record<string, string> = {
  pkt: "packets",
  us: "µs",
  bps: "bit/s",
  kbps: "kbit/s",
  Mbps: "Mbit/s",
  Gbps: "Gbit/s",
  Tbps: "Tbit/s",
};

/** How an axis of a chart names its dimension and values. */
export interface AxisNames {
  /** For those who hear the chart. */
  name: string;
  /** Below the axis; empty if the values speak for themselves. */
  title: string;
  /** What a tick says of a value. */
  shown: (value: string) => string;
}

/**
 * As in `python/tresse/plot/cases.py`: the unit that all values share is in the title, so `10pkt` and `40pkt` of
 * `mark` are 10 and 40 on `mark (packets)`; and `10-flows` is 10 on `flows`.
 */
export function axisNames(axis: string, values: string[]): AxisNames {
  const name = dimensionName(axis);
  const unit = sharedUnit(values);
  const word = unit ? "" : counted(values);
  const title = unit ? `${name} (${UNIT_WORDS[unit] ?? unit})` : word || name;
  const number = (value: string) => /-?\d+(?:\.\d+)?(?=\D*$)/.exec(value)?.[0] ?? value;
  // A word before a number ends in a hyphen, which is no sign.
  const shown = (value: string) => (unit ? number(value) : word ? number(value).replace(/^-/, "") : value);
  return { name, title, shown };
}

/** Names below bars, boxes and columns: schemes, patterns and parts speak for themselves. */
export function placeNames(axis: string, values: string[]): AxisNames {
  const speaks = isPart(axis) || ["scheme", "pattern", "variant", "window"].includes(axis);
  return speaks ? { name: dimensionName(axis), title: "", shown: (value) => value } : axisNames(axis, values);
}

/** The unit of all values, such as `pkt` of `10pkt` and `40pkt`; empty if they share none. */
function sharedUnit(values: string[]): string {
  const units = values.map((value) => /^-?\d+(?:\.\d+)? ?([A-Za-zµ%]+)$/.exec(value)?.[1] ?? "");
  const [unit = "", ...others] = new Set(units);
  return others.length === 0 && unit in UNITS ? unit : "";
}

/** The word that all values of an axis share: `flows` in `10-flows`, `load` in `load-30`; otherwise empty. */
export function counted(values: string[]): string {
  const words = values.map((value) => {
    const [, first = "", last = ""] = /^(\D*?)[- ]?-?\d+(?:\.\d+)?[- ]?(\D*)$/.exec(value) ?? [];
    return first && last ? "" : first || last;
  });
  const [only = ""] = new Set(words.map(singular));
  const alike = only !== "" && !(only in UNITS) && words.every((word) => singular(word) === only);
  return alike ? (words.find((word) => word !== only) ?? only).replaceAll("-", " ") : "";
}

/** An experiment's own axes: keys with a list of values, which say more than what every case has. */
export function isOwnAxis(axis: string): boolean {
  return !["scheme", "subflows", "pattern", "variant"].includes(axis);
}

/** The dimension's name for readers. */
export function dimensionName(dimension: string): string {
  return dimension.includes(".") ? dimension : dimension.replaceAll("_", " ");
}

/** Axes that distinguish the cases of a chart but are not among its dimensions: they must not be mixed. */
export function unnamedAxes(runs: RunHead[], dimensions: string[], where: Figure["where"]): string[] {
  const unnamed = new Set<string>();
  for (const run of runs) {
    const groups = new Map<string, CaseHead[]>();
    for (const one of run.cases.filter((own) => isWanted(own, where))) {
      const key = dimensions
        .filter((name) => !isPart(name))
        .map((name) => axisValue(one, name, dimensions))
        .join("\u0000");
      groups.set(key, [...(groups.get(key) ?? []), one]);
    }
    for (const [first, ...others] of groups.values()) {
      for (const axis of Object.keys(first?.case ?? {})) {
        if (first && others.some((one) => axisValue(one, axis) !== axisValue(first, axis))) unnamed.add(axis);
      }
    }
  }
  // A scheme is named with its subflows, unless they are a dimension themselves.
  if (unnamed.has("scheme")) unnamed.delete("subflows");
  return [...unnamed];
}
