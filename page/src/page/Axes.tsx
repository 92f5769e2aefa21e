/** The dependence of metrics on the axes of an experiment. */
import { useMemo, useState } from "preact/hooks";
import { Bars, markRows } from "../charts/Bars";
import { Frame } from "../charts/Frame";
import { Heat } from "../charts/Heat";
import { arrowWords } from "../charts/intervals";
import { Lines } from "../charts/Lines";
import { legendOf, looks } from "../charts/series";
import {
  axesOf,
  axisNames,
  axisValue,
  dimensionName,
  isOwnAxis,
  magnitudes,
  placeNames,
  unnamedAxes,
  valuesOf,
} from "../data/cases";
import type { PageHead, RunHead } from "../data/contract";
import { resultMarks } from "../data/figures";
import { capitalised, named } from "../data/format";
import { measured } from "../data/results";
import { BETWEEN } from "../data/select";
import { allColumns, columnTitle, defaultColumns } from "./columns";
import { intervals, usePage, whichRuns } from "./context";
import { Select, Toggle } from "./controls";
import { fromPaper } from "./DeclaredFigure";

/** The axes that a metric can be drawn against: those with values other than the scheme's own. */
export function drawableAxes(head: PageHead): string[] {
  return axesOf(head.runs).filter(
    (axis) => axis !== "scheme" && (axis !== "subflows" || hasSweep(head.runs)),
  );
}

/** Whether a scheme has several numbers of subflows. */
function hasSweep(runs: RunHead[]): boolean {
  const numbers = new Map<unknown, Set<unknown>>();
  for (const one of runs.flatMap((run) => run.cases)) {
    const own = numbers.get(one.case.scheme) ?? new Set();
    numbers.set(one.case.scheme, own.add(one.case.subflows));
  }
  return [...numbers.values()].some((own) => own.size > 1);
}

export function Axes() {
  const { head } = usePage();
  const axes = drawableAxes(head);
  return (
    <>
      <AxisFigure axes={axes} />
      {axes.length > 1 && <HeatFigure axes={axes} />}
    </>
  );
}

function useMetric(head: PageHead, runs: number[]) {
  const rows = useMemo(() => measured(head, runs, []), [head]);
  const [first = "goodput_mean_bps"] = defaultColumns(head, rows);
  const [metric, setMetric] = useState(first);
  const choices = allColumns(head, rows).map((value) => ({ value, label: columnTitle(value) }));
  return { metric, select: <Select label="Metric" value={metric} choices={choices} choose={setMetric} /> };
}

/** What a chart is drawn against at first: the experiment's own axes, then the numbers of subflows. */
export function byInterest(axes: string[]): string[] {
  const rank = (axis: string) => (isOwnAxis(axis) ? 0 : axis === "subflows" ? 1 : 2);
  return [...axes].sort((a, b) => rank(a) - rank(b));
}

function AxisFigure({ axes }: { axes: string[] }) {
  const { head, runs } = usePage();
  const { metric, select } = useMetric(head, runs);
  const [axis, setAxis] = useState(byInterest(axes)[0] ?? "");
  const [log, setLog] = useState(false);
  const [logX, setLogX] = useState(false);
  const series = "scheme";
  const xs = valuesOf(head.runs, axis);
  const numbers = magnitudes(xs);
  const dims = useMemo(() => unnamedAxes(head.runs, [axis, series], undefined), [head, axis]);
  const marks = useMemo(
    () => resultMarks(head, runs, { metric, x: axis, series, panels: dims }),
    [head, metric, axis, dims],
  );
  const names = [...new Set(marks.map((mark) => mark.series))];
  const look = useMemo(() => looks(head, series, names), [head, names.join()]);
  const panels = [...new Set(marks.map((mark) => mark.panel))];
  const published = marks.some((mark) => mark.published !== null);
  const optimum = marks.some((mark) => mark.optimum !== null);
  const shared = {
    metric,
    marks,
    panels,
    xs,
    series: names,
    look,
    xAxis: (numbers ? axisNames : placeNames)(axis, xs),
    log,
  };
  return (
    <Frame
      id="page-axes"
      title={`${capitalised(named(metric))} against ${dimensionName(axis)}`}
      legend={legendOf(head, names, runs, look, { kind: numbers ? "line" : "area", published, optimum })}
      controls={
        <>
          {select}
          <Select
            label="Against"
            value={axis}
            choices={axes.map((value) => ({ value, label: dimensionName(value) }))}
            choose={setAxis}
          />
          <Toggle label="Log metric" on={log} set={setLog} />
          {numbers && <Toggle label="Log axis" on={logX} set={setLogX} />}
        </>
      }
      caption={
        <>
          {capitalised(named(metric))}: {head.metrics[metric]?.meaning ?? metric}.{" "}
          {marks.some((mark) => mark.ci95 !== null) && `Whiskers: ${intervals(head)}. `}
          {arrowWords(marks, log)} {published && `${fromPaper(head, runs)} `}
          {whichRuns(head)}.
        </>
      }
      rows={() => markRows(marks, metric, { panel: dims.join(BETWEEN) || "panel", x: axis }, look)}
    >
      {marks.length === 0 ? (
        <p class="message">No case has this metric.</p>
      ) : numbers ? (
        <Lines {...shared} numbers={numbers} logX={logX} />
      ) : (
        <Bars {...shared} />
      )}
    </Frame>
  );
}

function HeatFigure({ axes }: { axes: string[] }) {
  const { head, runs } = usePage();
  const { metric, select } = useMetric(head, runs);
  const [first = "", second = ""] = byInterest(axes);
  const [x, setX] = useState(first);
  const [y, setY] = useState(second);
  const choices = axes.map((value) => ({ value, label: dimensionName(value) }));
  const [run, setRun] = useState("0");
  const place = Number(run);
  const cells = useMemo(() => {
    const rest = unnamedAxes(head.runs, [x, y], undefined);
    return measured(head, [place], []).flatMap((of) => {
      const value = of.metrics[metric];
      if (value === undefined) return [];
      const dims = [x, y, ...rest];
      const at = (name: string) => axisValue(of.one, name, dims);
      return [
        { panel: rest.map(at).join(BETWEEN), x: at(x), y: at(y), value, ci95: of.ci95[metric] ?? null },
      ];
    });
  }, [head, place, metric, x, y]);
  const [xs, ys] = [valuesOf(head.runs, x, [x, y]), valuesOf(head.runs, y, [x, y])];
  return (
    <Frame
      id="page-heat"
      title={`${capitalised(named(metric))} by ${dimensionName(x)} and ${dimensionName(y)}`}
      controls={
        <>
          {select}
          <Select label="Across" value={x} choices={choices} choose={setX} />
          <Select label="Down" value={y} choices={choices} choose={setY} />
          {head.runs.length > 1 && (
            <Select
              label="Run"
              value={run}
              choices={head.runs.map((own, i) => ({ value: String(i), label: own.id }))}
              choose={setRun}
            />
          )}
        </>
      }
      caption={<>The stronger the colour, the larger the value. {whichRuns(head, [place])}.</>}
      rows={() => ({
        columns: ["panel", x, y, metric, `ci95_${metric}`],
        rows: cells.map((cell) => [cell.panel, cell.x, cell.y, cell.value, cell.ci95]),
      })}
    >
      {x === y ? (
        <p class="message">Choose two axes.</p>
      ) : (
        <Heat metric={metric} cells={cells} xs={xs} ys={ys} axes={[placeNames(x, xs), placeNames(y, ys)]} />
      )}
    </Frame>
  );
}
