/** Slowdown or completion time against the size of flows: median and a high percentile of each bin of sizes. */
import * as Plot from "@observablehq/plot";
import { useMemo } from "preact/hooks";
import type { Bin } from "../data/bins";
import { formatted } from "../data/format";
import { percentile } from "../data/stats";
import { type Axis, axisFor } from "./axes";
import { Panels } from "./Panels";
import { axisMarks, PlotBox, scaleOptions } from "./PlotBox";
import type { Rows } from "./rows";
import type { Look } from "./series";

export interface BySizeProps {
  quantity: "slowdown_ratio" | "fct_s";
  bins: Bin[];
  panels: string[];
  /** The high percentile drawn next to the median. */
  high: number;
  look: Look;
}

/** With fewer flows, a high percentile depends on a single flow: its marker is hollow. */
const FEW = 100;

function centre(bin: Bin): number {
  return Math.sqrt(bin.least * bin.most);
}

export function BySize(props: BySizeProps) {
  const { bins, quantity, high } = props;
  const axes = useMemo(() => {
    const values = bins.flatMap((bin) => [percentile(bin.of, 50), percentile(bin.of, high)]);
    return {
      x: axisFor("size_bytes", bins.map(centre), { log: true, label: "Flow size" }),
      y: axisFor(quantity, values, { log: true, ticks: 8 }),
    };
  }, [bins, quantity, high]);
  return (
    <Panels
      names={props.panels}
      yLabel={`${axes.y.label}: median (thin) and ${high}th percentile (thick)`}
      height={360}
      least={300}
      draw={(place, size) => <One {...props} {...axes} panel={props.panels[place] ?? ""} {...size} />}
    />
  );
}

type OneProps = BySizeProps & { x: Axis; y: Axis; panel: string; width: number; height: number };

function One({ bins, panel, quantity, high, look, x, y, width, height }: OneProps) {
  const options = useMemo<Plot.PlotOptions>(() => {
    const own = bins.filter((bin) => bin.panel === panel);
    const lines = new Map<string, Bin[]>();
    for (const bin of own) {
      const key = `${bin.series}\u0000${bin.run}`;
      lines.set(key, [...(lines.get(key) ?? []), bin]);
    }
    const tell = (bin: Bin) =>
      [
        look(bin.series, bin.run).label,
        bin.least === bin.most
          ? formatted("size_bytes", bin.least)
          : `${formatted("size_bytes", bin.least)} to ${formatted("size_bytes", bin.most)}`,
        `p50 ${formatted(quantity, percentile(bin.of, 50))}, p${high} ${formatted(quantity, percentile(bin.of, high))}`,
        `of ${bin.of.count} flows`,
      ].join("\n");
    const marks: Plot.Markish[] = [...axisMarks(x, y)];
    for (const line of lines.values()) {
      const [first] = line;
      if (!first) continue;
      const { colour, dash, symbol, opacity } = look(first.series, first.run);
      for (const [part, strokeWidth] of [
        [50, 1.1],
        [high, 2.4],
      ] as const) {
        const at = { x: centre, y: (bin: Bin) => percentile(bin.of, part) };
        marks.push(
          Plot.line(line, {
            ...at,
            stroke: colour,
            strokeWidth,
            strokeDasharray: dash || undefined,
            strokeOpacity: opacity,
          }),
          Plot.dot(line, {
            ...at,
            symbol,
            r: part === 50 ? 2 : 3.2,
            stroke: colour,
            fill: (bin: Bin) => (part !== 50 && bin.of.count < FEW ? "var(--surface)" : colour),
          }),
        );
      }
    }
    marks.push(
      Plot.tip(
        own,
        Plot.pointer({
          x: centre,
          y: (bin: Bin) => percentile(bin.of, high),
          title: tell,
          fill: "var(--raised)",
          stroke: "var(--line-strong)",
          fontSize: 12,
        }),
      ),
    );
    return {
      width,
      height,
      marginLeft: 56,
      marginRight: 16,
      marginTop: 8,
      marginBottom: 40,
      x: { ...scaleOptions(x), label: x.label },
      y: scaleOptions(y),
      marks,
    };
  }, [bins, panel, quantity, high, look, x, y, width, height]);
  return <PlotBox options={options} label={`${quantity} against flow size${panel ? `, ${panel}` : ""}`} />;
}

export function bySizeRows(bins: Bin[], quantity: string, look: Look, panel: string): Rows {
  const cut = quantity.lastIndexOf("_");
  const [stem, unit] = [quantity.slice(0, cut), quantity.slice(cut)];
  const parts = [50, 95, 99];
  return {
    columns: [
      panel,
      "series",
      "least_size_bytes",
      "most_size_bytes",
      "flows",
      ...parts.map((p) => `${stem}_p${p}${unit}`),
    ],
    rows: bins.map((bin) => [
      bin.panel,
      look(bin.series, bin.run).label,
      bin.least,
      bin.most,
      bin.of.count,
      ...parts.map((part) => percentile(bin.of, part)),
    ]),
  };
}
