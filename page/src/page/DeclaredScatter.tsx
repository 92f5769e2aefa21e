/** A declared figure of one metric against another. */
import { Frame } from "../charts/Frame";
import type { Cell } from "../charts/rows";
import { Scatter, type ScatterPoint } from "../charts/Scatter";
import { legendOf, looks } from "../charts/series";
import type { Figure } from "../data/contract";
import { type Measured, measured, metricOf, partAsked, partName, valueAt } from "../data/results";
import { BETWEEN } from "../data/select";
import { usePage } from "./context";
import { Caption, figureId, Nothing, panelsOf } from "./DeclaredFigure";

export function DeclaredScatter({
  figure,
  runs,
  height,
}: {
  figure: Figure;
  runs: number[];
  height: number;
}) {
  const { head } = usePage();
  const [x, y, series] = [figure.x ?? "", figure.y ?? "", figure.series ?? "scheme"];
  const dims = panelsOf(head, runs, figure);
  const all = measured(head, runs, partAsked([...dims, series], figure.where), figure.where);
  const value = (of: Measured, name: string) => valueAt(of, name, [...dims, series]);
  const point = (of: Measured, own: { x: number; y: number }, ci: boolean): ScatterPoint => ({
    panel: dims.map((name) => value(of, name)).join(BETWEEN),
    series: value(of, series),
    run: of.run,
    label: [of.one.label, partName(of)].filter(Boolean).join(", "),
    ...own,
    ci95x: ci ? (of.ci95[x] ?? null) : null,
    ci95y: ci ? (of.ci95[y] ?? null) : null,
  });
  const points = all.flatMap((of) => {
    const [px, py] = [metricOf(of, x), metricOf(of, y)];
    return px === null || py === null ? [] : [point(of, { x: px, y: py }, true)];
  });
  const published = all.flatMap((of) => {
    const [px, py] = [of.published[x], of.published[y]];
    return px === undefined || py === undefined ? [] : [point(of, { x: px, y: py }, false)];
  });
  const panels = [...new Set(points.map((own) => own.panel))];
  for (const own of figure.published ?? []) {
    published.push({
      panel: own.panel ?? panels[0] ?? "",
      series: own.series,
      run: runs[0] ?? 0,
      label: `paper: ${own.series}`,
      x: Number(own.x),
      y: own.y,
      ci95x: null,
      ci95y: null,
    });
  }
  const names = [...new Set(points.map((own) => own.series))];
  const look = looks(head, series, names);
  const rows = () => ({
    columns: ["of", "series", x, y, "from"],
    rows: [
      ...points.map((own): Cell[] => [own.label, look(own.series, own.run).label, own.x, own.y, "run"]),
      ...published.map((own): Cell[] => [own.label, own.series, own.x, own.y, "paper"]),
    ],
  });
  return (
    <Frame
      id={figureId(head, runs[0], figure)}
      title={figure.title}
      legend={legendOf(head, names, runs, look, { kind: "point", published: published.length > 0 })}
      caption={<Caption figure={figure} runs={runs} more={["One point per case."]} />}
      rows={rows}
    >
      {points.length === 0 ? (
        <Nothing of={y} />
      ) : (
        <Scatter
          {...{ x, y, points, published, panels, look, height }}
          log={figure.log ?? []}
          xRange={figure.x_range}
          yRange={figure.y_range}
        />
      )}
    </Frame>
  );
}
