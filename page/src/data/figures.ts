/** The data of figures of metrics, and published points of distributions. */

import { ascending, inOrderOf, magnitudes } from "./cases";
import type { Figure, PageHead } from "./contract";
import { percentileMetric } from "./quantities";
import { isDividing, measured, partAsked, points, valueAt } from "./results";
import { BETWEEN, type Question } from "./select";
import { WINDOW_MEANINGS, windowEnds } from "./windows";

export interface MarkQuestion {
  metric: string;
  x: string;
  series: string;
  panels: string[];
  where?: Figure["where"];
}

export interface ResultMark {
  panel: string;
  x: string;
  series: string;
  run: number;
  /** NaN if the paper has a value but we have none. */
  value: number;
  ci95: number | null;
  published: number | null;
  optimum: number | null;
}

export function resultMarks(head: PageHead, runs: number[], question: MarkQuestion): ResultMark[] {
  const { metric, x, series, panels, where } = question;
  return points(head, runs, metric, [x, series, ...panels], where).map((point) => ({
    panel: panels.map((name) => point.at[name] ?? "").join(BETWEEN),
    x: point.at[x] ?? "",
    series: point.at[series] ?? "",
    run: point.run,
    value: point.value,
    ci95: point.ci95,
    published: point.published,
    optimum: point.optimum,
  }));
}

/** The data of a declared chart of a metric. */
export interface MarkFigure {
  marks: ResultMark[];
  /** The values of its dimensions, in their order. */
  panels: string[];
  xs: string[];
  series: string[];
  /** The values of x as numbers; null if they are not numbers. */
  numbers: Map<string, number> | null;
}

/** The values of a dimension in the order of the figure, of time, or of size; otherwise in order of appearance. */
function ordered(head: PageHead, runs: number[], where: Figure["where"], dimension: string, found: string[]) {
  const values = [...new Set(found)];
  if (Array.isArray(where?.[dimension])) return inOrderOf(values, where, dimension);
  if (dimension === "window") {
    const known = runs.flatMap((run) => [...(head.runs[run] ? windowEnds(head.runs[run]).keys() : [])]);
    return [...new Set([...known.filter((name) => values.includes(name)), ...values])];
  }
  return dimension === "scheme" ? values : ascending(values);
}

/** The data of declared bars and lines, with the paper's points in the figure itself. */
export function markFigure(head: PageHead, runs: number[], figure: Figure, panels: string[]): MarkFigure {
  const [metric, x, series] = [figure.y ?? "", figure.x ?? "scheme", figure.series ?? "scheme"];
  const { where } = figure;
  const marks = resultMarks(head, runs, { metric, x, series, panels, where });
  const of = (dimension: string, value: (mark: ResultMark) => string) =>
    ordered(head, runs, where, dimension, marks.map(value));
  const panelNames = of(panels.length === 1 ? (panels[0] ?? "") : "", (mark) => mark.panel);
  for (const printed of figure.published ?? []) addPrinted(marks, printed, panelNames[0] ?? "");
  const xs = of(x, (mark) => mark.x);
  const numbers = magnitudes(xs);
  return {
    marks,
    panels: panelNames,
    xs: numbers && figure.chart === "lines" ? ascending(xs) : xs,
    series: of(series, (mark) => mark.series),
    numbers,
  };
}

/** Adds a point of the paper to ours; if we have none, it stays alone. */
function addPrinted(marks: ResultMark[], point: NonNullable<Figure["published"]>[number], first: string) {
  const panel = point.panel ?? first;
  const x = String(point.x);
  const here = marks.filter((mark) => mark.panel === panel && mark.series === point.series);
  const numbers = magnitudes([...new Set(here.map((mark) => mark.x))]);
  const at = here.find((mark) => mark.x === x || (numbers && numbers.get(mark.x) === Number(x)));
  if (at) at.published = point.y;
  else if (marks.length > 0) {
    const { series, y } = point;
    marks.push({ panel, series, x, run: 0, value: Number.NaN, ci95: null, published: y, optimum: null });
  }
}

/** The meaning of a metric of a figure; in windows of time it is about the samples in them. */
export function meaningOf(head: PageHead, metric: string, asked: string[]): string {
  if (asked.includes("subflow") && metric === "goodput_mean_bps") {
    return "the payload that arrived on this subflow in the window, divided by the time that it was active there";
  }
  const whole = head.metrics[metric]?.meaning ?? metric;
  const meaning = asked.includes("window") ? (WINDOW_MEANINGS[metric] ?? whole) : whole;
  return meaning.replace(/^with `[^`]*`: /, "");
}

/** The times of a figure's windows; empty if it has none. */
export function windowTimes(head: PageHead, run: number, wanted: string[]): string {
  const own = head.runs[run];
  if (!own || wanted.length === 0) return "";
  const all = [...windowEnds(own)].filter(([name]) => wanted.includes(name));
  const time = (text: string) => text.replace(/(\d)([a-zµ])/, "$1\u202f$2");
  const words = all.map(([name, [from, to]]) => `${name}, ${time(from)} to ${time(to)}`);
  return words.length > 0
    ? `Windows of time: ${words.join("; ")}.`.replace(/^Windows(?=[^;]*$)/, "Window")
    : "";
}

/** Dimensions of a case's parts for which `where` selects several values: without a panel for each they would be mixed. */
export function mixedParts(where: Figure["where"], dimensions: string[]): string[] {
  return Object.entries(where ?? {})
    .filter(([name, wanted]) => isDividing(name) && Array.isArray(wanted) && wanted.length > 1)
    .map(([name]) => name)
    .filter((name) => !dimensions.includes(name));
}

/** The percentiles that papers print. */
const PRINTED = [1, 5, 10, 25, 50, 75, 90, 95, 99];

/** Published percentiles of a quantity, as points of its distribution. */
export function publishedPercentiles(head: PageHead, runs: number[], question: Question) {
  const { quantity, series, panels, where } = question;
  const dimensions = [...panels, series];
  const by = onePart(dimensions, where);
  if (by === undefined) return [];
  const [first = 0] = runs;
  return measured(head, [first], by, where).flatMap((of) => {
    const value = (name: string) => valueAt(of, name, dimensions);
    return PRINTED.flatMap((part) => {
      const printed = of.published[percentileMetric(quantity, part)];
      if (printed === undefined) return [];
      return [
        { series: value(series), panel: panels.map(value).join(BETWEEN), x: printed, share: part / 100 },
      ];
    });
  });
}

/** The requested part; undefined if there are several, for which there are no results. */
function onePart(dimensions: string[], where: Figure["where"]): string[] | undefined {
  try {
    return partAsked(dimensions, where);
  } catch {
    return undefined;
  }
}
