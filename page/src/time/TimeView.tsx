/** The samples of a run over time: what flows got, their windows and round-trip times, and the queues on their way. */
import { useMemo, useRef, useState } from "preact/hooks";
import { Frame } from "../charts/Frame";
import { Message, useLoaded } from "../charts/Lazy";
import type { PageHead } from "../data/contract";
import type { Source } from "../data/load";
import { EventsOf, marksOf } from "./events";
import { LaneKey, Lanes } from "./Lanes";
import {
  FLOW_METRICS,
  flowLines,
  isSwitchPort,
  networkOf,
  optima,
  overviewLines,
  PORT_METRICS,
  panelLines,
  portLines,
  portName,
} from "./model";
import { Overview } from "./Overview";
import { Picker } from "./Picker";
import type { PanelSpec } from "./plot";
import { Readout } from "./Readout";
import { Instant, TimeRange } from "./range";
import { rowsOf, staticSvg } from "./rows";
import { ScopeSelects, useScope } from "./Scope";
import { Panel, useThemeVersion } from "./Stack";
import {
  defaultLines,
  entities,
  inScope,
  type Level,
  longestQueues,
  portSeries,
  type Scope,
  subflowSeries,
} from "./series";
import { Happened, type Lane } from "./stretch";
import { METRICS, PS, spanOf } from "./traces";
import "./time.css";

/** As many queues as can be told apart in one panel. */
const QUEUES = 4;
/** More lanes than this are a carpet. */
const MOST_LANES = 24;
/** Rows from which a line is a band on most screens. */
const DENSE = 2000;
const HEIGHTS = { goodput_bps: 190, cwnd_pkts: 120, srtt_s: 120, waiting_pkts: 120, utilisation_ratio: 100 };

export interface TimeViewProps {
  source: Source;
  head: PageHead;
  run: number;
}

interface Tables {
  subflows: ReturnType<typeof subflowSeries>;
  ports: ReturnType<typeof portSeries>;
  samples: Awaited<ReturnType<Source["table"]>>;
  queues: Awaited<ReturnType<Source["table"]>>;
  events: EventsOf;
}

async function tablesOf(source: Source, run: number): Promise<Tables> {
  const [subflows, samples, ports, queues, events] = await Promise.all(
    ["subflows", "samples", "ports", "queues", "events"].map((name) => source.table(run, name)),
  );
  return {
    subflows: subflows && samples ? subflowSeries(subflows) : [],
    ports: ports && queues ? portSeries(ports) : [],
    samples: samples ?? null,
    queues: queues ?? null,
    events: new EventsOf(events ?? null),
  };
}

export function TimeView({ source, head, run }: TimeViewProps) {
  const tables = useLoaded(() => tablesOf(source, run), [source, run]);
  if (tables.state === "loading") return <p class="loading">Reading the samples …</p>;
  if (tables.state === "failed") return <Message error={tables.error} what="Samples" />;
  const { subflows, ports } = tables.value;
  if (subflows.length + ports.length === 0) {
    return (
      <p class="message">
        This run has no samples. <code>tresse run … --set measure.samples=10ms</code> takes one of every
        subflow and every queue each 10 ms.
      </p>
    );
  }
  return <Sampled source={source} head={head} run={run} tables={tables.value} />;
}

