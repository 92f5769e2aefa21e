/** A metric for each value of a dimension: bars from 0, the 95 % interval, with the paper's value and the optimum. */
import * as Plot from "@observablehq/plot";
import { useMemo } from "preact/hooks";
import type { AxisNames } from "../data/cases";
import { formatted } from "../data/format";
import { type Axis, axisFor, leftMargin } from "./axes";
import { intervalMarks } from "./intervals";
import { Panels } from "./Panels";
import { axisMarks, PlotBox, scaleOptions } from "./PlotBox";
import { type Look, runOpacity } from "./series";

/** A value of a chart of metrics. */
export interface Mark {
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

export interface MarksProps {
  metric: string;
  marks: Mark[];
  panels: string[];
  /** The values of x and of the series, in their order. */
  xs: string[];
  series: string[];
  look: Look;
  /** The names of the horizontal axis and its values. */
  xAxis: AxisNames;
  log?: boolean;
  range?: [number, number] | undefined;
  height?: number;
}

export function isOurs(mark: Mark): boolean {
  return !Number.isNaN(mark.value);
}

/** The vertical axis of a chart of metrics, which contains everything drawn. `room` is a share of it above, for text. */
export function valueAxis(props: MarksProps, fromZero: boolean, room = 0): Axis {
  const values = props.marks
    .flatMap((mark) => [mark.value, mark.published ?? mark.value])
    .filter(Number.isFinite);
  // An optimum far beyond all results would hide everything else.
  const far = props.log ? Number.POSITIVE_INFINITY : 2.5 * Math.max(...values);
  values.push(...props.marks.flatMap((mark) => mark.optimum ?? []).filter((optimum) => optimum <= far));
  values.push(...props.marks.flatMap((mark) => intervalEnds(mark.value, mark.ci95, values)));
  const wish = { log: props.log === true, range: props.range, fromZero, ticks: 5 };
  const axis = axisFor(props.metric, values, wish);
  if (room === 0 || props.range || axis.log) return axis;
  return { ...axis, domain: [axis.domain[0], axis.domain[1] * (1 + room)] };
}

/**
 * The ends of an interval for which an axis makes room. With few rounds or seeds, an interval can be wider
 * than everything else: then it extends beyond the drawing, but never below 0 if there is no value.
 */
export function intervalEnds(value: number, ci95: number | null, values: number[]): number[] {
  if (ci95 === null) return [];
  const [low, high] = [Math.min(0, ...values), Math.max(...values)];
  return [Math.max(low, value - ci95), Math.min(value + ci95, high * 1.4)].filter((end) => end !== 0);
}

/** The text in the tip of a mark. */
export function telling(mark: Mark, metric: string, label: string): string {
  const lines = [
    `${label}${mark.x && mark.x !== mark.series ? `, ${mark.x}` : ""}`,
    formatted(metric, mark.value),
  ];
  if (mark.ci95 !== null) lines[1] += ` ± ${formatted(metric, mark.ci95, 3)}`;
  if (mark.published !== null) {
    lines.push(
      `paper ${formatted(metric, mark.published)} (ratio ${formatted("", mark.value / mark.published, 3)})`,
    );
  }
  if (mark.optimum !== null) lines.push(`optimum ${formatted(metric, mark.optimum)}`);
  return lines.join("\n");
}

/** The most bars in a panel with their values written above them. */
const TOLD = 16;

export function Bars(props: MarksProps) {
  const { marks, panels, xs, series } = props;
  const fullest = Math.max(...panels.map((panel) => marks.filter((mark) => mark.panel === panel).length), 0);
  const told = fullest <= TOLD;
  const y = useMemo(
    () => valueAxis(props, true, told ? 0.07 : 0),
    [marks, props.metric, props.log, props.range, told],
  );
  // If each bar is its own series, each has its own place.
  const alone = marks.every((mark) => mark.x === mark.series);
  const runs = new Set(marks.map((mark) => mark.run)).size;
  const all = alone ? xs.length * runs : xs.length * (series.length * runs + 0.6);
  return (
    <Panels
      names={panels}
      yLabel={y.label}
      height={props.height ?? 320}
      least={Math.min(560, Math.max(260, 60 + all * (told ? 30 : 16)))}
      most={Math.max(360, 60 + all * (alone ? 92 : 62))}
      draw={(place, size) => <One {...props} {...{ y, alone, told }} panel={panels[place] ?? ""} {...size} />}
    />
  );
}

type OneProps = MarksProps & {
  y: Axis;
  alone: boolean;
  told: boolean;
  panel: string;
  width: number;
  height: number;
};

function One(props: OneProps) {
  const { metric, xs, series, look, y, alone, told, panel, width, height, xAxis } = props;
  const options = useMemo<Plot.PlotOptions>(() => {
    const own = props.marks.filter((mark) => mark.panel === panel);
    const groups = alone ? series : xs;
    const room = (width - leftMargin(y) - 8) / Math.max(1, groups.length);
    const shown = groups.map(alone ? String : xAxis.shown);
    const names = categories(shown, room, alone ? "" : xAxis.title);
    const low = y.log ? y.domain[0] : 0;
    const at = placed(own, groups, series, room);
    const ours = own.filter(isOurs);
    const centre = (mark: Mark) => at(mark).centre;
    const ends = { x1: (mark: Mark) => at(mark).from, x2: (mark: Mark) => at(mark).to };
    const marks: Plot.Markish[] = [
      ...axisMarks(null, y),
      Plot.rect(ours, {
        ...ends,
        y1: low,
        y2: "value",
        fill: (mark: Mark) => look(mark.series, mark.run).colour,
        fillOpacity: (mark: Mark) => 0.85 * runOpacity(mark.run),
        clip: true,
        title: (mark: Mark) => telling(mark, metric, look(mark.series, mark.run).label),
        tip: { fill: "var(--raised)", stroke: "var(--line-strong)", fontSize: 12 },
      }),
      ...intervalMarks(ours, { at: centre, value: (mark) => mark.value, half: (mark) => mark.ci95 }, y, "y", {
        stroke: "var(--text)",
        strokeWidth: 1.3,
      }),
      Plot.ruleY(
        own.filter((mark) => mark.optimum !== null),
        { ...ends, y: "optimum", stroke: "var(--optimum)", strokeWidth: 2.5, clip: true },
      ),
      publishedDots(own, centre),
      Plot.ruleY([low], { stroke: "var(--line-strong)" }),
    ];
    if (told && ours.every((mark) => at(mark).wide >= 22)) {
      marks.push(values(ours, centre, y, height - names.height));
    }
    const ticks = groups.map((_, i) => i + 0.5);
    marks.push(Plot.axisX(ticks, { ...names.tick, text: (tick: number) => shown[Math.floor(tick)] ?? "" }));
    return {
      width,
      height,
      marginLeft: leftMargin(y),
      marginRight: 8,
      marginTop: 8,
      marginBottom: names.height,
      x: { type: "linear", domain: [0, Math.max(1, groups.length)], axis: null },
      y: scaleOptions(y),
      marks,
    };
  }, [props.marks, metric, xs, series, look, y, alone, told, panel, width, height]);
  return (
    <PlotBox options={options} label={`Bars of ${metric} by ${xAxis.name}${panel ? `, ${panel}` : ""}`} />
  );
}

const WIDEST = 52;

/** The position of a bar: group `i` has the room from `i` to `i + 1`. */
export interface Place {
  from: number;
  to: number;
  centre: number;
  /** In pixels. */
  wide: number;
}

/**
 * Bars or boxes next to each other in the middle of their group, equally wide in all groups. Missing ones
 * leave no gap.
 */
export function placed<M extends { x: string; series: string; run: number }>(
  marks: M[],
  groups: string[],
  series: string[],
  room: number,
): (mark: M) => Place {
  const members = new Map<string, M[]>(groups.map((group) => [group, []]));
  for (const mark of marks) members.get(mark.x)?.push(mark);
  let most = 1;
  for (const own of members.values()) {
    own.sort((a, b) => series.indexOf(a.series) - series.indexOf(b.series) || a.run - b.run);
    most = Math.max(most, own.length);
  }
  const step = Math.min(WIDEST, (room * 0.82) / most) / Math.max(1, room);
  const gap = Math.min(0.08 * step, 3 / Math.max(1, room));
  return (mark) => {
    const own = members.get(mark.x) ?? [];
    const centre = groups.indexOf(mark.x) + 0.5 + (own.indexOf(mark) - (own.length - 1) / 2) * step;
    const half = (step - gap) / 2;
    return { from: centre - half, to: centre + half, centre, wide: (step - gap) * room };
  };
}

/** How to draw the names below bars in `room` pixels each: level, or tilted if they do not fit; with a title below. */
export function categories(names: string[], room: number, title: string) {
  const wide = Math.max(...names.map((name) => name.length), 1) * 6.4;
  const tilted = wide + 8 > room;
  // If they are close together they are steeper, so that lines do not touch.
  const angle = room < 26 ? 60 : 32;
  const tick = {
    tickSize: 0,
    fill: "var(--text)",
    label: title || null,
    labelAnchor: "center" as const,
    labelArrow: "none" as const,
    ...(tilted ? { tickRotate: -angle, textAnchor: "end" as const } : {}),
  };
  const below = title ? 14 : 0;
  return { tick, height: below + (tilted ? 18 + wide * Math.sin((angle * Math.PI) / 180) : 30) };
}

/** Values above their bars, and above anything else drawn there. */
function values(marks: Mark[], centre: (mark: Mark) => number, y: Axis, height: number): Plot.Markish {
  const pixel = (y.domain[1] - y.domain[0]) / Math.max(1, height);
  const top = (mark: Mark) => {
    const { value, ci95, published, optimum } = mark;
    let at = Math.max(value, value + (ci95 ?? 0));
    const others = [optimum, published].filter((other) => other !== null).sort((a, b) => a - b);
    for (const other of others) {
      const clear = y.log || other < at - 6 * pixel || other > at + 22 * pixel;
      if (!clear) at = Math.max(at, other + 3 * pixel);
    }
    return Math.min(at, y.domain[1] - 10 * pixel);
  };
  return Plot.text(marks, {
    x: centre,
    y: top,
    text: (mark: Mark) => y.short(mark.value),
    dy: -8,
    fill: "var(--text)",
    fontSize: 10.5,
    stroke: "var(--surface)",
    strokeWidth: 3,
  });
}

function publishedDots(marks: Mark[], centre: (mark: Mark) => number): Plot.Markish {
  return Plot.dot(
    marks.filter((mark) => mark.published !== null),
    {
      x: centre,
      y: "published",
      symbol: "diamond",
      r: 5,
      fill: "var(--surface)",
      stroke: "var(--paper)",
      strokeWidth: 1.8,
    },
  );
}

/** The data behind a chart of metrics. */
export function markRows(marks: Mark[], metric: string, names: { panel: string; x: string }, look: Look) {
  const columns = [
    names.panel,
    names.x,
    "series",
    metric,
    `ci95_${metric}`,
    `published_${metric}`,
    `optimum_${metric}`,
  ];
  const rows = marks.map((mark) => [
    mark.panel,
    mark.x,
    look(mark.series, mark.run).label,
    mark.value,
    mark.ci95,
    mark.published,
    mark.optimum,
  ]);
  return { columns, rows };
}
