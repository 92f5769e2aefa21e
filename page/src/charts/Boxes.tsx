/**
 * Distributions as boxes: from the 10th to the 90th percentile, the median, whiskers from the minimum to the maximum;
 * a point where all values are the same.
 */
import * as Plot from "@observablehq/plot";
import { useMemo } from "preact/hooks";
import type { AxisNames } from "../data/cases";
import { formatted } from "../data/format";
import type { Panel } from "../data/select";
import { percentile } from "../data/stats";
import { type Axis, axisFor, leftMargin } from "./axes";
import { categories, placed } from "./Bars";
import { Panels } from "./Panels";
import { axisMarks, PlotBox, scaleOptions } from "./PlotBox";
import type { Cell, Rows } from "./rows";
import { type Look, runOpacity } from "./series";

interface Box {
  x: string;
  series: string;
  run: number;
  count: number;
  least: number;
  p10: number;
  p50: number;
  p90: number;
  most: number;
}

export interface BoxesProps {
  quantity: string;
  panels: Panel[];
  xs: string[];
  series: string[];
  look: Look;
  log?: boolean;
  range?: [number, number] | undefined;
  /** The names of the horizontal axis and its values. */
  xAxis: AxisNames;
  height?: number;
}

function boxesOf(panel: Panel): Box[] {
  return panel.curves.map(({ x, series, run, of }) => ({
    x,
    series,
    run,
    count: of.count,
    least: percentile(of, 0),
    p10: percentile(of, 10),
    p50: percentile(of, 50),
    p90: percentile(of, 90),
    most: percentile(of, 100),
  }));
}

/** Where the axis ends: a few values far beyond all boxes would flatten them. */
export function upperEnd(panels: Panel[], log: boolean): number {
  const all = panels.flatMap(boxesOf);
  const high = Math.max(...all.map((box) => box.p90));
  const most = Math.max(...all.map((box) => box.most));
  return log || most <= 5 * high || high <= 0 ? most : 2.5 * high;
}

/** Whether all values are the same: a box of no height would look like a line of its axis. */
export function isPoint(box: Pick<Box, "least" | "most">): boolean {
  return box.least === box.most;
}

export function Boxes(props: BoxesProps) {
  const boxes = useMemo(() => props.panels.map(boxesOf), [props.panels]);
  const y = useMemo(() => {
    const all = boxes.flat();
    const end = upperEnd(props.panels, props.log === true);
    const ends = all.flatMap((box) => [
      props.log && box.least <= 0 ? box.p10 : box.least,
      Math.min(box.most, end),
    ]);
    return axisFor(props.quantity, ends, { log: props.log === true, range: props.range, ticks: 5 });
  }, [boxes, props.quantity, props.log, props.range]);
  return (
    <Panels
      names={props.panels.map((panel) => panel.name)}
      yLabel={y.label}
      height={props.height ?? 320}
      least={Math.min(520, Math.max(260, 60 + props.xs.length * props.series.length * 16))}
      draw={(place, size) => (
        <One {...props} boxes={boxes[place] ?? []} panel={props.panels[place]?.name ?? ""} y={y} {...size} />
      )}
    />
  );
}

type OneProps = Omit<BoxesProps, "height"> & {
  boxes: Box[];
  panel: string;
  y: Axis;
  width: number;
  height: number;
};

function One({ boxes, panel, quantity, xs, series, look, y, xAxis, width, height }: OneProps) {
  const options = useMemo<Plot.PlotOptions>(() => {
    const own = xs.filter((x) => boxes.some((box) => box.x === x));
    const alone = boxes.every((box) => box.x === box.series);
    const colour = (box: Box) => look(box.series, box.run).colour;
    const low = (value: number) => (y.log ? Math.max(value, y.domain[0]) : value);
    const room = (width - leftMargin(y) - 8) / Math.max(1, own.length);
    const shown = own.map(xAxis.shown);
    const below = categories(shown, room, xAxis.title);
    const at = placed(boxes, own, series, room);
    const x = (box: Box) => at(box).centre;
    const ends = { x1: (box: Box) => at(box).from, x2: (box: Box) => at(box).to };
    const [points, wide] = [boxes.filter(isPoint), boxes.filter((box) => !isPoint(box))];
    const tell = (box: Box) =>
      [
        `${look(box.series, box.run).label}${alone ? "" : `, ${box.x}`}`,
        ...(["most", "p90", "p50", "p10", "least"] as const).map(
          (part) => `${part} ${formatted(quantity, box[part])}`,
        ),
        `of ${box.count}`,
      ].join("\n");
    return {
      width,
      height,
      marginLeft: leftMargin(y),
      marginRight: 8,
      marginTop: 8,
      marginBottom: below.height,
      x: { type: "linear", domain: [0, Math.max(1, own.length)], axis: null },
      y: scaleOptions(y),
      symbol: { type: "identity" },
      marks: [
        ...axisMarks(null, y),
        Plot.ruleX(wide, {
          x,
          y1: (box: Box) => low(box.least),
          y2: (box: Box) => low(box.p10),
          stroke: colour,
          strokeWidth: 1.3,
          clip: true,
        }),
        Plot.ruleX(wide, { x, y1: "p90", y2: "most", stroke: colour, strokeWidth: 1.3, clip: true }),
        Plot.rect(wide, {
          ...ends,
          y1: (box: Box) => low(box.p10),
          y2: (box: Box) => low(box.p90),
          fill: colour,
          stroke: colour,
          fillOpacity: (box: Box) => 0.3 * runOpacity(box.run) + 0.1,
          title: tell,
          tip: { fill: "var(--raised)", stroke: "var(--line-strong)", fontSize: 12 },
        }),
        Plot.ruleY(wide, { ...ends, y: "p50", stroke: colour, strokeWidth: 3 }),
        Plot.dot(points, {
          x,
          y: "p50",
          r: 4,
          fill: colour,
          fillOpacity: (box: Box) => runOpacity(box.run),
          symbol: (box: Box) => look(box.series, box.run).symbol,
          className: "one-value",
          title: tell,
          tip: { fill: "var(--raised)", stroke: "var(--line-strong)", fontSize: 12 },
        }),
        Plot.axisX(
          own.map((_, i) => i + 0.5),
          { ...below.tick, text: (tick: number) => shown[Math.floor(tick)] ?? "" },
        ),
      ],
    };
  }, [boxes, quantity, xs, series, look, y, width, height]);
  return (
    <PlotBox options={options} label={`Boxes of ${quantity} by ${xAxis.name}${panel ? `, ${panel}` : ""}`} />
  );
}

export function boxRows(
  panels: Panel[],
  quantity: string,
  names: { panel: string; x: string },
  look: Look,
): Rows {
  const parts = ["least", "p10", "p50", "p90", "most"] as const;
  const cut = quantity.lastIndexOf("_");
  const named = (part: string) =>
    `${quantity.slice(0, cut < 0 ? undefined : cut)}_${part}${cut < 0 ? "" : quantity.slice(cut)}`;
  const rows = panels.flatMap((panel) =>
    boxesOf(panel).map((box): Cell[] => [
      panel.name,
      box.x,
      look(box.series, box.run).label,
      box.count,
      ...parts.map((part) => box[part]),
    ]),
  );
  return { columns: [names.panel, names.x, "series", "count", ...parts.map(named)], rows };
}
