/** The samples of a run over time: rates of flows, their windows and round-trip times, and the queues on their paths. */
import { useMemo, useRef, useState } from "preact/hooks";
import { Frame } from "../charts/Frame";
import { Message, useLoaded } from "../charts/Lazy";
import type { PageHead } from "../data/contract";
import type { Source } from "../data/load";
import { Select } from "../page/controls";
import { captionOf, laidWords } from "./caption";
import { marksOf } from "./events";
import { LaneKey, Lanes } from "./Lanes";
import {
  FLOW_METRICS,
  flowLines,
  isSwitchPort,
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
import { RunSelects } from "./RunSelects";
import { Instant, TimeRange } from "./range";
import { rowsOf, staticSvg } from "./rows";
import { runName } from "./runs";
import { ScopeSelects, useScope } from "./Scope";
import { Panel, useThemeVersion } from "./Stack";
import { defaultLines, entities, type Level, longestQueues, type Scope } from "./series";
import {
  laidFlows,
  laidPorts,
  networksIn,
  type Side,
  sameScope,
  seriesIn,
  sideOf,
  type Tables,
  tablesOf,
  wholeOf,
} from "./sides";
import { smoothWords, WINDOWS, withSmooth } from "./smooth";
import { Happened, type Lane } from "./stretch";
import { METRICS } from "./traces";
import "./time.css";

/** The most queues that can be distinguished in one panel. */
const QUEUES = 4;
/** More lanes than this are unreadable. */
const MOST_LANES = 24;
/** Rows from which a line is a band on most screens. */
const DENSE = 2000;
const HEIGHTS = {
  goodput_bps: 190,
  cwnd_pkts: 120,
  srtt_s: 120,
  waiting_pkts: 120,
  utilisation_ratio: 100,
  share_ratio: 100,
};

export interface TimeViewProps {
  source: Source;
  head: PageHead;
  /** Runs with the same cases: one is shown, and the others can be overlaid. */
  runs: number[];
}

export function TimeView({ source, head, runs }: TimeViewProps) {
  const loaded = useLoaded(
    () => Promise.all(runs.map((run) => tablesOf(source, run))),
    [source, runs.join()],
  );
  const [chosen, setChosen] = useState<number | null>(null);
  if (loaded.state === "loading") return <p class="loading">Reading the samples …</p>;
  if (loaded.state === "failed") return <Message error={loaded.error} what="Samples" />;
  const all = loaded.value.filter((one) => seriesIn(one).length > 0);
  const tables = all.find((one) => one.run === chosen) ?? all[0];
  if (!tables) {
    return (
      <p class="message">
        {runs.length > 1 ? "These runs have" : "This run has"} no samples.{" "}
        <code>tresse run … --set measure.samples=10ms</code> samples each subflow and each queue every 10 ms.
      </p>
    );
  }
  const others = all.filter((one) => one !== tables);
  return <Sampled key={tables.run} {...{ source, head, tables, others }} onRun={setChosen} />;
}

interface SampledProps {
  source: Source;
  head: PageHead;
  /** For the shown run. */
  tables: Tables;
  others: Tables[];
  onRun: (run: number) => void;
}

function Sampled({ source, head, tables, others, onRun }: SampledProps) {
  const { run } = tables;
  const own = head.runs[run];
  const [scope, setScope, offered] = useScope(seriesIn(tables));
  const [level, setLevel] = useState<Level>("subflow");
  const [chosen, setChosen] = useState<string[] | null>(null);
  const [chosenPorts, setChosenPorts] = useState<string[] | null>(null);
  const [highlit, setHighlit] = useState<string | null>(null);
  const [highlitPort, setHighlitPort] = useState<string | null>(null);
  /** The runs that are not overlaid on the shown one. */
  const [aside, setAside] = useState<readonly number[]>([]);
  const [smoothing, setSmoothing] = useState("0");
  const instant = useMemo(() => new Instant(), []);
  const theme = useThemeVersion();
  const { samples, queues } = tables;

  const over = useMemo(
    () =>
      others.flatMap((one) => {
        const other = head.runs[one.run];
        const same = own && other && sameScope(own, scope, other, one);
        return same && !aside.includes(one.run) ? [{ tables: one, scope: same }] : [];
      }),
    [head, own, others, scope, aside],
  );
  const scopes = useMemo(() => [{ tables, scope }, ...over], [tables, scope, over]);
  const networks = useLoaded(() => networksIn(source, head, scopes), [source, scopes]);
  const sides = useMemo(() => {
    const known = networks.state === "ready" ? networks.value : null;
    return scopes.map((one) => sideOf(one.tables, one.scope, known?.get(one.tables.run) ?? null));
  }, [scopes, networks]);
  const [shown] = sides as [Side, ...Side[]];
  const { here, herePorts, network } = shown;
  const looked = useRef<{ scope: Scope | null; range: TimeRange }>({
    scope: null,
    range: new TimeRange([0, 1]),
  });
  const [from, to] = wholeOf(sides);
  const window = Number(smoothing) * (to - from);
  const range = useMemo(() => {
    const next = new TimeRange([from, to]);
    // A run in progress has grown, or another one is overlaid: the reader's view stays the same.
    const before = looked.current;
    if (before.scope === scope && !before.range.isWhole) next.set(before.range.from, before.range.to);
    looked.current = { scope, range: next };
    return next;
  }, [from, to, scope]);

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
      shown.whole ?? [0, 1],
    );
  }, [queues, herePorts, chosenPorts, defaultPorts, network, shown]);
  const flowsLaid = useMemo(() => laidFlows(head, sides, lines, level), [head, sides, lines, level]);
  const portsLaid = useMemo(() => laidPorts(head, sides, ports), [head, sides, ports]);

  const marks = useMemo(() => marksOf(tables.events, scope), [tables, scope]);
  const specs = useMemo(() => {
    const made: PanelSpec[] = [];
    const best = samples ? optima(samples, shownEntities, all) : [];
    FLOW_METRICS.forEach((metric, i) => {
      if (lines.length === 0) return;
      const drawn = [
        ...withSmooth(panelLines(flowsLaid.lines, i), window),
        ...(metric === "goodput_bps" ? best : []),
      ];
      made.push({ key: metric, metric, lines: drawn, marks, height: HEIGHTS[metric], xAxis: false });
    });
    PORT_METRICS.forEach((metric, i) => {
      if (ports.length === 0) return;
      made.push({
        key: metric,
        metric,
        lines: withSmooth(panelLines(portsLaid.lines, i), window),
        marks,
        height: HEIGHTS[metric],
        xAxis: false,
      });
    });
    const last = made[made.length - 1];
    if (last) last.xAxis = true;
    return { panels: made, optima: best.length };
  }, [samples, lines, ports, flowsLaid, portsLaid, shownEntities, all, marks, window]);
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
  const caption = captionOf({
    which: `${own.report.experiment}, ${label}, seed ${scope.seed}, round ${scope.round}.`,
    laid: laidWords(head, run, over, [...flowsLaid.absent, ...portsLaid.absent]),
    optima: specs.optima > 0,
    smoothed: smoothWords(window),
    tables: own.tables,
    dense: [...lines, ...ports].some((line) => (line.traces[0]?.start.length ?? 0) > DENSE),
  });
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
          <RunSelects head={head} run={run} {...{ others, onRun, aside }} onAside={setAside} />
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
          <Select label="Smooth" value={smoothing} choices={WINDOWS} choose={setSmoothing} />
        </>
      }
      rows={() =>
        rowsOf(
          [
            { lines: flowsLaid.lines, metrics: FLOW_METRICS },
            { lines: portsLaid.lines, metrics: PORT_METRICS },
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
            legend: [...flowsLaid.lines, ...portsLaid.lines].filter((line) => !line.quiet),
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
          lines={flowsLaid.lines}
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
            <p class="panel-title">Lifetimes and losses{over.length > 0 && ` of ${runName(head, run)}`}</p>
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
          lines={portsLaid.lines}
          metrics={PORT_METRICS}
          range={range}
          instant={instant}
          onHighlight={setHighlitPort}
          longest={sides.some((side) => head.runs[side.tables.run]?.tables.queues?.thinned !== undefined)}
        />
      )}
      {portPanels.map(panel)}
      {marks.length > 0 && (
        <p class="note time-marks">
          Upright dots:{" "}
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
