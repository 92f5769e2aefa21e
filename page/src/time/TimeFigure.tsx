/** A figure over time as the experiment declares it: small multiples that share their axes. */
import { useMemo, useState } from "preact/hooks";
import { Frame } from "../charts/Frame";
import { Message, useLoaded } from "../charts/Lazy";
import { Key } from "../charts/legend";
import type { Figure, Network, PageHead } from "../data/contract";
import type { Source } from "../data/load";
import type { TableData } from "../data/table";
import { Select, Toggle } from "../page/controls";
import { decimate, Points, type Trace } from "./decimate";
import { EventsOf, marksOf } from "./events";
import { type FigureInput, type FigureLine, figurePanels, isShared, isTimeMetric } from "./figure";
import { lineStyle, networkOf, portName } from "./model";
import { type Mark, type PanelSpec, valueRange } from "./plot";
import { Instant, TimeRange } from "./range";
import { rowsOf, staticSvg } from "./rows";
import { lacks, nameOfRun, runName, styleOfRun, stylesByScheme } from "./runs";
import { Panel, useThemeVersion } from "./Stack";
import { choices, type PortSeries, portSeries, type SubflowSeries, subflowSeries } from "./series";
import { smoothWords, WINDOWS, withSmooth } from "./smooth";
import {
  combined,
  entityTrace,
  isPortMetric,
  METRICS,
  PS,
  portTrace,
  spanOf,
  type TimeMetric,
} from "./traces";
import "./time.css";

export interface TimeFigureProps {
  source: Source;
  head: PageHead;
  /** Runs of one experiment: their lines are in the same panels. */
  runs: number[];
  figure: Figure;
  /** Unique in the page. */
  id: string;
}

/** The tables of a run. */
interface Tables {
  run: number;
  subflows: SubflowSeries[];
  ports: PortSeries[];
  samples: TableData | null;
  queues: TableData | null;
  events: EventsOf;
  networks: (Network | null)[];
}

async function tablesOf({ source, head }: TimeFigureProps, run: number, ports: boolean): Promise<Tables> {
  const table = (name: string, wanted: boolean) => (wanted ? source.table(run, name) : Promise.resolve(null));
  const [series, rows, events] = await Promise.all([
    table(ports ? "ports" : "subflows", true),
    table(ports ? "queues" : "samples", true),
    table("events", true),
  ]);
  const count = ports ? (head.runs[run]?.networks.length ?? 0) : 0;
  const networks = await Promise.all(
    Array.from({ length: count }, (_, i) => source.network(run, i).catch(() => null)),
  );
  const there = series && rows;
  return {
    run,
    subflows: there && !ports ? subflowSeries(series) : [],
    ports: there && ports ? portSeries(series) : [],
    samples: ports ? null : rows,
    queues: ports ? rows : null,
    events: new EventsOf(events),
    networks,
  };
}

export function TimeFigure(props: TimeFigureProps) {
  const { source, head, runs, figure } = props;
  const metric: TimeMetric = isTimeMetric(figure.y ?? "") ? (figure.y as TimeMetric) : "goodput_bps";
  const ports = METRICS[metric].of === "ports";
  const tables = useLoaded(
    () => Promise.all(runs.map((run) => tablesOf(props, run, ports))),
    [source, runs.join(), ports],
  );
  if (tables.state === "loading") return <p class="loading">Reading the samples …</p>;
  if (tables.state === "failed") return <Message error={tables.error} what={figure.title} />;
  const what = ports ? "queues" : "subflows";
  const isEmpty = (one: Tables) => one.subflows.length + one.ports.length === 0;
  const sampled = tables.value.filter((one) => !isEmpty(one));
  if (sampled.length === 0) {
    return (
      <p class="message">
        <strong>{figure.title}</strong>: the {runs.length > 1 ? "runs have" : "run has"} no samples of {what}.
      </p>
    );
  }
  const without = tables.value.filter(isEmpty).map(({ run }) => lacks(head, run, [what]));
  return <Drawn {...props} metric={metric} sampled={sampled} without={without} />;
}

