/** Empirical distributions: a curve for each series, small multiples, with the paper's percentiles. */
import * as Plot from "@observablehq/plot";
import { useMemo } from "preact/hooks";
import { formatted, percent } from "../data/format";
import type { Curve, Panel } from "../data/select";
import { type Distribution, percentile, shareUpTo, steps } from "../data/stats";
import { type Axis, axisFor, shareAxis } from "./axes";
import { Panels } from "./Panels";
import { axisMarks, PlotBox, type PointedAt, type Scales, scaleOptions } from "./PlotBox";
import type { Look } from "./series";

/** A point printed in a paper: this share of the series is no more than `x`. */
export interface PublishedPoint {
  series: string;
  panel: string;
  x: number;
  share: number;
}

export interface CdfProps {
  quantity: string;
  panels: Panel[];
  look: Look;
  /** The items with one value each: `flows`. */
  of: string;
  log: boolean;
  /** The share above, both axes logarithmic: shows the tail. */
  tail?: boolean;
  range?: [number, number] | undefined;
  published?: PublishedPoint[];
  height?: number;
  least?: number;
  /** Whether a linear axis may end before the last values: {@link cdfEnd}. */
  trim?: boolean;
}

const MARGIN = { left: 40, right: 14, top: 8, bottom: 40 };
/** The percentiles marked on a curve. */
const MARKED = [10, 50, 90];

export function Cdf(props: CdfProps) {
  const { panels, quantity, log, tail, range, published = [] } = props;
  const x = useMemo(() => {
    const ends = panels.flatMap(({ curves }) =>
      curves.flatMap(({ of }) => [
        leastOf(of, log || !!tail),
        Math.min(mostOf(of), props.trim && !log && !tail ? cdfEnd(panels) : Number.POSITIVE_INFINITY),
      ]),
    );
    return axisFor(quantity, [...ends, ...published.map((point) => point.x)], { log: log || !!tail, range });
  }, [panels, quantity, log, tail, range]);
  const label = tail ? `Share of ${props.of} above` : `Share of ${props.of} with no more`;
  const fewest = Math.max(...panels.flatMap(({ curves }) => curves.map(({ of }) => of.count)), 10);
  const y = shareAxis(label, tail === true, Math.max(1e-6, 1 / fewest));
  return (
    <Panels
      names={panels.map((panel) => panel.name)}
      yLabel={label}
      height={props.height ?? 340}
      least={props.least ?? 260}
      draw={(place, { width, height }) => (
        <One {...props} panel={panels[place] as Panel} x={x} y={y} width={width} height={height} />
      )}
    />
  );
}

/** Where a linear axis ends: one value in a thousand, far beyond all others, would push the curves to the edge. */
export function cdfEnd(panels: Panel[]): number {
  const all = panels.flatMap(({ curves }) => curves.map(({ of }) => of));
  const most = Math.max(...all.map(mostOf));
  const nearly = Math.max(...all.map((of) => percentile(of, 99.9)));
  return most > 3 * nearly && nearly > 0 ? 1.25 * nearly : most;
}

function leastOf(of: Distribution, positive: boolean): number {
  if (!positive) return of.values[0] ?? Number.NaN;
  return of.values.find((value) => value > 0) ?? Number.NaN;
}

function mostOf(of: Distribution): number {
  return of.values[of.values.length - 1] ?? Number.NaN;
}

type OneProps = CdfProps & { panel: Panel; x: Axis; y: Axis; width: number; height: number };

