/** Numbers with their units, which are the endings of the names of metrics and quantities. */

/** The format of values with one name: `value / factor` with this many decimals, then the unit. */
export interface Scale {
  factor: number;
  /** May be empty. */
  unit: string;
  /** Decimals that give a value of the size that selected this scale four figures. */
  decimals: number;
}

type Step = [least: number, factor: number, unit: string];

const THIN = "\u202f";
const TIMES: Step[] = [
  [1, 1, "s"],
  [1e-3, 1e-3, "ms"],
  [1e-6, 1e-6, "µs"],
  [0, 1e-9, "ns"],
];
const RATES: Step[] = [
  [1e12, 1e12, "Tbit/s"],
  [1e9, 1e9, "Gbit/s"],
  [1e6, 1e6, "Mbit/s"],
  [1e3, 1e3, "kbit/s"],
  [0, 1, "bit/s"],
];
const SIZES: Step[] = [
  [1e12, 1e12, "TB"],
  [1e9, 1e9, "GB"],
  [1e6, 1e6, "MB"],
  [1e3, 1e3, "kB"],
  [0, 1, "B"],
];

/** The part of a name that gives the unit: `bps`, `s`, `ps`, `pkts`, `bytes`, `ratio`, or nothing. */
export function unitKey(name: string): string {
  const end = name.slice(name.lastIndexOf("_") + 1);
  return ["bps", "s", "ps", "pkts", "bytes", "ratio"].includes(end) && end !== name ? end : "";
}

function stepsOf(key: string): Step[] {
  if (key === "s") return TIMES;
  if (key === "ps") return TIMES.map(([least, factor, unit]) => [least * 1e12, factor * 1e12, unit]);
  if (key === "bps") return RATES;
  if (key === "bytes") return SIZES;
  return [[0, 1, key === "pkts" ? "packets" : ""]];
}

/** The decimals that show `figures` significant figures of `value`. */
function decimalsFor(value: number, figures: number): number {
  if (!(Math.abs(value) > 0) || !Number.isFinite(value)) return 0;
  return Math.max(0, Math.min(9, figures - 1 - Math.floor(Math.log10(Math.abs(value)))));
}

/** The scale in which values up to `size` (the typical or the largest of a column or an axis) read well. */
export function scaleFor(name: string, size: number): Scale {
  const key = unitKey(name);
  const least = Math.abs(size);
  const all = stepsOf(key);
  const [, factor, unit] = all.find(([from]) => least >= from) ?? (all[all.length - 1] as Step);
  return { factor, unit, decimals: decimalsFor(size / factor, 4) };
}

/**
 * The scale of several values together: the scale of their median size, so that most of them need no more
 * than four figures.
 */
export function scaleOf(name: string, values: Iterable<number | null | undefined>): Scale {
  const sizes: number[] = [];
  let whole = true;
  for (const value of values) {
    if (typeof value !== "number" || !Number.isFinite(value)) continue;
    whole &&= Number.isInteger(value);
    if (value !== 0) sizes.push(Math.abs(value));
  }
  sizes.sort((a, b) => a - b);
  const scale = scaleFor(name, sizes[sizes.length >> 1] ?? 0);
  return whole && scale.factor === 1 ? { ...scale, decimals: 0 } : scale;
}

/** `-` is a minus sign, and thousands are separated. */
function plain(value: number, decimals: number): string {
  const [whole = "", part] = Math.abs(value).toFixed(decimals).split(".");
  const grouped = whole.length > 4 ? whole.replace(/\B(?=(\d{3})+$)/g, THIN) : whole;
  const sign = value < 0 && Number(value.toFixed(decimals)) !== 0 ? "−" : "";
  return sign + grouped + (part ? `.${part}` : "");
}

/** A value in a scale, without the unit; an en dash if it is missing. */
export function scaled(value: number | null | undefined, scale: Scale): string {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  return plain(value / scale.factor, scale.decimals);
}

/** A single value with its unit: `513.6 Mbit/s`. */
export function formatted(name: string, value: number | null | undefined, figures = 4): string {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  const scale = scaleFor(name, value);
  const own = value / scale.factor;
  const text =
    Number.isInteger(own) && scale.factor === 1
      ? plain(own, 0)
      : plain(own, decimalsFor(own, figures))
          .replace(/(\.\d*?)0+$/, "$1")
          .replace(/\.$/, "");
  return scale.unit ? `${text} ${scale.unit}` : text;
}

/** A number without a unit, to this many significant figures. */
export function number(value: number | null | undefined, figures = 4): string {
  return formatted("", value, figures);
}

