/** A metric against an axis whose values are numbers. */
import * as Plot from "@observablehq/plot";
import { useMemo } from "preact/hooks";
import { type Axis, axisFor, leftMargin } from "./axes";
import { isOurs, type Mark, type MarksProps, telling, valueAxis } from "./Bars";
import { intervalMarks } from "./intervals";
import { Panels } from "./Panels";
import { axisMarks, PlotBox, scaleOptions } from "./PlotBox";
import { type Looks, OPTIMUM_DASH } from "./series";

export interface LinesProps extends MarksProps {
  /** The values of x as numbers. */
  numbers: Map<string, number>;
  logX?: boolean;
  xRange?: [number, number] | undefined;
}

export function Lines(props: LinesProps) {
  const y = useMemo(() => valueAxis(props, true), [props.marks, props.metric, props.log, props.range]);
  const least = props.xs.length > 8 ? 300 : 250;
  const most = Math.max(620, 90 * props.xs.length);
  return (
    <Panels
      names={props.panels}
      yLabel={y.label}
      height={props.height ?? 320}
      least={least}
      most={most}
      draw={(place, size) => <One {...props} y={y} panel={props.panels[place] ?? ""} {...size} />}
    />
  );
}

/** The horizontal axis of lines: ticks at the existing values, except those that would overlap. */
function horizontal({ xs, numbers, logX, xRange, xAxis }: LinesProps, width: number): Axis {
  const all = xs.map((x) => numbers.get(x) ?? Number.NaN);
  const fromZero = Math.min(...all) <= 0.25 * Math.max(...all);
  const wish = { log: logX === true, range: xRange, fromZero, label: xAxis.title };
  const axis = axisFor("", all, wish);
  const [low, high] = axis.domain;
  // Lines that do not begin at 0 begin at a small distance from the axis.
  const room = !fromZero && !xRange && !axis.log ? (high - low) * 0.04 : 0;
  const names = new Map(all.map((value, i) => [value, xAxis.shown(xs[i] ?? "")]));
  const at = (value: number) =>
    axis.log ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
  const ticks: number[] = [];
  for (const value of all) {
    const last = ticks.at(-1);
    const wide = 12 + 6.6 * (names.get(value)?.length ?? 0);
    if (last === undefined || (at(value) - at(last)) * (width - 64) >= wide) ticks.push(value);
  }
  const domain: [number, number] = [low - room, high];
  return { ...axis, domain, ticks, format: (value) => names.get(value) ?? String(value) };
}

function One(props: LinesProps & { y: Axis; panel: string; width: number; height: number }) {
  const { metric, look, y, panel, width, height, xAxis, series } = props;
  const options = useMemo<Plot.PlotOptions>(() => {
    const x = horizontal(props, width);
    const at = (mark: Mark) => props.numbers.get(mark.x) ?? null;
    const own = props.marks.filter((mark) => mark.panel === panel && at(mark) !== null);
    const marks: Plot.Markish[] = [...axisMarks(x, y)];
    const runs = [...new Set(own.map((mark) => mark.run))];
    for (const name of series) {
      for (const run of runs) {
        const line = own.filter((mark) => mark.series === name && mark.run === run);
        line.sort((a, b) => (at(a) ?? 0) - (at(b) ?? 0));
        marks.push(...lineMarks(line, at, y, look(name, run)));
      }
    }
    marks.push(
      Plot.tip(
        own.filter(isOurs),
        Plot.pointer({
          x: at,
          y: "value",
          title: (mark: Mark) => telling(mark, metric, look(mark.series, mark.run).label),
          fill: "var(--raised)",
          stroke: "var(--line-strong)",
          fontSize: 12,
        }),
      ),
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
      marks,
    };
  }, [props.marks, metric, look, y, panel, width, height]);
  return <PlotBox options={options} label={`${metric} against ${xAxis.name}${panel ? `, ${panel}` : ""}`} />;
}

function lineMarks(line: Mark[], at: (mark: Mark) => number | null, y: Axis, looks: Looks) {
  const { colour, dash, symbol, opacity } = looks;
  const optimal = line.filter((mark) => mark.optimum !== null);
  return [
    Plot.line(optimal, {
      x: at,
      y: "optimum",
      stroke: colour,
      strokeOpacity: 0.55,
      strokeDasharray: OPTIMUM_DASH,
      strokeWidth: 1.5,
    }),
    ...intervalMarks(line, { at, value: (mark) => mark.value, half: (mark) => mark.ci95 }, y, "y", {
      stroke: colour,
      strokeOpacity: 0.7 * opacity,
      strokeWidth: 1.5,
    }),
    Plot.line(line.filter(isOurs), {
      x: at,
      y: "value",
      stroke: colour,
      strokeWidth: 1.8,
      strokeOpacity: opacity,
      strokeDasharray: dash || undefined,
      clip: true,
    }),
    Plot.dot(line.filter(isOurs), {
      x: at,
      y: "value",
      symbol,
      r: 3.5,
      fill: colour,
      fillOpacity: opacity,
      clip: true,
    }),
    Plot.dot(
      line.filter((mark) => mark.published !== null),
      {
        x: at,
        y: "published",
        symbol: "diamond",
        r: 5,
        fill: "var(--surface)",
        stroke: colour,
        strokeWidth: 1.8,
      },
    ),
  ];
}
