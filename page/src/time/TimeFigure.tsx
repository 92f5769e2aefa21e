/** A figure over time as the experiment declares it: small multiples that share their axes. */
import { useMemo, useState } from "preact/hooks";
import { Frame } from "../charts/Frame";
import { Message, useLoaded } from "../charts/Lazy";
import { Key, type LegendItem } from "../charts/legend";
import type { Figure, Network, PageHead } from "../data/contract";
import type { Source } from "../data/load";
import type { TableData } from "../data/table";
import { decimate, Points, type Trace } from "./decimate";
import { EventsOf, marksOf } from "./events";
import { type FigureLine, figurePanels, isTimeMetric } from "./figure";
import { lineStyle, networkOf, portName } from "./model";
import { type PanelSpec, valueRange } from "./plot";
import { Instant, TimeRange } from "./range";
import { rowsOf, staticSvg } from "./rows";
import { Panel, useThemeVersion } from "./Stack";
import { choices, type PortSeries, portSeries, type SubflowSeries, subflowSeries } from "./series";
import { combined, entityTrace, METRICS, PS, portTrace, spanOf, type TimeMetric } from "./traces";
import "./time.css";

export interface TimeFigureProps {
  source: Source;
  head: PageHead;
  run: number;
  figure: Figure;
}

interface Tables {
  subflows: SubflowSeries[];
  ports: PortSeries[];
  samples: TableData | null;
  queues: TableData | null;
  events: EventsOf;
  networks: (Network | null)[];
}

async function tablesOf({ source, head, run }: TimeFigureProps, ports: boolean): Promise<Tables> {
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
    subflows: there && !ports ? subflowSeries(series) : [],
    ports: there && ports ? portSeries(series) : [],
    samples: ports ? null : rows,
    queues: ports ? rows : null,
    events: new EventsOf(events),
    networks,
  };
}

export function TimeFigure(props: TimeFigureProps) {
  const { source, run, figure } = props;
  const metric: TimeMetric = isTimeMetric(figure.y ?? "") ? (figure.y as TimeMetric) : "goodput_bps";
  const ports = METRICS[metric].of === "ports";
  const tables = useLoaded(() => tablesOf(props, ports), [source, run, ports]);
  if (tables.state === "loading") return <p class="loading">Reading the samples …</p>;
  if (tables.state === "failed") return <Message error={tables.error} what={figure.title} />;
  if (tables.value.subflows.length + tables.value.ports.length === 0) {
    return (
      <p class="message">
        <strong>{figure.title}</strong>: the run has no samples of {ports ? "queues" : "subflows"}.
      </p>
    );
  }
  return <Drawn {...props} metric={metric} tables={tables.value} />;
}

interface DrawnLine {
  name: string;
  case: number;
  trace: Trace;
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
  if (!line.ports || !queues || (metric !== "waiting_pkts" && metric !== "utilisation_ratio")) return null;
  const [from, to] = spanOf(queues, line.ports) ?? [0, 1];
  const traces = line.ports.map((port) => portTrace(queues, port, metric, from, to));
  if (traces.length === 1) return traces[0] ?? null;
  // An absent row is zero, so that the mean is the sum over all ports, not over those that have a row just then.
  return { ...combined(traces, "sum", 0), per: traces.length, absent: "zero", from, to };
}

function Drawn({
  head,
  run,
  figure,
  metric,
  tables,
}: TimeFigureProps & { metric: TimeMetric; tables: Tables }) {
  const own = head.runs[run];
  const series = tables.subflows.length > 0 ? tables.subflows : tables.ports;
  const seeds = useMemo(() => choices(series, "seed"), [series]);
  const rounds = useMemo(() => choices(series, "round"), [series]);
  const [seed, setSeed] = useState(seeds[0] ?? 0);
  const [round, setRound] = useState(rounds[0] ?? 0);
  const [highlit, setHighlit] = useState<string | null>(null);
  const theme = useThemeVersion();
  const instant = useMemo(() => new Instant(), []);

  const panels = useMemo(() => {
    if (!own) return [];
    const nameOf = (port: PortSeries) =>
      portName(tables.networks[networkOf(own, port.case)] ?? null, port.port, port.layer);
    const chosen = { seed, round };
    const found = figurePanels({ figure, cases: own.cases, ...tables, nameOf, chosen });
    return found.map((panel) => ({
      title: panel.title,
      lines: panel.lines.flatMap((line): DrawnLine[] => {
        const trace = traceOf(tables, line, metric);
        return trace ? [{ name: line.name, case: line.case, trace }] : [];
      }),
    }));
  }, [own, tables, figure, metric, seed, round]);

  const [range, values] = useMemo(() => extents(panels, metric, figure), [panels, metric, figure]);
  const names = useMemo(
    () => [...new Set(panels.flatMap((panel) => panel.lines.map((line) => line.name)))],
    [panels],
  );
  const columns = Math.min(panels.length, 3);
  const specs = useMemo(
    () =>
      panels.map((panel, i) => {
        const lines = panel.lines.map((line) => ({
          key: line.name,
          name: line.name,
          ...lineStyle(names.indexOf(line.name)),
          trace: line.trace,
        }));
        const caseOf = panel.lines[0]?.case ?? 0;
        const spec: PanelSpec = {
          key: String(i),
          metric,
          lines,
          marks: marksOf(tables.events, { case: caseOf }),
          height: columns === 1 ? 280 : 200,
          xAxis: true,
          yRange: values,
          log: figure.log?.includes("y") ?? false,
        };
        return { spec, title: panel.title };
      }),
    [panels, names, tables, metric, seed, values, figure, columns],
  );
  if (!own) return null;
  if (specs.length === 0) {
    return (
      <p class="message">
        <strong>{figure.title}</strong>: the run has no case or flow of this figure.
      </p>
    );
  }
  const legend: LegendItem[] = names.map((name, i) => ({ label: name, ...lineStyle(i) }));
  const caption = [
    figure.caption ?? "",
    `${METRICS[metric].title}: ${METRICS[metric].meaning}.`,
    figure.series === "layer" ? "Of a layer: the mean of its ports." : "",
    `${own.report.experiment}, ${own.report.profile} profile, seed ${seed}${rounds.length > 1 ? `, round ${round}` : ""}.`,
    tables.samples ? (own.tables.samples?.thinned ?? "") : (own.tables.queues?.thinned ?? ""),
  ]
    .filter((part) => part !== "")
    .join(" ");
  const id = head.runs.length > 1 ? `${figure.id}-${run}` : figure.id;
  return (
    <Frame
      id={id}
      title={figure.title}
      caption={caption}
      controls={
        (seeds.length > 1 || rounds.length > 1) && (
          <>
            {seeds.length > 1 && <Choice label="Seed" all={seeds} value={seed} onChange={setSeed} />}
            {rounds.length > 1 && <Choice label="Round" all={rounds} value={round} onChange={setRound} />}
          </>
        )
      }
      rows={() =>
        rowsOf(
          specs.map(({ spec, title }) => ({
            lines: spec.lines.map((line) => ({
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
            legend: legend.map(({ label, colour, dash }) => ({ name: label, colour, dash: dash ?? "" })),
            columns: Math.min(columns, 2),
          },
          range,
        )
      }
    >
      <ul class="legend" aria-label="Legend" onPointerLeave={() => setHighlit(null)}>
        {legend.map((item) => (
          <li key={item.label} onPointerEnter={() => setHighlit(item.label)}>
            <Key item={item} />
            <span>{item.label}</span>
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

/** The axes that all panels share: as the figure says, or so that all of every line is seen. */
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
