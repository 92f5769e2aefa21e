/** Turns a reader's choices into panels: lines and their colours. */
import { OPTIMUM_DASH } from "../charts/series";
import { COLOURS, styleAt } from "../data/colour";
import type { Network, RunHead } from "../data/contract";
import type { TableData } from "../data/table";
import type { Trace } from "./decimate";
import type { PanelLine } from "./plot";
import type { ReadoutLine } from "./Readout";
import { type Entity, MOST_LINES, type PortSeries } from "./series";
import { entityTrace, type FlowMetric, optimumTrace, type PortMetric, PS, portTrace } from "./traces";

export const FLOW_METRICS: FlowMetric[] = ["goodput_bps", "cwnd_pkts", "srtt_s"];
export const PORT_METRICS: PortMetric[] = ["waiting_pkts", "utilisation_ratio"];

/** More optima than this would only cross each other. */
const MOST_OPTIMA = 6;

/** A line of the figure with its traces, one for each metric of its kind. */
export interface Line extends ReadoutLine {
  quiet: boolean;
  traces: Trace[];
}

/** The tables that a figure over time needs. */
export interface Sampled {
  samples: TableData | null;
  queues: TableData | null;
  network: Network | null;
}

/** Colours for the first lines; dashes only when colours repeat, because they make a noisy line illegible. */
export function lineStyle(place: number): { colour: string; dash: string; quiet: boolean } {
  if (place >= MOST_LINES) return { colour: "var(--line-strong)", dash: "", quiet: true };
  const { colour, dash } = styleAt(place);
  return { colour, dash: place < COLOURS ? "" : dash || "7 3", quiet: false };
}

export function flowLines(samples: TableData, entities: readonly Entity[]): Line[] {
  return entities.map((entity, i) => ({
    key: entity.key,
    name: entity.name,
    ...lineStyle(i),
    traces: FLOW_METRICS.map((metric) => entityTrace(samples, entity, metric)),
  }));
}

export function portName(network: Network | null, port: number, layer: string): string {
  const [from, to] = [network?.ports.from[port], network?.ports.to[port]];
  if (!network || from === undefined || to === undefined) return `port ${port} (${layer})`;
  return `${network.nodes.name[from]} → ${network.nodes.name[to]}`;
}

/** Whether packets of this port wait in a switch: a host's own backlog is not a queue of the network. */
export function isSwitchPort(network: Network | null, port: number): boolean {
  const from = network?.ports.from[port];
  return from === undefined || (network?.nodes.level[from] ?? 1) > 0;
}

export function portLines(
  queues: TableData,
  ports: readonly PortSeries[],
  network: Network | null,
  whole: readonly [number, number],
): Line[] {
  const [from, to] = [whole[0] / PS, whole[1] / PS];
  return ports.map((port, i) => ({
    key: String(port.port),
    name: portName(network, port.port, port.layer),
    ...lineStyle(i),
    traces: PORT_METRICS.map((metric) => portTrace(queues, port, metric, from, to)),
  }));
}

/** The lines of one metric, as a panel draws them. */
export function panelLines(lines: readonly Line[], metric: number): PanelLine[] {
  const drawn = lines.map((line) => ({ ...line, trace: line.traces[metric] as Trace }));
  return [...drawn.filter((line) => line.quiet), ...drawn.filter((line) => !line.quiet)];
}

/** The optimum next to each line that is a whole flow; none if there are too many. */
export function optima(samples: TableData, entities: readonly Entity[], all: readonly Entity[]): PanelLine[] {
  const subflows = new Map<string, number>();
  const flowOf = (entity: Entity) => `${entity.members[0]?.group}\n${entity.members[0]?.flow}`;
  for (const entity of all) {
    subflows.set(flowOf(entity), (subflows.get(flowOf(entity)) ?? 0) + 1);
  }
  const found: PanelLine[] = [];
  entities.forEach((entity, i) => {
    const [member] = entity.members;
    const oneFlow = entity.members.every((one) => one.flow === member?.flow && one.group === member?.group);
    if (!member || !oneFlow || subflows.get(flowOf(entity)) !== 1) return;
    const trace = optimumTrace(samples, member);
    if (!trace) return;
    const { colour } = lineStyle(i);
    found.push({
      key: entity.key,
      name: `${entity.name}, optimum`,
      colour,
      dash: OPTIMUM_DASH,
      quiet: true,
      trace,
    });
  });
  return found.length <= MOST_OPTIMA ? found : [];
}

/** The content of the strip above the panels: the first metric of the first lines. */
export function overviewLines(lines: readonly Line[]): { colour: string; trace: Trace }[] {
  return lines.slice(0, MOST_LINES).map(({ colour, traces }) => ({ colour, trace: traces[0] as Trace }));
}

/** The network of a case, by its index in the run's networks; -1 if it has none. */
export function networkOf(run: RunHead, caseOf: number): number {
  return run.networks.findIndex((network) => network.cases.includes(caseOf));
}