/** A ratio, with two decimals unless it is close to 0 or large. */
export function ratio(value: number | null | undefined): string {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  return plain(value, Math.abs(value) < 0.1 ? 3 : Math.abs(value) < 10 ? 2 : 1);
}

/** 0.129 → `12.9 %` */
export function percent(value: number | null | undefined, decimals = 1): string {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  return `${plain(value * 100, decimals)} %`;
}

/** 5733 million, 12.4 thousand: a large count in words. */
export function count(value: number): string {
  const named: [number, string][] = [
    [1e12, "trillion"],
    [1e9, "billion"],
    [1e6, "million"],
  ];
  for (const [from, word] of named) {
    if (value >= from) return `${plain(value / from, value / from < 100 ? 1 : 0)} ${word}`;
  }
  return plain(value, 0);
}

/** What a run in progress will have. */
export const NOT_YET = "not yet";

/** Packet-hops in so many seconds of wall-clock time, and how many that is a second. */
export function hopsIn(hops: number, seconds: number): string {
  const speed = seconds > 0 ? `, ${count(hops / seconds)} a second` : "";
  return `${count(hops)} packet-hops in ${elapsed(seconds)}${speed}`;
}

/** A wall-clock duration: `80.5 s`, `12 min 5 s`, `2 h 4 min`. */
export function elapsed(seconds: number): string {
  if (seconds < 120) return `${plain(seconds, seconds < 100 ? 1 : 0)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 120) return `${minutes} min ${Math.round(seconds % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

const STEMS: Record<string, string> = {
  goodput: "goodput",
  fct: "FCT",
  jct: "job completion time",
  rtt: "RTT",
  srtt: "smoothed RTT",
  cwnd: "window",
  jain: "Jain’s index",
  queue: "queue length",
  waiting: "queue length",
  utilisation: "utilisation",
  slowdown: "slowdown",
  convergence: "convergence time",
  size: "flow size",
  goodput_distance: "distance from the optimum",
  utility_distance: "loss of utility",
  goodput_total: "total goodput",
  goodput_sd: "unsteadiness of goodput",
  job_deadline_miss: "late jobs",
  deadline_miss: "missed deadlines",
  timeouts: "timeouts",
  retransmissions: "retransmissions",
  subflows_opened: "opened subflows",
  sharing_f: "F of path sharing",
  sharing_precision: "precision of path sharing",
  sharing_recall: "recall of path sharing",
};

const PARTS: Record<string, string> = { mean: "mean", min: "least", max: "most" };

/** The slice of a metric and its own name: `small-web.fct_p99_s` → `small web`, `fct_p99_s`. */
function sliced(name: string): [string, string] {
  const dot = name.indexOf(".");
  return dot < 0 ? ["", name] : [name.slice(0, dot).replace(/[-_]/g, " "), name.slice(dot + 1)];
}

/** A metric or a quantity in words: `goodput_p10_bps` → `goodput, 10th percentile`;
 * `small-web.fct_p99_s` → `FCT of small web flows, 99th percentile`. */
export function named(name: string): string {
  const [slice, rest] = sliced(name);
  const key = unitKey(rest);
  let stem = key ? rest.slice(0, -key.length - 1) : rest;
  let part = "";
  const end = /_(mean|min|max|p(\d+))$/.exec(stem);
  if (end) {
    stem = stem.slice(0, end.index);
    part = end[2] ? ordinal(Number(end[2])) : (PARTS[end[1] ?? ""] ?? "");
  }
  const own = STEMS[stem] ?? stem.replaceAll("_", " ");
  const words = slice === "optimum" ? `optimal ${own}` : slice ? `${own} of ${slice} flows` : own;
  return part ? `${words}, ${part}` : words;
}

/** The same, shorter, for the heads of tables: `goodput p10`. */
export function shortName(name: string): string {
  const [slice, rest] = sliced(name);
  const key = unitKey(rest);
  const stem = (key ? rest.slice(0, -key.length - 1) : rest).replace(/^jct/, "job time");
  const end = /_(mean|min|max|p\d+)$/.exec(stem);
  const words = end ? stem.slice(0, end.index) : stem;
  const own = (STEMS[words] ?? words.replaceAll("_", " ")) + (end ? ` ${end[1]}` : "");
  return slice ? `${slice} ${own}` : own;
}

function ordinal(percent: number): string {
  return percent === 50 ? "median" : `${percent}th percentile`;
}

export function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** A name in words with the unit of a scale, for axes: `Goodput (Mbit/s)`. */
export function axisTitle(name: string, scale?: Scale): string {
  const unit = scale?.unit;
  return capitalised(named(name)) + (unit ? ` (${unit})` : "");
}
