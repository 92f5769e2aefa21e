/** A figure that the experiment declares, drawn from the runs that declare it. */
import { Boxes, boxRows, upperEnd } from "../charts/Boxes";
import { Cdf, cdfEnd, type PublishedPoint } from "../charts/Cdf";
import { cdfRows } from "../charts/cdfRows";
import { Frame } from "../charts/Frame";
import { Lazy, type Loaded, Message, useLoaded } from "../charts/Lazy";
import { legendOf, looks } from "../charts/series";
import { placeNames, unnamedAxes } from "../data/cases";
import type { Figure, PageHead } from "../data/contract";
import { mixedParts, publishedPercentiles } from "../data/figures";
import { capitalised, formatted, named } from "../data/format";
import { QUANTITIES } from "../data/quantities";
import { BETWEEN, distributions, type Panel } from "../data/select";
import { percentile } from "../data/stats";
import { sameExperiment } from "../time/runs";
import { TimeFigure } from "../time/TimeFigure";
import { ofHowMany, publishedSource, usePage, whichRuns } from "./context";
import { DeclaredMarks } from "./DeclaredMarks";
import { DeclaredScatter } from "./DeclaredScatter";

export interface DeclaredProps {
  figure: Figure;
  /** The runs that declare it. */
  runs: number[];
  /** For a figure that was requested by its name. */
  large?: boolean;
}

export function DeclaredFigure({ figure, runs, large }: DeclaredProps) {
  const { source, head } = usePage();
  const height = large ? 460 : 340;
  return (
    <Lazy what={figure.title} height={height + 120}>
      {() => {
        if (figure.chart === "time") {
          return sameExperiment(head, runs).map((own) => (
            <TimeFigure
              key={own.join()}
              id={figureId(head, own[0], figure)}
              {...{ source, runs: own, head, figure }}
            />
          ));
        }
        if (figure.chart === "cdf") return <DeclaredCdf {...{ figure, runs, height }} />;
        if (figure.chart === "boxes") return <DeclaredBoxes {...{ figure, runs, height }} />;
        if (figure.chart === "scatter") return <DeclaredScatter {...{ figure, runs, height }} />;
        return <DeclaredMarks {...{ figure, runs, height }} />;
      }}
    </Lazy>
  );
}

export interface OneProps {
  figure: Figure;
  runs: number[];
  height: number;
}

/** The dimensions of a figure's panels: its own, and those that would otherwise be mixed. */
export function panelsOf(head: PageHead, runs: number[], figure: Figure): string[] {
  const own = [figure.panels].filter((name) => name !== undefined);
  const x = figure.chart === "cdf" || figure.chart === "scatter" ? undefined : figure.x;
  const dimensions = [...own, x, figure.series ?? "scheme"].filter((name) => name !== undefined);
  const all = runs.flatMap((run) => head.runs[run] ?? []);
  // Distributions may cover several parts together; a metric covers one.
  const parts = x === undefined && figure.chart === "cdf" ? [] : mixedParts(figure.where, dimensions);
  return [...own, ...parts, ...unnamedAxes(all, dimensions, figure.where)];
}

/** The id of a figure in the page; unique even with several experiments. */
export function figureId(head: PageHead, run: number | undefined, figure: Figure): string {
  const experiments = new Set(head.runs.map((one) => one.report.experiment));
  const prefix =
    experiments.size > 1 ? `${head.runs[run ?? 0]?.report.experiment.replaceAll("/", "-")}-` : "";
  return prefix + figure.id;
}

export function names(panels: string[]): string {
  return panels.join(BETWEEN) || "panel";
}

function seriesIn(panels: Panel[]): string[] {
  return [...new Set(panels.flatMap(({ curves }) => curves.map((curve) => curve.series)))];
}

/** Whiskers that extend beyond the drawing. */
function beyond(panels: Panel[], quantity: string, { log, y_range }: Figure): string {
  const most = mostIn(panels);
  if (y_range || panels.length === 0 || most <= upperEnd(panels, log?.includes("y") === true)) return "";
  return `Whiskers that reach the upper edge continue beyond it, to at most ${formatted(quantity, most, 3)}.`;
}

/** The end of a distribution that is beyond the drawing. */
function tail(panels: Panel[], quantity: string, { log, x_range }: Figure): string {
  const most = mostIn(panels);
  if (x_range || log?.includes("x") || panels.length === 0 || most <= cdfEnd(panels)) return "";
  return `The largest values, fewer than one in a thousand, reach ${formatted(quantity, most, 3)}.`;
}

function mostIn(panels: Panel[]): number {
  return Math.max(...panels.flatMap(({ curves }) => curves.map((curve) => percentile(curve.of, 100))));
}

