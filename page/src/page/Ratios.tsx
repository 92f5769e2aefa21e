/** Our values over the published ones: how close a reproduction is, at a glance. */
import * as Plot from "@observablehq/plot";
import { useMemo } from "preact/hooks";
import { type Axis, logTicks } from "../charts/axes";
import { Frame } from "../charts/Frame";
import { intervalMarks } from "../charts/intervals";
import { useWidth } from "../charts/Lazy";
import { PlotBox } from "../charts/PlotBox";
import { type Look, legendOf, looks } from "../charts/series";
import { axisValue, otherAxes } from "../data/cases";
import type { PageHead } from "../data/contract";
import { formatted, named, number, ratio } from "../data/format";
import { isOf, measuredAt } from "../data/results";
import { publishedSource, usePage, whichRuns } from "./context";

interface Ratio {
  scheme: string;
  run: number;
  metric: string;
  /** The label of the row: metric, pattern, part. */
  row: string;
  own: number;
  ci95: number | null;
  published: number;
  ratio: number;
}

/** Every published value for which we have one, for cases, parts and windows of time. */
export function ratiosOf(head: PageHead, runs: number[]): Ratio[] {
  const axes = otherAxes(head.runs);
  return runs.flatMap((place) => {
    const run = head.runs[place];
    if (!run?.report.judged) return [];
    return run.published.flatMap((entry) =>
      run.cases.flatMap((one) => {
        const result = one.result === null ? undefined : run.report.cases[one.result];
        const ours = result && isOf(entry, one) ? measuredAt(result, entry) : undefined;
        if (!ours) return [];
        const where = [
          ...axes.map((axis) => axisValue(one, axis)),
          ...Object.entries(entry.part).map(partWords),
        ];
        return Object.entries(entry.metrics).flatMap(([metric, published]): Ratio[] => {
          const own = ours.metrics[metric];
          if (own === undefined || own <= 0 || published <= 0) return [];
          return [
            {
              scheme: one.scheme,
              run: place,
              metric,
              row: [named(metric), ...where].join(" · "),
              own,
              ci95: ours.ci95[metric] ?? null,
              published,
              ratio: own / published,
            },
          ];
        });
      }),
    );
  });
}

function partWords([by, name]: [string, string | number]): string {
  return by === "subflow" ? `subflow ${name}` : String(name);
}

export function Ratios() {
  const { head, runs } = usePage();
  const all = useMemo(() => ratiosOf(head, runs), [head]);
  const schemes = [...new Set(all.map((one) => one.scheme))];
  const look = useMemo(() => looks(head, "scheme", schemes), [head]);
  if (all.length === 0) return null;
  const near = all.filter((one) => Math.abs(one.ratio - 1) <= 0.1).length;
  const source = publishedSource(head.runs[0]);
  return (
    <Frame
      id="page-published"
      title={`${near} of ${all.length} published numbers are met within 10 %`}
      legend={legendOf(head, schemes, runs, look, { kind: "point" })}
      caption={
        <>
          Our value over the published one{source ? ` (${source})` : ""}, one point per number; the band is
          ±10 %, whiskers are our 95 % confidence intervals. {whichRuns(head)}.
        </>
      }
      rows={() => ({
        columns: ["of", "scheme", "metric", "ours", "ci95", "published", "ratio"],
        rows: all.map((one) => [
          one.row,
          look(one.scheme, one.run).label,
          one.metric,
          one.own,
          one.ci95,
          one.published,
          one.ratio,
        ]),
      })}
    >
      <Drawing all={all} look={look} />
    </Frame>
  );
}

