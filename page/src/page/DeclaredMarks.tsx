/** Declared bars, lines and matrices: a metric for each value of a dimension. */
import { Bars, isOurs, type Mark, markRows } from "../charts/Bars";
import { Frame } from "../charts/Frame";
import { Heat, type HeatCell } from "../charts/Heat";
import { arrowWords } from "../charts/intervals";
import { Lines } from "../charts/Lines";
import { type Look, legendOf, looks } from "../charts/series";
import { axisNames, placeNames, wantedParts } from "../data/cases";
import { markFigure, meaningOf, windowTimes } from "../data/figures";
import { capitalised, named } from "../data/format";
import { partAsked } from "../data/results";
import { intervals, usePage } from "./context";
import { Caption, figureId, fromPaper, Nothing, names, type OneProps, panelsOf } from "./DeclaredFigure";

export function DeclaredMarks({ figure, runs, height }: OneProps) {
  const { head } = usePage();
  const [metric, x, series] = [figure.y ?? "", figure.x ?? "scheme", figure.series ?? "scheme"];
  const dims = panelsOf(head, runs, figure);
  const asked = partAsked([x, series, ...dims], figure.where);
  const drawn = markFigure(head, runs, figure, dims);
  const { marks, numbers } = drawn;
  const look: Look = looks(head, series, drawn.series);
  const lines = figure.chart === "lines" && numbers !== null;
  const matrix = figure.chart === "matrix";
  const published = !matrix && marks.some((mark) => mark.published !== null);
  const optimum = !matrix && marks.some((mark) => mark.optimum !== null);
  // Bars that are their own series are named below.
  const alone = !lines && marks.every((mark) => mark.x === mark.series);
  const windows = asked.includes("window")
    ? (wantedParts(figure.where, "window") ?? (x === "window" ? drawn.xs : []))
    : [];
  const shared = { ...drawn, metric, look, xAxis: (lines ? axisNames : placeNames)(x, drawn.xs), height };
  const log = { log: figure.log?.includes("y") === true, range: figure.y_range };
  return (
    <Frame
      id={figureId(head, runs[0], figure)}
      title={figure.title}
      legend={legendOf(head, alone || matrix ? [] : drawn.series, runs, look, {
        kind: lines ? "line" : "area",
        published,
        optimum,
      })}
      caption={
        <Caption
          figure={figure}
          runs={runs}
          more={[
            `${capitalised(named(metric))}: ${meaningOf(head, metric, asked)}.`,
            windowTimes(head, runs[0] ?? 0, windows),
            matrix ? "The darker a cell, the larger the multiple of its column’s smallest value." : "",
            !matrix && marks.some((mark) => mark.ci95 !== null) ? `Error bars: ${intervals(head)}.` : "",
            matrix ? "" : arrowWords(marks, log.log),
            published ? fromPaper(head, runs) : "",
            optimum && !lines ? "Dashes across bars: the optimum that the controller claims to reach." : "",
          ]}
        />
      }
      rows={() => markRows(marks, metric, { panel: names(dims), x }, look)}
    >
      {marks.length === 0 ? (
        <Nothing of={metric} />
      ) : matrix ? (
        <Heat
          {...{ metric, xs: drawn.xs, ratios: true }}
          {...cellsOf(marks, (mark) => look(mark.series, mark.run).label)}
          axes={[placeNames(x, drawn.xs), placeNames(series, drawn.series)]}
        />
      ) : lines ? (
        <Lines
          {...shared}
          {...log}
          numbers={numbers}
          logX={figure.log?.includes("x") === true}
          xRange={figure.x_range}
        />
      ) : (
        <Bars {...shared} {...log} />
      )}
    </Frame>
  );
}

/** The cells of a matrix: a row for each series, with several runs for each series of each run. */
function cellsOf(marks: Mark[], row: (mark: Mark) => string): { cells: HeatCell[]; ys: string[] } {
  const cells = marks.filter(isOurs).map((mark) => ({ ...mark, y: row(mark) }));
  return { cells, ys: [...new Set(cells.map((cell) => cell.y))] };
}