interface DrawnLine extends FigureLine {
  trace: Trace;
}

/** Not even one value: a port that has no share has no line. */
function hasValues({ y }: Trace): boolean {
  for (let i = 0; i < y.length; i++) if (!Number.isNaN(y[i])) return true;
  return false;
}

function traceOf(tables: Tables, line: FigureLine, metric: TimeMetric): Trace | null {
  if (
    line.entity &&
    tables.samples &&
    (metric === "goodput_bps" || metric === "cwnd_pkts" || metric === "srtt_s")
  ) {
    return entityTrace(tables.samples, line.entity, metric);
  }
  const { queues } = tables;
  if (!line.ports || !queues || !isPortMetric(metric)) return null;
  const [from, to] = spanOf(queues, line.ports) ?? [0, 1];
  const traces = line.ports.map((port) => portTrace(queues, port, metric, from, to));
  if (metric === "share_ratio") {
    const there = traces.filter(hasValues);
    return there.length > 1 ? combined(there, "mean") : (there[0] ?? null);
  }
  if (traces.length === 1) return traces[0] ?? null;
  // An absent row is zero, so the mean is over all ports, not only over those that have a row at that time.
  return { ...combined(traces, "sum", 0), per: traces.length, absent: "zero", from, to };
}

function Drawn({
  head,
  runs,
  figure,
  id,
  metric,
  sampled,
  without,
}: TimeFigureProps & { metric: TimeMetric; sampled: Tables[]; without: string[] }) {
  const series = useMemo(() => sampled.flatMap((one) => [...one.subflows, ...one.ports]), [sampled]);
  const seeds = useMemo(() => choices(series, "seed"), [series]);
  const rounds = useMemo(() => choices(series, "round"), [series]);
  // Runs with one seed each have no choice, even if their seeds differ.
  const severalOf = (part: "seed" | "round") =>
    sampled.some((one) => choices([...one.subflows, ...one.ports], part).length > 1);
  const [seed, setSeed] = useState(seeds[0] ?? 0);
  const [round, setRound] = useState(rounds[0] ?? 0);
  /** Whether each case has its own panel; null: as the number of lines suggests. */
  const [apart, setApart] = useState<boolean | null>(null);
  const [smoothing, setSmoothing] = useState("0");
  const [highlit, setHighlit] = useState<string | null>(null);
  const theme = useThemeVersion();
  const instant = useMemo(() => new Instant(), []);

  const input = useMemo<FigureInput>(
    () => ({ figure, runs: figureRuns(head, sampled), chosen: { seed, round } }),
    [head, sampled, figure, seed, round],
  );
  const canShare = useMemo(
    () => figure.panels === undefined && isShared(figurePanels({ ...input, apart: false })),
    [figure, input],
  );
  const found = useMemo(() => figurePanels({ ...input, apart }), [input, apart]);
  const panels = useMemo(() => {
    return found.map((panel) => ({
      title: panel.title,
      lines: panel.lines.flatMap((line): DrawnLine[] => {
        const tables = sampled.find((one) => one.run === line.run);
        const trace = tables ? traceOf(tables, line, metric) : null;
        return trace ? [{ ...line, trace }] : [];
      }),
    }));
  }, [found, sampled, metric]);

  const [range, values] = useMemo(() => extents(panels, metric, figure), [panels, metric, figure]);
  const window = Number(smoothing) * (range.whole[1] - range.whole[0]);
  const several = runs.length > 1;
  const legend = useMemo(() => legendOf(head, several, panels), [head, several, panels]);
  const columns = Math.min(panels.length, 3);
  const specs = useMemo(
    () =>
      panels.map((panel, i) => {
        const lines = panel.lines.map((line) => ({
          ...(legend.find((one) => one.run === line.run && one.key === line.name) as LegendLine),
          trace: line.trace,
        }));
        const spec: PanelSpec = {
          key: String(i),
          metric,
          lines: withSmooth(lines, window),
          marks: marksIn(sampled, panel.lines),
          height: columns === 1 ? 280 : 200,
          xAxis: true,
          yRange: values,
          log: figure.log?.includes("y") ?? false,
        };
        return { spec, title: panel.title || METRICS[metric].title };
      }),
    [panels, legend, sampled, metric, values, figure, columns, window],
  );
  if (specs.length === 0) {
    return (
      <p class="message">
        <strong>{figure.title}</strong>: the {several ? "runs have" : "run has"} no case or flow of this
        figure.
      </p>
    );
  }
  const caption = [
    figure.caption ?? "",
    `${METRICS[metric].title}: ${METRICS[metric].meaning}.`,
    smoothWords(window),
    figure.series === "layer" ? "For a layer: the mean of its ports." : "",
    `${sampled.map(({ run }) => drawnOf(head, run, panels, { several, round: rounds.length > 1 })).join("; ")}.`,
    ...without,
    ...(several ? sampled.map(({ run }) => lacks(head, run, absentIn(run, panels))) : []),
    ...new Set(sampled.map(({ run, samples }) => thinned(head, run, samples ? "samples" : "queues"))),
  ]
    .filter((part) => part !== "")
    .join(" ");
  return (
    <Frame
      id={id}
      title={figure.title}
      caption={caption}
      controls={
        <>
          {canShare && <Toggle label="A panel for each case" on={!isShared(found)} set={setApart} />}
          {severalOf("seed") && <Choice label="Seed" all={seeds} value={seed} onChange={setSeed} />}
          {severalOf("round") && <Choice label="Round" all={rounds} value={round} onChange={setRound} />}
          <Select label="Smooth" value={smoothing} choices={WINDOWS} choose={setSmoothing} />
        </>
      }
      rows={() =>
        rowsOf(
          specs.map(({ spec, title }) => ({
            lines: spec.lines
              .filter((line) => line.role !== "smooth")
              .map((line) => ({
                name: specs.length > 1 ? `${title} · ${line.name}` : line.name,
                traces: [line.trace],
              })),
            metrics: [metric],
          })),
          range,
        )
      }
      svg={async () =>
        staticSvg(
          {
            title: figure.title,
            caption,
            panels: specs,
            legend,
            columns: Math.min(columns, 2),
          },
          range,
        )
      }
    >
      <ul class="legend" aria-label="Legend" onPointerLeave={() => setHighlit(null)}>
        {legend.map((item) => (
          <li key={item.name} onPointerEnter={() => setHighlit(item.key)}>
            <Key item={{ label: item.name, colour: item.colour, dash: item.dash }} />
            <span>{item.name}</span>
          </li>
        ))}
      </ul>
      <div class="panels time-panels" style={{ "--columns": columns }}>
        {specs.map(({ spec, title }) => (
          <Panel
            key={spec.key}
            spec={spec}
            title={specs.length > 1 ? title : METRICS[metric].title}
            range={range}
            instant={instant}
            highlit={highlit}
            theme={theme}
            readout
          />
        ))}
      </div>
    </Frame>
  );
}

