/** One panel: uPlot has the axes, the grid and the pointer; the lines are drawn from decimated points. */
import uPlot from "uplot";
import { resolvedColour } from "../data/colour";
import { type Scale, scaled, scaleFor } from "../data/format";
import { decimate, Points, type Trace, trace } from "./decimate";
import { gestures } from "./gestures";
import type { Instant, TimeRange } from "./range";
import { type Band, Raster } from "./raster";
import { METRICS, PS, type TimeMetric } from "./traces";

export interface PanelLine {
  key: string;
  name: string;
  /** As in CSS. */
  colour: string;
  dash: string;
  /** For a thin line that accompanies the others: an optimum, or a line beyond the colours. */
  quiet?: boolean;
  /** Of a line that is also smoothed: `raw` is what was sampled, thin and behind `smooth`. */
  role?: "raw" | "smooth";
  trace: Trace;
}

/** An instant with an event. */
export interface Mark {
  /** In seconds. */
  at: number;
  label: string;
}

export interface PanelSpec {
  key: string;
  metric: TimeMetric;
  lines: PanelLine[];
  marks: Mark[];
  height: number;
  /** Whether the time is written below. */
  xAxis: boolean;
  /** Fixed, in the unit of the metric. */
  yRange?: [number, number];
  log?: boolean;
}

export const Y_AXIS = 58;
/** Room to the right of the panels. */
export const RIGHT = 12;
const TIMES = 22;
const LABEL = 15;
/** How opaque the band from the least to the most of each column is, behind the line of its means. */
const BAND = 0.32;
/** How opaque samples are behind their smoothed line. */
export const RAW = 0.3;
/** Milliseconds after which an unchanged range counts as at rest. */
const SETTLE = 140;

/** The scale in which times of a range this wide are written. */
export function timeScale(from: number, to: number): Scale {
  const span = to - from;
  return scaleFor("time_s", Math.max(span, Math.min(Math.abs(to), span * 200)));
}

/** How many decimals distinguish ticks that are `step` apart, such as 2.5. */
export function decimalsOf(step: number): number {
  const least = Math.max(0, Math.min(9, -Math.floor(Math.log10(step) + 1e-9)));
  const scaledStep = step * 10 ** least;
  return Math.abs(scaledStep - Math.round(scaledStep)) > 1e-6 ? least + 1 : least;
}

/** The range of the values: from 0, unless they are far from it; with a little room above. */
export function valueRange(metric: TimeMetric, least: number, most: number): [number, number] {
  if (metric === "utilisation_ratio") return [0, Math.max(1, most)];
  if (!(most > -Infinity)) return [0, 1];
  const low = metric === "srtt_s" && least > most / 2 ? least - (most - least) * 0.1 : 0;
  const room = (most - low) * 0.06;
  return [low, most + (room > 0 ? room : 1)];
}

export class TimePanel {
  readonly plot: uPlot;
  #spec: PanelSpec;
  #points: Points[] = [];
  #raster = new Raster();
  #highlit: string | null = null;
  #seen: { from: number; to: number; width: number } | null = null;
  #scale: Scale = { factor: 1, unit: "", decimals: 0 };
  /** While the range moves, lines are thin and solid: without a graphics card, this makes a frame ten times as fast. */
  #moving: ReturnType<typeof setTimeout> | undefined;
  #stops: (() => void)[] = [];

