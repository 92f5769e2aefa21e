/** The rows behind a figure over time, and its drawing as an SVG. */
import { plot, line as plotLine, ruleX } from "@observablehq/plot";
import { standalone } from "../charts/export";
import type { Cell, Rows } from "../charts/rows";
import { axisTitle, scaleFor } from "../data/format";
import { decimate, firstEndingAfter, Points, type Trace } from "./decimate";
import type { PanelLine, PanelSpec } from "./plot";
import { RAW, timeScale, valueRange } from "./plot";
import type { TimeRange } from "./range";
import { METRICS, PS, PS_IN_S, type TimeMetric } from "./traces";

/** More rows than this are too many for a reader's table and for a spreadsheet. */
const MOST_ROWS = 200_000;

interface RowsLine {
  name: string;
  traces: Trace[];
}

/** Lines whose traces have the same rows, one row for each visible interval. */
export function rowsOf(
  parts: { lines: readonly RowsLine[]; metrics: readonly TimeMetric[] }[],
  range: { from: number; to: number },
): Rows {
  const metrics = [...new Set(parts.flatMap((part) => part.metrics))];
  const rows: Cell[][] = [];
  let left = 0;
  for (const { lines, metrics: own } of parts) {
    for (const { name, traces } of lines) {
      const [first] = traces;
      if (!first) continue;
      for (let row = firstEndingAfter(first, range.from / PS); row < first.start.length; row++) {
        const start = (first.start[row] as number) / PS_IN_S;
        if (start >= range.to) break;
        if (rows.length === MOST_ROWS) {
          left++;
          continue;
        }
        const values = metrics.map((metric) => {
          const trace = traces[own.indexOf(metric)];
          const value = trace ? (trace.y[row] as number) / trace.per : Number.NaN;
          return Number.isNaN(value) ? null : value;
        });
        rows.push([name, start, (first.duration[row] as number) / PS_IN_S, ...values]);
      }
    }
  }
  const note = left > 0 ? `${left} more rows are left out: zoom in or choose fewer lines.` : undefined;
  return { columns: ["series", "start_s", "duration_s", ...metrics], rows, ...(note ? { note } : {}) };
}

interface Point {
  x: number;
  y: number;
  line: PanelLine;
  /** Lines of different lists may have the same key: an optimum and its flow. */
  z: number;
}

/** One panel as an SVG of the page, decimated as on the screen. */
function drawn(spec: PanelSpec, title: string, range: TimeRange, width: number): SVGSVGElement | HTMLElement {
  const inner = width - 70;
  const time = timeScale(range.from, range.to);
  const points: Point[] = [];
  let [least, most] = [Infinity, -Infinity];
  spec.lines.forEach((line, z) => {
    const own = new Points();
    decimate(line.trace, range.from / PS, range.to / PS, inner, own);
    least = Math.min(least, own.least);
    most = Math.max(most, own.most);
    for (let i = 0; i < own.length; i++) {
      const at = range.from + ((own.x[i] as number) / inner) * range.span;
      points.push({ x: at / time.factor, y: own.y[i] as number, line, z });
    }
  });
  const [low, high] = spec.yRange ?? valueRange(spec.metric, least, most);
  const scale = scaleFor(spec.metric, high);
  const { percent } = METRICS[spec.metric];
  const factor = percent ? 0.01 : scale.factor;
  const label = percent ? "%" : axisTitle(spec.metric, scale);
  return plot({
    width,
    height: spec.height + 50,
    marginLeft: 56,
    marginRight: 14,
    marginTop: 26,
    marginBottom: 36,
    style: { background: "none", color: "var(--text)" },
    className: "plot",
    x: {
      domain: [range.from / time.factor, range.to / time.factor],
      label: `Time (${time.unit})`,
      labelArrow: "none",
    },
    y: {
      domain: [(spec.log ? Math.max(low, least) : low) / factor, high / factor],
      type: spec.log ? "log" : "linear",
      label: `${title} · ${label}`,
      labelArrow: "none",
      grid: true,
      nice: false,
      clamp: true,
    },
    marks: [
      ruleX(
        spec.marks.filter(({ at }) => at >= range.from && at <= range.to),
        {
          x: (mark: { at: number }) => mark.at / time.factor,
          stroke: "var(--muted)",
          strokeDasharray: "2 3",
        },
      ),
      ...spec.lines.map((line, z) =>
        plotLine(
          points.filter((point) => point.z === z),
          {
            x: "x",
            y: (point: Point) => point.y / factor,
            stroke: line.colour,
            strokeWidth: line.quiet || line.role === "raw" ? 0.9 : 1.3,
            strokeOpacity: line.role === "raw" ? RAW : 1,
            strokeDasharray: line.dash || "none",
            clip: true,
          },
        ),
      ),
    ],
  });
}

export interface StaticFigure {
  title: string;
  caption: string;
  panels: { spec: PanelSpec; title: string }[];
  legend: { name: string; colour: string; dash: string }[];
  columns: number;
}

/** The whole figure as elements of the page: for files and for paper. */
export function staticFigure(figure: StaticFigure, range: TimeRange): HTMLElement {
  const host = document.createElement("div");
  host.style.width = "960px";
  const legend = document.createElement("ul");
  legend.className = "legend";
  for (const item of figure.legend) {
    const entry = document.createElement("li");
    const key = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    const stroke = document.createElementNS("http://www.w3.org/2000/svg", "line");
    for (const [name, value] of Object.entries({ width: 26, height: 12 }))
      key.setAttribute(name, String(value));
    const ends = {
      x1: 1,
      x2: 25,
      y1: 6,
      y2: 6,
      stroke: item.colour,
      "stroke-width": 2,
      "stroke-dasharray": item.dash,
    };
    for (const [name, value] of Object.entries(ends)) stroke.setAttribute(name, String(value));
    key.append(stroke);
    const words = document.createElement("span");
    words.textContent = item.name;
    entry.append(key, words);
    legend.append(entry);
  }
  const grid = document.createElement("div");
  grid.style.display = "grid";
  grid.style.gridTemplateColumns = `repeat(${figure.columns}, 1fr)`;
  grid.style.gap = "12px";
  const width = Math.floor((960 - 12 * (figure.columns - 1)) / figure.columns);
  for (const { spec, title } of figure.panels) grid.append(drawn(spec, title, range, width));
  host.append(legend, grid);
  return host;
}

/** The figure as a standalone drawing. */
export function staticSvg(figure: StaticFigure, range: TimeRange): SVGSVGElement {
  const stage = document.createElement("div");
  stage.className = "export-stage";
  stage.dataset.theme = "light";
  const host = staticFigure(figure, range);
  stage.append(host);
  document.body.append(stage);
  try {
    return standalone(host, figure.title, figure.caption);
  } finally {
    stage.remove();
  }
}