/** The runs as a figure reads them. */
function figureRuns(head: PageHead, sampled: readonly Tables[]): FigureInput["runs"] {
  return sampled.flatMap((tables) => {
    const own = head.runs[tables.run];
    if (!own) return [];
    const nameOf = (port: PortSeries) =>
      portName(tables.networks[networkOf(own, port.case)] ?? null, port.port, port.layer);
    return [{ ...tables, cases: own.cases, nameOf }];
  });
}

interface LegendLine {
  run: number;
  /** The same in all runs: they are highlighted together. */
  key: string;
  name: string;
  colour: string;
  dash: string;
  quiet: boolean;
}

type DrawnPanel = { title: string; lines: readonly DrawnLine[] };

/** Every line once, each followed by the same line of the other runs. */
function legendOf(head: PageHead, several: boolean, panels: readonly DrawnPanel[]): LegendLine[] {
  const lines = panels.flatMap((panel) => panel.lines);
  const names = [...new Set(lines.map((line) => line.name))];
  const byScheme = stylesByScheme(head, lines);
  return names.flatMap((key, place) => {
    const runs = [...new Set(lines.filter((line) => line.name === key).map((line) => line.run))];
    return runs
      .sort((a, b) => a - b)
      .map((run) => ({
        run,
        key,
        name: several ? nameOfRun(head, run, key) : key,
        ...(byScheme?.(key, run) ?? (several ? styleOfRun(head, run, place) : lineStyle(place))),
      }));
  });
}