function Drawing({ all, look }: { all: Ratio[]; look: Look }) {
  const [host, width] = useWidth<HTMLDivElement>();
  const options = useMemo<Plot.PlotOptions>(() => {
    const rows = [...new Set(all.map((one) => one.row))];
    const [low, high] = [
      Math.min(0.8, ...all.map((one) => one.ratio)) / 1.05,
      Math.max(1.25, ...all.map((one) => one.ratio)) * 1.05,
    ];
    const ticks =
      high / low > 8
        ? logTicks(low, high, 8)
        : [0.25, 0.5, 0.7, 0.8, 0.9, 1, 1.1, 1.25, 1.5, 2, 3, 4, 6].filter(
            (tick) => tick >= low && tick <= high,
          );
    const x: Axis = {
      domain: [low, high],
      log: true,
      label: "Ours over the paper’s",
      ticks,
      format: (value) => number(value, 3),
      short: (value) => number(value, 3),
    };
    const narrow = width < 560;
    const names = [...new Set(all.map((one) => look(one.scheme, one.run).label))];
    const series = names.map((name) => all.filter((one) => look(one.scheme, one.run).label === name));
    const labels = Math.min(0.42 * width, Math.max(...rows.map((row) => row.length)) * 6.4 + 12);
    return {
      width,
      height: rows.length * (narrow ? 40 : 30) + 52,
      marginLeft: narrow ? 12 : labels,
      marginRight: 16,
      marginTop: 8,
      marginBottom: 40,
      x: { type: "log", domain: x.domain, label: null },
      y: { type: "band", domain: rows, label: null, padding: 0.25 },
      symbol: { type: "identity" },
      marks: [
        Plot.rectX([0], { x1: 0.9, x2: 1.1, fill: "var(--text)", fillOpacity: 0.06 }),
        Plot.ruleY(rows, { stroke: "var(--grid)" }),
        Plot.ruleX([1], { stroke: "var(--line-strong)" }),
        Plot.axisX(x.ticks, {
          tickSize: 0,
          fill: "var(--muted)",
          text: x.format,
          label: x.label,
          labelAnchor: "center",
          labelArrow: "none",
        }),
        narrow
          ? Plot.text(rows, {
              y: (row) => row,
              x: () => low,
              text: (row) => row,
              textAnchor: "start",
              dy: -13,
              fill: "var(--muted)",
            })
          : Plot.axisY({ tickSize: 0, fill: "var(--text)", label: null }),
        ...series.flatMap((own, place) => seriesMarks(own, apart(place, series.length), x, look)),
        Plot.tip(
          all,
          Plot.pointer({
            y: "row",
            x: "ratio",
            title: (one: Ratio) => telling(one, look),
            fill: "var(--raised)",
            stroke: "var(--line-strong)",
            fontSize: 12,
          }),
        ),
      ],
    };
  }, [all, look, width]);
  return (
    <div ref={host}>
      {width > 0 && <PlotBox options={options} label="Our values over the published ones" />}
    </div>
  );
}

/** How far below the middle of its row a series is, so that no point hides another. */
function apart(place: number, of: number): number {
  const step = Math.min(5, 20 / Math.max(1, of));
  return (place - (of - 1) / 2) * step;
}

function seriesMarks(own: Ratio[], dy: number, axis: Axis, look: Look): Plot.Markish[] {
  const colour = (one: Ratio) => look(one.scheme, one.run).colour;
  return [
    ...intervalMarks(
      own,
      {
        at: (one) => one.row,
        value: (one) => one.ratio,
        half: (one) => (one.ci95 === null ? null : one.ci95 / one.published),
      },
      axis,
      "x",
      { stroke: colour, strokeWidth: 1, strokeOpacity: 0.6, dy },
    ),
    Plot.dot(own, {
      y: "row",
      x: "ratio",
      r: 4.5,
      dy,
      fill: (one: Ratio) => (one.run === 0 ? colour(one) : "var(--surface)"),
      symbol: (one: Ratio) => look(one.scheme, one.run).symbol,
      stroke: (one: Ratio) => (one.run === 0 ? "var(--surface)" : colour(one)),
    }),
  ];
}

function telling(one: Ratio, look: Look): string {
  return [
    `${look(one.scheme, one.run).label}, ${one.row}`,
    `ours ${formatted(one.metric, one.own)}`,
    `paper ${formatted(one.metric, one.published)}`,
    `ratio ${ratio(one.ratio)}`,
  ].join("\n");
}
