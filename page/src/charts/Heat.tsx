/** A metric by two axes: a cell for each pair, with its value in it. */
import * as Plot from "@observablehq/plot";
import { useMemo } from "preact/hooks";
import type { AxisNames } from "../data/cases";
import { formatted, scaled, scaleOf } from "../data/format";
import { Panels } from "./Panels";
import { PlotBox } from "./PlotBox";

export interface HeatCell {
  panel: string;
  x: string;
  y: string;
  value: number;
  ci95: number | null;
}

interface HeatProps {
  metric: string;
  cells: HeatCell[];
  xs: string[];
  ys: string[];
  /** The names of both axes and their values. */
  axes: [AxisNames, AxisNames];
  /** Each column is coloured separately, by the ratio to its minimum; otherwise all cells by their values. */
  ratios?: boolean;
}

export function Heat(props: HeatProps) {
  const panels = [...new Set(props.cells.map((cell) => cell.panel))];
  const longest = Math.max(...props.ys.map((y) => y.length), 1);
  return (
    <Panels
      names={panels}
      height={props.ys.length * 34 + 60}
      least={Math.max(240, props.xs.length * 54 + longest * 7)}
      draw={(place, { width }) => <One {...props} panel={panels[place] ?? ""} width={width} />}
    />
  );
}

/** How strongly a cell is coloured, from 0 to 1. */
export function strengths(cells: HeatCell[], ratios: boolean): (cell: HeatCell) => number {
  const column = (cell: HeatCell) => JSON.stringify([cell.panel, cell.x]);
  const least = new Map<string, number>();
  for (const cell of cells) {
    least.set(column(cell), Math.min(cell.value, least.get(column(cell)) ?? Number.POSITIVE_INFINITY));
  }
  // Values that are 0 or less have no ratios.
  const byRatio = ratios && [...least.values()].every((value) => value > 0);
  const of = (cell: HeatCell) =>
    byRatio ? Math.log(cell.value / (least.get(column(cell)) ?? 1)) : cell.value;
  const all = cells.map(of);
  const [low, high] = [Math.min(...all), Math.max(...all)];
  return (cell) => (high > low ? (of(cell) - low) / (high - low) : 0.5);
}

function One(props: HeatProps & { panel: string; width: number }) {
  const { metric, cells, xs, ys, axes, ratios, panel, width } = props;
  const options = useMemo<Plot.PlotOptions>(() => {
    const values = cells.map((cell) => cell.value);
    const of = strengths(cells, ratios === true);
    const strength = (cell: HeatCell) => 0.08 + 0.62 * of(cell);
    const scale = scaleOf(metric, values);
    const short = { ...scale, decimals: Math.max(0, scale.decimals - 1) };
    const tick = { tickSize: 0, fill: "var(--muted)", labelArrow: "none" as const };
    const longest = Math.max(...ys.map((y) => y.length), 1);
    return {
      width,
      height: ys.length * 34 + 56,
      marginLeft: Math.min(140, longest * 7 + 30),
      marginRight: 4,
      marginTop: 4,
      marginBottom: 44,
      x: { type: "band", domain: xs, label: null, padding: 0.04 },
      y: { type: "band", domain: ys, label: null, padding: 0.06 },
      marks: [
        Plot.axisX({
          ...tick,
          tickFormat: axes[0].shown,
          label: axes[0].title || null,
          labelAnchor: "center",
        }),
        Plot.axisY({
          ...tick,
          tickFormat: axes[1].shown,
          label: axes[1].title || null,
          labelAnchor: "center",
        }),
        Plot.cell(
          cells.filter((cell) => cell.panel === panel),
          {
            x: "x",
            y: "y",
            fill: "var(--series-0)",
            fillOpacity: strength,
            title: (cell: HeatCell) =>
              `${cell.x}, ${cell.y}\n${formatted(metric, cell.value)}${cell.ci95 === null ? "" : ` ± ${formatted(metric, cell.ci95, 3)}`}`,
            tip: { fill: "var(--raised)", stroke: "var(--line-strong)", fontSize: 12 },
          },
        ),
        Plot.text(
          cells.filter((cell) => cell.panel === panel),
          {
            x: "x",
            y: "y",
            text: (cell: HeatCell) => scaled(cell.value, short),
            fill: "var(--text)",
            pointerEvents: "none",
          },
        ),
      ],
    };
  }, [metric, cells, xs, ys, ratios, panel, width]);
  return <PlotBox options={options} label={`${metric} by ${axes[0].name} and ${axes[1].name}`} />;
}