/** The lines that other runs have but this one lacks, each with its panel if there are several. */
function absentIn(run: number, panels: readonly DrawnPanel[]): string[] {
  return panels.flatMap(({ title, lines }) => {
    const own = new Set(lines.filter((line) => line.run === run).map((line) => line.name));
    const absent = [...new Set(lines.map((line) => line.name))].filter((name) => !own.has(name));
    return absent.map((name) => (panels.length > 1 ? `${name} (${title})` : name));
  });
}

/** The run, and which of its seeds and rounds are drawn: it may lack the chosen ones. */
function drawnOf(
  head: PageHead,
  run: number,
  panels: readonly DrawnPanel[],
  say: { several: boolean; round: boolean },
): string {
  const report = head.runs[run]?.report;
  const scopes = panels.flatMap(({ lines }) =>
    lines.filter((line) => line.run === run).map((one) => one.scope),
  );
  const part = (name: "seed" | "round") => `${name} ${choices(scopes, name).join(", ")}`;
  const which = `${report?.experiment}, ${report?.profile} profile, ${part("seed")}`;
  const round = say.round ? `, ${part("round")}` : "";
  return `${say.several ? `${runName(head, run)}: ` : ""}${which}${round}`;
}

function thinned(head: PageHead, run: number, table: string): string {
  return head.runs[run]?.tables[table]?.thinned ?? "";
}

/** The changes in the cases of a panel: those of one run, and additional ones of others. */
function marksIn(sampled: readonly Tables[], lines: readonly DrawnLine[]): Mark[] {
  const marks = new Map<string, Mark>();
  for (const { run, events } of sampled) {
    const first = lines.find((line) => line.run === run);
    for (const mark of first ? marksOf(events, first.scope) : []) marks.set(`${mark.at} ${mark.label}`, mark);
  }
  return [...marks.values()].sort((a, b) => a.at - b.at);
}

function Choice(props: { label: string; all: number[]; value: number; onChange: (value: number) => void }) {
  return (
    <label>
      {props.label}
      <select
        value={String(props.value)}
        onChange={(event) => props.onChange(Number(event.currentTarget.value))}
      >
        {props.all.map((value) => (
          <option key={value} value={String(value)}>
            {value}
          </option>
        ))}
      </select>
    </label>
  );
}

/** The axes that all panels share: as declared in the figure, or so that every line is completely visible. */
function extents(
  panels: readonly { lines: DrawnLine[] }[],
  metric: TimeMetric,
  figure: Figure,
): [TimeRange, [number, number]] {
  const traces = panels.flatMap((panel) => panel.lines.map((line) => line.trace));
  let [from, to] = [Infinity, -Infinity];
  for (const { start, duration } of traces) {
    const last = start.length - 1;
    if (last < 0) continue;
    from = Math.min(from, (start[0] as number) * PS);
    to = Math.max(to, ((start[last] as number) + (duration[last] as number)) * PS);
  }
  if (figure.x_range) [from, to] = figure.x_range;
  if (!(from < to)) [from, to] = [0, 1];
  if (figure.y_range) return [new TimeRange([from, to]), figure.y_range];
  const points = new Points();
  let [least, most] = [Infinity, -Infinity];
  for (const trace of traces) {
    decimate(trace, from / PS, to / PS, 1000, points);
    least = Math.min(least, points.least);
    most = Math.max(most, points.most);
  }
  return [new TimeRange([from, to]), valueRange(metric, least, most)];
}