  /** `onScale` gets the scale of the values whenever it changes. */
  constructor(
    host: HTMLElement,
    spec: PanelSpec,
    readonly range: TimeRange,
    readonly instant: Instant,
    readonly onScale: (scale: Scale) => void,
  ) {
    this.#spec = spec;
    this.plot = new uPlot(
      this.#options(host),
      [
        [range.from, range.to],
        [null, null],
      ],
      host,
    );
    this.#stops.push(
      range.listen(() => {
        clearTimeout(this.#moving);
        this.#moving = setTimeout(() => {
          this.#moving = undefined;
          this.plot.redraw(false, false);
        }, SETTLE);
        this.#look();
      }),
      instant.listen(() => this.#point()),
      gestures(this.plot.over, range),
    );
    this.update(spec);
  }

  update(spec: PanelSpec): void {
    this.#spec = spec;
    this.#points = spec.lines.map((_, i) => this.#points[i] ?? new Points());
    this.#seen = null;
    this.#look();
  }

  resize(width: number): void {
    if (width > 0 && width !== this.plot.width) {
      this.plot.setSize({ width, height: this.plot.height });
      this.#look();
    }
  }

  /** After a change of the theme. */
  redraw(): void {
    this.plot.redraw(false, true);
  }

  highlight(key: string | null): void {
    if (key === this.#highlit) return;
    this.#highlit = key;
    this.plot.redraw(false, false);
  }

  destroy(): void {
    clearTimeout(this.#moving);
    for (const stop of this.#stops) stop();
    this.plot.destroy();
  }

  #look(): void {
    const { from, to } = this.range;
    const width = this.plot.bbox.width;
    const seen = this.#seen;
    if (seen && seen.from === from && seen.to === to && seen.width === width) return;
    this.#seen = { from, to, width };
    let least = Infinity;
    let most = -Infinity;
    this.#spec.lines.forEach((line, i) => {
      const points = this.#points[i] as Points;
      decimate(line.trace, from / PS, to / PS, width, points);
      least = Math.min(least, points.least);
      most = Math.max(most, points.most);
    });
    const { metric, yRange, log } = this.#spec;
    const [low, high] = yRange ?? valueRange(metric, least, most);
    const scale = scaleFor(metric, high);
    if (scale.unit !== this.#scale.unit || scale.decimals !== this.#scale.decimals) {
      this.#scale = scale;
      this.onScale(scale);
    }
    this.plot.batch(() => {
      this.plot.setScale("x", { min: from, max: to });
      this.plot.setScale("y", { min: log ? Math.max(low, least, high * 1e-6) : low, max: high });
    });
  }

  #point(): void {
    const { at } = this.instant;
    const left = at === null ? -10 : this.plot.valToPos(at, "x");
    if (this.plot.cursor.left !== left) this.plot.setCursor({ left, top: at === null ? -10 : 0 }, false);
  }

  #draw(): void {
    const { ctx, bbox } = this.plot;
    const host = this.plot.root;
    const place = this.#placer();
    const moving = this.#moving !== undefined;
    const ratio = uPlot.pxRatio;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    this.#drawMarks();
    ctx.lineJoin = moving ? "bevel" : "round";
    const bands: Band[] = [];
    const alphaOf = (line: PanelLine) => {
      const faded = this.#highlit !== null && this.#highlit !== line.key;
      return faded ? 0.15 : line.role === "raw" ? RAW : line.quiet ? 0.75 : 1;
    };
    this.#spec.lines.forEach((line, i) => {
      const points = this.#points[i] as Points;
      const colour = resolvedColour(line.colour, host);
      if (!points.exact) bands.push({ points, colour, alpha: alphaOf(line) * BAND });
    });
    ctx.globalAlpha = 1;
    this.#raster.draw(ctx, bbox, bands, (y) => place(y) - bbox.top);
    this.#spec.lines.forEach((line, i) => {
      const points = this.#points[i] as Points;
      ctx.globalAlpha = alphaOf(line);
      ctx.strokeStyle = resolvedColour(line.colour, host);
      ctx.lineWidth = (line.quiet || moving || line.role === "raw" ? 1 : 1.5) * ratio;
      ctx.setLineDash(line.dash && !moving ? line.dash.split(" ").map((part) => Number(part) * ratio) : []);
      ctx.beginPath();
      trace(points.exact ? points : (points.means ?? points), bbox.left, place, ctx);
      ctx.stroke();
    });
    ctx.restore();
  }

  /** The position of a value, in pixels of the canvas. */
  #placer(): (y: number) => number {
    const { top, height } = this.plot.bbox;
    const { min = 0, max = 1 } = this.plot.scales.y ?? {};
    if (this.#spec.log) return (y) => this.plot.valToPos(Math.max(y, min ?? y), "y", true);
    const [low, factor] = [min ?? 0, height / ((max ?? 1) - (min ?? 0))];
    return (y) => top + height - (y - low) * factor;
  }

  #drawMarks(): void {
    const { ctx, bbox, root } = this.plot;
    ctx.strokeStyle = resolvedColour("var(--muted)", root);
    ctx.globalAlpha = 0.8;
    ctx.lineWidth = uPlot.pxRatio;
    ctx.setLineDash([2 * uPlot.pxRatio, 3 * uPlot.pxRatio]);
    ctx.beginPath();
    for (const mark of this.#spec.marks) {
      if (mark.at < this.range.from || mark.at > this.range.to) continue;
      const x = Math.round(this.plot.valToPos(mark.at, "x", true)) + 0.5;
      ctx.moveTo(x, bbox.top);
      ctx.lineTo(x, bbox.top + bbox.height);
    }
    ctx.stroke();
    ctx.setLineDash([]);
    ctx.globalAlpha = 1;
  }

  #options(host: HTMLElement): uPlot.Options {
    const colour = (name: string) => () => resolvedColour(`var(${name})`, host);
    const font = `11px ${getComputedStyle(host).fontFamily}`;
    const axis = { stroke: colour("--muted"), font, ticks: { show: false } };
    const grid = { stroke: colour("--grid"), width: 1 };
    const spec = this.#spec;
    return {
      width: Math.max(80, host.clientWidth),
      height: spec.height + (spec.xAxis ? TIMES + LABEL : 14),
      legend: { show: false },
      padding: [6, RIGHT, spec.xAxis ? 0 : 8, 0],
      scales: {
        x: { time: false, auto: false, range: (_, min, max) => [min, max] },
        y: { auto: false, distr: spec.log ? 3 : 1, range: (_, min, max) => [min, max] },
      },
      series: [{}, { show: true, scale: "y", points: { show: false }, stroke: "transparent" }],
      axes: [
        {
          ...axis,
          grid: { ...grid, show: false },
          show: true,
          size: spec.xAxis ? TIMES : 0,
          labelFont: font,
          labelSize: LABEL,
          labelGap: 0,
          gap: 4,
          ...(spec.xAxis ? { label: "Time (s)" } : {}),
          values: (u, splits) => this.#times(u, splits),
        },
        {
          ...axis,
          grid,
          size: Y_AXIS,
          space: 26,
          values: (_, splits) => splits.map((value) => this.#value(value)),
        },
      ],
      cursor: {
        y: false,
        points: { show: false },
        drag: { x: true, y: false, setScale: false },
        bind: {
          mousedown: (_u, _target, handler) => (event) => (event.shiftKey ? null : handler(event)),
          dblclick: () => () => {
            this.range.reset();
            return null;
          },
        },
      },
      hooks: {
        draw: [() => this.#draw()],
        setCursor: [
          (u) => {
            const left = u.cursor.left ?? -10;
            this.instant.set(left < 0 ? null : u.posToVal(left, "x"));
          },
        ],
        setSelect: [
          (u) => {
            if (u.select.width < 3) return;
            const left = u.posToVal(u.select.left, "x");
            const right = u.posToVal(u.select.left + u.select.width, "x");
            u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
            this.range.set(left, right);
          },
        ],
      },
    };
  }

  #times(u: uPlot, splits: number[]): string[] {
    if (!this.#spec.xAxis) return splits.map(() => "");
    const scale = timeScale(this.range.from, this.range.to);
    const axis = u.axes[0];
    if (axis) axis.label = `Time (${scale.unit})`;
    const step = Math.abs((splits[1] ?? 1) - (splits[0] ?? 0)) / scale.factor;
    return splits.map((at) => scaled(at, { ...scale, decimals: decimalsOf(step) }));
  }

  #value(value: number): string {
    if (value === null) return "";
    if (METRICS[this.#spec.metric].percent) return `${Math.round(value * 100)} %`;
    const text = (value / this.#scale.factor).toPrecision(6);
    return String(Number(text)).replace("-", "−");
  }
}