/** The replacement for a drawing while data is read, or if it could not be read. */
export function Pending({ of }: { of: Exclude<Loaded<unknown>, { state: "ready" }> }) {
  return of.state === "failed" ? <Message error={of.error} /> : <p class="loading">Reading …</p>;
}

function DeclaredCdf({ figure, runs, height }: OneProps) {
  const { source, head } = usePage();
  const quantity = figure.x ?? "goodput_bps";
  const series = figure.series ?? "scheme";
  const dims = panelsOf(head, runs, figure);
  const { where } = figure;
  const loaded = useLoaded(
    () => distributions(source, head, runs, { quantity, series, panels: dims, where }),
    [source, head, runs, figure],
  );
  const id = figureId(head, runs[0], figure);
  const panels = loaded.state === "ready" ? loaded.value : [];
  const curves = seriesIn(panels);
  const look = looks(head, series, curves);
  const published: PublishedPoint[] = publishedPercentiles(head, runs, {
    quantity,
    series,
    panels: dims,
    where,
  });
  for (const point of figure.published ?? []) {
    const share = point.y;
    published.push({
      series: point.series,
      panel: point.panel ?? panels[0]?.name ?? "",
      x: Number(point.x),
      share,
    });
  }
  const what = QUANTITIES[quantity];
  const total = panels.reduce(
    (sum, panel) => sum + panel.curves.reduce((own, curve) => own + curve.of.count, 0),
    0,
  );
  return (
    <Frame
      id={id}
      title={figure.title}
      legend={legendOf(head, curves, runs, look, { kind: "line", published: published.length > 0 })}
      caption={
        <Caption
          figure={figure}
          runs={runs}
          more={[
            `Markers at the 10th, 50th and 90th percentile.`,
            published.length > 0 ? fromPaper(head, runs) : "",
            what?.note ? `${capitalised(what.note)}.` : "",
            tail(panels, quantity, figure),
            `${capitalised(ofHowMany(total, what?.of ?? "values"))}.`,
          ]}
        />
      }
      rows={() => cdfRows(panels, quantity, look, names(dims))}
    >
      {loaded.state !== "ready" ? (
        <Pending of={loaded} />
      ) : panels.length === 0 ? (
        <Nothing of={quantity} />
      ) : (
        <Cdf
          {...{ quantity, panels, look, published, height }}
          of={what?.of ?? "values"}
          log={figure.log?.includes("x") === true}
          range={figure.x_range}
          trim
        />
      )}
    </Frame>
  );
}

function DeclaredBoxes({ figure, runs, height }: OneProps) {
  const { source, head } = usePage();
  const [quantity, x, series] = [figure.y ?? "", figure.x ?? "scheme", figure.series ?? "scheme"];
  const dims = panelsOf(head, runs, figure);
  const loaded = useLoaded(
    () => distributions(source, head, runs, { quantity, series, panels: dims, x, where: figure.where }),
    [source, head, runs, figure],
  );
  const panels = loaded.state === "ready" ? loaded.value : [];
  const all = seriesIn(panels);
  const look = looks(head, series, all);
  const xs = [...new Set(panels.flatMap((panel) => panel.curves.map((curve) => curve.x)))];
  return (
    <Frame
      id={figureId(head, runs[0], figure)}
      title={figure.title}
      legend={legendOf(head, all, runs, look, { kind: "area" })}
      caption={
        <Caption
          figure={figure}
          runs={runs}
          more={[
            /percentile/.test(figure.caption ?? "")
              ? ""
              : "Boxes reach from the 10th to the 90th percentile, with the median as a bar; whiskers from the least to the greatest value.",
            beyond(panels, quantity, figure),
          ]}
        />
      }
      rows={() => boxRows(panels, quantity, { panel: names(dims), x }, look)}
    >
      {loaded.state !== "ready" ? (
        <Pending of={loaded} />
      ) : panels.length === 0 ? (
        <Nothing of={quantity} />
      ) : (
        <Boxes
          {...{ quantity, panels, xs, look, height }}
          series={all}
          xAxis={placeNames(x, xs)}
          log={figure.log?.includes("y") === true}
          range={figure.y_range}
        />
      )}
    </Frame>
  );
}

export function Nothing({ of }: { of: string }) {
  return <p class="message">These runs have no {named(of)} here.</p>;
}

export function fromPaper(head: PageHead, runs: number[]): string {
  const source = publishedSource(head.runs[runs[0] ?? 0]);
  return `Hollow diamonds: the values that the paper printed${source ? ` (${source})` : ""}.`;
}

export function Caption({ figure, runs, more }: { figure: Figure; runs: number[]; more: string[] }) {
  const { head } = usePage();
  return (
    <>
      {figure.caption && `${figure.caption} `}
      {more.filter((sentence) => sentence !== "").join(" ")} {whichRuns(head, runs)}.
    </>
  );
}