function One({ panel, x, y, width, height, quantity, look, tail, published = [], of }: OneProps) {
  const ticks = useMemo(() => thinnedTicks(x, width), [x, width]);
  const options = useMemo<Plot.PlotOptions>(() => {
    const marks: Plot.Markish[] = [...axisMarks(ticks, y)];
    for (const curve of panel.curves) marks.push(...curveMarks(curve, x, width, height, look, tail === true));
    const own = published.filter((point) => point.panel === panel.name);
    for (const point of own) {
      const { colour } = look(point.series, 0);
      marks.push(
        Plot.dot([point], {
          x: "x",
          y: tail ? (d: PublishedPoint) => 1 - d.share : "share",
          symbol: "diamond",
          r: 5,
          fill: "var(--surface)",
          stroke: colour,
          strokeWidth: 2,
        }),
      );
    }
    return {
      width,
      height,
      marginLeft: MARGIN.left,
      marginRight: MARGIN.right,
      marginTop: MARGIN.top,
      marginBottom: MARGIN.bottom,
      x: { ...scaleOptions(x), label: x.label },
      y: scaleOptions(y),
      marks,
    };
  }, [panel, x, y, width, height, look, tail, published]);
  const hover = (scales: Scales, px: number, py: number): PointedAt | null => {
    if (px < MARGIN.left - 4 || px > width || py > height - MARGIN.bottom + 4) return null;
    const at = scales("x").invert(px);
    const level = Math.min(1, Math.max(0, scales("y").invert(py)));
    const share = tail ? 1 - level : level;
    return { x: px, y: py, tip: <Reading {...{ panel, quantity, look, at, share }} /> };
  };
  const names = panel.curves.map((curve) => look(curve.series, curve.run).label).join(", ");
  const label = `Cumulative distribution of ${quantity} of ${of}${panel.name ? `, ${panel.name}` : ""}: ${names}`;
  return <PlotBox options={options} label={label} hover={hover} />;
}

/** Fewer ticks in a narrow panel. */
function thinnedTicks(x: Axis, width: number): Axis {
  const most = Math.max(2, Math.floor((width - MARGIN.left - MARGIN.right) / 58));
  const every = Math.ceil(x.ticks.length / most);
  return every > 1 ? { ...x, ticks: x.ticks.filter((_, i) => i % every === 0) } : x;
}

function curveMarks(curve: Curve, x: Axis, width: number, height: number, look: Look, tail: boolean) {
  const { of } = curve;
  const own = look(curve.series, curve.run);
  const [low, high] = x.domain;
  const wide = width - MARGIN.left - MARGIN.right;
  const tall = height - MARGIN.top - MARGIN.bottom;
  const cellX = x.log
    ? (value: number) => Math.floor((Math.log(value / low) / Math.log(high / low)) * wide)
    : (value: number) => Math.floor(((value - low) / (high - low)) * wide);
  const cellShare = tail
    ? (share: number) => Math.floor(Math.log(Math.max(1e-9, 1 - share)) * (tall / Math.log(of.count + 1)))
    : (share: number) => Math.floor(share * tall);
  let drawn: [number, number][] = steps(of, cellX, cellShare).map((step) => [
    step.x,
    tail ? 1 - step.share : step.share,
  ]);
  const [first] = drawn;
  if (first) drawn.unshift([first[0], tail ? 1 : 0]);
  drawn = drawn.filter(([value, share]) => (!x.log || value > 0) && (!tail || share > 0));
  const marked = MARKED.map((part) => [percentile(of, part), part / 100] as const);
  return [
    Plot.line(drawn, {
      curve: "step-after",
      stroke: own.colour,
      strokeWidth: 1.8,
      strokeDasharray: own.dash || undefined,
      strokeOpacity: own.opacity,
      strokeLinejoin: "round",
      clip: true,
    }),
    tail
      ? null
      : Plot.dot(marked, {
          symbol: own.symbol,
          r: 3,
          fill: own.colour,
          fillOpacity: own.opacity,
          clip: true,
        }),
  ];
}

interface ReadingProps {
  panel: Panel;
  quantity: string;
  look: Look;
  at: number;
  share: number;
}

/** Both readings of a point: the share of values up to it, and the value that this share does not exceed. */
function Reading({ panel, quantity, look, at, share }: ReadingProps) {
  return (
    <table>
      <thead>
        <tr>
          <td />
          <td>≤ {formatted(quantity, at)}</td>
          <td>at {percent(share, 1)}</td>
        </tr>
      </thead>
      <tbody>
        {panel.curves.map((curve) => {
          const own = look(curve.series, curve.run);
          return (
            <tr key={own.label}>
              <td>
                <span class="dot" style={{ background: own.colour, opacity: own.opacity }} /> {own.label}
              </td>
              <td class="n">{percent(shareUpTo(curve.of, at), 1)}</td>
              <td class="n">{formatted(quantity, percentile(curve.of, share * 100))}</td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}
