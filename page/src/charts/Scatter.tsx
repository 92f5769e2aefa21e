/** One metric against another, a point for each case. */
import * as Plot from "@observablehq/plot";
import { useMemo } from "preact/hooks";
import { formatted } from "../data/format";
import { type Axis, axisFor, leftMargin } from "./axes";
import { intervalEnds } from "./Bars";
import { intervalMarks } from "./intervals";
import { Panels } from "./Panels";
import { axisMarks, PlotBox, scaleOptions } from "./PlotBox";
import type { Look } from "./series";

export interface ScatterPoint {
  panel: string;
  series: string;
  run: number;
  /** The name of its case. */
  label: string;
  x: number;
  y: number;
  ci95x: number | null;
  ci95y: number | null;
}

export interface ScatterProps {
  x: string;
  y: string;
  points: ScatterPoint[];
  /** The paper's value, hollow. */
  published: ScatterPoint[];
  panels: string[];
  look: Look;
  log: ("x" | "y")[];
  xRange?: [number, number] | undefined;
  yRange?: [number, number] | undefined;
  height?: number;
}

export function Scatter(props: ScatterProps) {
  const axes = useMemo(() => {
    const all = [...props.points, ...props.published];
    const ends = (value: (p: ScatterPoint) => number, ci: (p: ScatterPoint) => number | null) => {
      const values = all.map(value);
      return [...values, ...all.flatMap((p) => intervalEnds(value(p), ci(p), values))];
    };
    const xs = ends(
      (p) => p.x,
      (p) => p.ci95x,
    );
    const ys = ends(
      (p) => p.y,
      (p) => p.ci95y,
    );
    return {
      x: axisFor(props.x, xs, { log: props.log.includes("x"), range: props.xRange }),
      y: axisFor(props.y, ys, { log: props.log.includes("y"), range: props.yRange }),
    };
  }, [props.points, props.published, props.x, props.y]);
  return (
    <Panels
      names={props.panels}
      yLabel={axes.y.label}
      height={props.height ?? 360}
      draw={(place, size) => (
        <One {...props} {...axes} name={props.panels[place] ?? ""} {...size} names={[props.x, props.y]} />
      )}
    />
  );
}

type OneProps = Omit<ScatterProps, "x" | "y" | "height"> & {
  x: Axis;
  y: Axis;
  names: [string, string];
  name: string;
  width: number;
  height: number;
};

function One({ points, published, name, names, x, y, look, width, height }: OneProps) {
  const options = useMemo<Plot.PlotOptions>(() => {
    const own = points.filter((p) => p.panel === name);
    const theirs = published.filter((p) => p.panel === name);
    const colour = (p: ScatterPoint) => look(p.series, p.run).colour;
    const bar = { stroke: colour, strokeWidth: 1 };
    const tell = (p: ScatterPoint) =>
      [p.label, `${names[0]} ${formatted(names[0], p.x)}`, `${names[1]} ${formatted(names[1], p.y)}`].join(
        "\n",
      );
    return {
      width,
      height,
      marginLeft: leftMargin(y),
      marginRight: 16,
      marginTop: 8,
      marginBottom: 40,
      x: { ...scaleOptions(x), label: x.label },
      y: scaleOptions(y),
      symbol: { type: "identity" },
      marks: [
        ...axisMarks(x, y),
        ...intervalMarks(own, { at: (p) => p.x, value: (p) => p.y, half: (p) => p.ci95y }, y, "y", bar),
        ...intervalMarks(own, { at: (p) => p.y, value: (p) => p.x, half: (p) => p.ci95x }, x, "x", bar),
        Plot.dot(own, {
          x: "x",
          y: "y",
          r: 4.5,
          fill: (p: ScatterPoint) => (p.run === 0 ? colour(p) : "var(--surface)"),
          stroke: colour,
          symbol: (p: ScatterPoint) => look(p.series, p.run).symbol,
          title: tell,
          tip: { fill: "var(--raised)", stroke: "var(--line-strong)", fontSize: 12 },
        }),
        Plot.dot(theirs, {
          x: "x",
          y: "y",
          r: 5.5,
          symbol: "diamond",
          fill: "var(--surface)",
          stroke: colour,
          strokeWidth: 1.8,
        }),
      ],
    };
  }, [points, published, name, x, y, look, width, height]);
  return <PlotBox options={options} label={`${names[1]} against ${names[0]}${name ? `, ${name}` : ""}`} />;
}