function Sampled({ source, head, run, tables }: TimeViewProps & { tables: Tables }) {
  const own = head.runs[run];
  const [scope, setScope, offered] = useScope(tables.subflows.length > 0 ? tables.subflows : tables.ports);
  const [level, setLevel] = useState<Level>("subflow");
  const [chosen, setChosen] = useState<string[] | null>(null);
  const [chosenPorts, setChosenPorts] = useState<string[] | null>(null);
  const [highlit, setHighlit] = useState<string | null>(null);
  const [highlitPort, setHighlitPort] = useState<string | null>(null);
  const instant = useMemo(() => new Instant(), []);
  const theme = useThemeVersion();
  const number = own ? networkOf(own, scope.case) : -1;
  const net = useLoaded(
    () => (number < 0 ? Promise.resolve(null) : source.network(run, number)),
    [run, number],
  );
  const network = net.state === "ready" ? net.value : null;
  const { samples, queues } = tables;

  const here = useMemo(() => tables.subflows.filter(inScope(scope)), [tables, scope]);
  const herePorts = useMemo(() => tables.ports.filter(inScope(scope)), [tables, scope]);
  const looked = useRef<{ scope: Scope | null; range: TimeRange }>({
    scope: null,
    range: new TimeRange([0, 1]),
  });
  const range = useMemo(() => {
    const spans = [samples && spanOf(samples, here), queues && spanOf(queues, herePorts)].filter(
      (one) => one !== null,
    );
    const from = Math.min(...spans.map((one) => one[0])) * PS;
    const to = Math.max(...spans.map((one) => one[1])) * PS;
    const next = new TimeRange(from < to ? [from, to] : [0, 1]);
    // A run under way has grown: what the reader looks at stays.
    const before = looked.current;
    if (before.scope === scope && !before.range.isWhole) next.set(before.range.from, before.range.to);
    looked.current = { scope, range: next };
    return next;
  }, [samples, queues, here, herePorts]);

  const all = useMemo(() => entities(here, level), [here, level]);
  const lines = useMemo(() => {
    if (!samples) return [];
    const wanted = new Set(chosen ?? defaultLines(all));
    return flowLines(
      samples,
      all.filter((one) => wanted.has(one.key)),
    );
  }, [samples, all, chosen]);
  const shownEntities = useMemo(() => {
    const keys = new Set(lines.map((line) => line.key));
    return all.filter((one) => keys.has(one.key));
  }, [all, lines]);
  const defaultPorts = useMemo(() => {
    if (!queues) return [];
    const inside = herePorts.filter((port) => isSwitchPort(network, port.port));
    return longestQueues(inside.length > 0 ? inside : herePorts, queues.number("waiting_pkts"), QUEUES).map(
      (one) => String(one.port),
    );
  }, [queues, herePorts, network]);
  const ports = useMemo(() => {
    if (!queues) return [];
    const wanted = chosenPorts ?? defaultPorts;
    const found = wanted.map((key) => herePorts.find((port) => String(port.port) === key));
    return portLines(
      queues,
      found.filter((one) => one !== undefined),
      network,
      range.whole,
    );
  }, [queues, herePorts, chosenPorts, defaultPorts, network, range]);

  const marks = useMemo(() => marksOf(tables.events, scope), [tables, scope]);
  const specs = useMemo(() => {
    const made: PanelSpec[] = [];
    const best = samples ? optima(samples, shownEntities, all) : [];
    FLOW_METRICS.forEach((metric, i) => {
      if (lines.length === 0) return;
      const drawn = [...panelLines(lines, i), ...(metric === "goodput_bps" ? best : [])];
      made.push({ key: metric, metric, lines: drawn, marks, height: HEIGHTS[metric], xAxis: false });
    });
    PORT_METRICS.forEach((metric, i) => {
      if (ports.length === 0) return;
      made.push({
        key: metric,
        metric,
        lines: panelLines(ports, i),
        marks,
        height: HEIGHTS[metric],
        xAxis: false,
      });
    });
    const last = made[made.length - 1];
    if (last) last.xAxis = true;
    return { panels: made, optima: best.length };
  }, [samples, lines, ports, shownEntities, all, marks]);
  const happened = useMemo(() => (samples ? new Happened(samples) : null), [samples]);
  const lanes: Lane[] = useMemo(
    () =>
      lines.slice(0, MOST_LANES).map((line) => ({
        ...line,
        members: shownEntities.find((one) => one.key === line.key)?.members ?? [],
      })),
    [lines, shownEntities],
  );
  const strip = useMemo(() => overviewLines(lines.length > 0 ? lines : ports), [lines, ports]);
  if (!own) return null;

  const label = own.cases[scope.case]?.label ?? "";
  const title = `Over time: ${label}`;
  const caption = captionOf(
    own.report.experiment,
    label,
    scope,
    specs.optima,
    [sentence("Samples", own.tables.samples?.thinned), sentence("Queues", own.tables.queues?.thinned)],
    [...lines, ...ports].some((line) => (line.traces[0]?.start.length ?? 0) > DENSE),
  );
  const panel = (spec: PanelSpec) => (
    <Panel
      key={spec.key}
      spec={spec}
      title={METRICS[spec.metric].title}
      range={range}
      instant={instant}
      highlit={METRICS[spec.metric].of === "flows" ? highlit : highlitPort}
      theme={theme}
    />
  );
  const flowPanels = specs.panels.filter((spec) => METRICS[spec.metric].of === "flows");
  const portPanels = specs.panels.filter((spec) => METRICS[spec.metric].of === "ports");
  const portItems = herePorts.map((port) => ({
    key: String(port.port),
    name: portName(network, port.port, port.layer),
  }));
  return (
    <Frame
      id={`time-${run}`}
      title={title}
      caption={caption}
      controls={
        <>
          <ScopeSelects
            head={own}
            scope={scope}
            offered={offered}
            onChange={(next) => {
              setScope(next);
              setChosen(null);
              setChosenPorts(null);
            }}
          />
          {samples && (
            <>
              <label>
                Lines
                <select
                  value={level}
                  onChange={(event) => {
                    setLevel(event.currentTarget.value as Level);
                    setChosen(null);
                  }}
                >
                  <option value="subflow">subflows</option>
                  <option value="flow">flows</option>
                  <option value="group">groups</option>
                </select>
              </label>
              <Picker
                label={level === "subflow" ? "Subflows" : level === "flow" ? "Flows" : "Groups"}
                items={all}
                chosen={lines.map((line) => line.key)}
                onChange={setChosen}
                defaults={{ label: "Longest", keys: () => defaultLines(all) }}
              />
            </>
          )}
          {queues && (
            <Picker
              label="Ports"
              items={portItems}
              chosen={ports.map((line) => line.key)}
              onChange={setChosenPorts}
              defaults={{ label: "Longest queues", keys: () => defaultPorts }}
            />
          )}
        </>
      }
      rows={() =>
        rowsOf(
          [
            { lines, metrics: FLOW_METRICS },
            { lines: ports, metrics: PORT_METRICS },
          ],
          range,
        )
      }
      svg={async () =>
        staticSvg(
          {
            title,
            caption,
            panels: specs.panels.map((spec) => ({ spec, title: METRICS[spec.metric].title })),
            legend: [...lines, ...ports].filter((line) => !line.quiet),
            columns: 1,
          },
          range,
        )
      }
    >
      {strip.length > 0 && <Overview lines={strip} range={range} version={theme} />}
      {lines.length > 0 && (
        <Readout
          what={level === "subflow" ? "Subflows" : level === "flow" ? "Flows" : "Groups"}
          lines={lines}
          metrics={FLOW_METRICS}
          range={range}
          instant={instant}
          onHighlight={setHighlit}
        />
      )}
      {flowPanels.map(panel)}
      {happened && lanes.length > 0 && (
        <div class="time-panel">
          <div class="time-lane-head">
            <p class="panel-title">Lifetimes and losses</p>
            <LaneKey counts={happened.counts} />
          </div>
          <Lanes
            lanes={lanes}
            happened={happened}
            range={range}
            instant={instant}
            highlit={highlit}
            version={theme}
          />
        </div>
      )}
      {ports.length > 0 && (
        <Readout
          what="Ports"
          lines={ports}
          metrics={PORT_METRICS}
          range={range}
          instant={instant}
          onHighlight={setHighlitPort}
          longest={own.tables.queues?.thinned !== undefined}
        />
      )}
      {portPanels.map(panel)}
      {marks.length > 0 && (
        <p class="note time-marks">
          Dotted:{" "}
          {marks
            .slice(0, 12)
            .map((mark) => `${mark.label} at ${Number(mark.at.toPrecision(6))} s`)
            .join("; ")}
          {marks.length > 12 && `; and ${marks.length - 12} more`}
        </p>
      )}
    </Frame>
  );
}

function sentence(table: string, thinned: string | undefined): string {
  return thinned ? `${table}: ${thinned.replace(/\.$/, "")}.` : "";
}

function captionOf(
  experiment: string,
  label: string,
  scope: { seed: number; round: number },
  optimum: number,
  thinned: string[],
  dense: boolean,
): string {
  const parts = [
    `${experiment}, ${label}, seed ${scope.seed}, round ${scope.round}.`,
    "Goodput is what arrived in each interval; windows, round-trip times and queues are those at its end.",
    dense
      ? "Where there are more samples than pixels, a band reaches from the least to the greatest, and the line is their mean."
      : "",
    optimum > 0 ? "Dashed: the flow’s optimum among the flows that were there." : "",
    ...thinned,
    "Drag to zoom, double-click for all; shift-drag, sideways wheel or a finger to pan.",
  ];
  return parts.filter((part) => part !== "").join(" ");
}
