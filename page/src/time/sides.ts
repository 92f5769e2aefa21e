/** The runs in one view over time: one shown alone, and the same lines of others overlaid. */
import type { Network, PageHead, RunHead } from "../data/contract";
import type { Source } from "../data/load";
import type { TableData } from "../data/table";
import { EventsOf } from "./events";
import { flowLines, type Line, networkOf, portLines, portName } from "./model";
import { nameOfRun, styleOfRun } from "./runs";
import { settled } from "./Scope";
import {
  entities,
  inScope,
  type Level,
  type PortSeries,
  portSeries,
  type Scope,
  type SubflowSeries,
  subflowSeries,
} from "./series";
import { PS, spanOf } from "./traces";

/** The data of a run for a view over time. */
export interface Tables {
  run: number;
  subflows: SubflowSeries[];
  ports: PortSeries[];
  samples: TableData | null;
  queues: TableData | null;
  events: EventsOf;
}

export async function tablesOf(source: Source, run: number): Promise<Tables> {
  const [subflows, samples, ports, queues, events] = await Promise.all(
    ["subflows", "samples", "ports", "queues", "events"].map((name) => source.table(run, name)),
  );
  return {
    run,
    subflows: subflows && samples ? subflowSeries(subflows) : [],
    ports: ports && queues ? portSeries(ports) : [],
    samples: samples ?? null,
    queues: queues ?? null,
    events: new EventsOf(events ?? null),
  };
}

/** The network of each run's case, by the run; null if there is none, or it cannot be read. */
export async function networksIn(
  source: Source,
  head: PageHead,
  scopes: readonly { tables: Tables; scope: Scope }[],
): Promise<Map<number, Network | null>> {
  const read = async ({ tables: { run }, scope }: (typeof scopes)[0]) => {
    const own = head.runs[run];
    const number = own ? networkOf(own, scope.case) : -1;
    return [run, number < 0 ? null : await source.network(run, number).catch(() => null)] as const;
  };
  return new Map(await Promise.all(scopes.map(read)));
}

/** All series of a run, of any kind. */
export function seriesIn(tables: Tables): readonly Scope[] {
  return tables.subflows.length > 0 ? tables.subflows : tables.ports;
}

/** The same case of another run, with the same seed and round if it has them; null if it has no data for the case. */
export function sameScope(own: RunHead, scope: Scope, other: RunHead, tables: Tables): Scope | null {
  const label = own.cases[scope.case]?.label;
  const place = other.cases.findIndex((one) => one.label === label);
  const found = settled(seriesIn(tables), { ...scope, case: place });
  return found.case === place ? found : null;
}

/** A run in a scope. */
export interface Side {
  tables: Tables;
  scope: Scope;
  here: SubflowSeries[];
  herePorts: PortSeries[];
  network: Network | null;
  /** When its samples begin and end, in s; null if it has none. */
  whole: [number, number] | null;
}

export function sideOf(tables: Tables, scope: Scope, network: Network | null): Side {
  const here = tables.subflows.filter(inScope(scope));
  const herePorts = tables.ports.filter(inScope(scope));
  const { samples, queues } = tables;
  const spans = [samples && spanOf(samples, here), queues && spanOf(queues, herePorts)].filter(
    (one) => one !== null,
  );
  const from = Math.min(...spans.map((one) => one[0])) * PS;
  const to = Math.max(...spans.map((one) => one[1])) * PS;
  return { tables, scope, here, herePorts, network, whole: from < to ? [from, to] : null };
}

/** The range that all of them cover, in s. */
export function wholeOf(sides: readonly Side[]): [number, number] {
  const spans = sides.map((side) => side.whole).filter((one) => one !== null);
  const from = Math.min(...spans.map((one) => one[0]));
  const to = Math.max(...spans.map((one) => one[1]));
  return from < to ? [from, to] : [0, 1];
}

/** Lines of the first side, each followed by the same line of the others; and what each of the others lacks. */
export interface Laid {
  lines: Line[];
  absent: { run: number; names: string[] }[];
}

function laid(head: PageHead, sides: readonly Side[], lines: readonly Line[], of: TracesOf): Laid {
  const [first, ...others] = sides;
  if (!first || others.length === 0) return { lines: [...lines], absent: [] };
  const absent = others.map(({ tables }) => ({ run: tables.run, names: [] as string[] }));
  const finders = others.map(of);
  const drawn = lines.flatMap((line, place) => {
    const inRun = (run: number, traces: Line["traces"]) => ({
      ...line,
      ...styleOfRun(head, run, place),
      name: nameOfRun(head, run, line.name),
      traces,
    });
    const all = [inRun(first.tables.run, line.traces)];
    others.forEach(({ tables }, i) => {
      const traces = finders[i]?.(line);
      if (traces) all.push(inRun(tables.run, traces));
      else absent[i]?.names.push(line.name);
    });
    return all;
  });
  return { lines: drawn, absent };
}

/** A side's version of another side's line; null if it has none. */
type TracesOf = (side: Side) => (line: Line) => Line["traces"] | null;

export function laidFlows(
  head: PageHead,
  sides: readonly Side[],
  lines: readonly Line[],
  level: Level,
): Laid {
  return laid(head, sides, lines, ({ tables: { samples }, here }) => {
    const all = new Map(entities(here, level).map((entity) => [entity.key, entity]));
    return (line) => {
      const entity = all.get(line.key);
      return samples && entity ? (flowLines(samples, [entity])[0]?.traces ?? null) : null;
    };
  });
}

/** Ports are the same if they lead from the same node to the same node: their numbers belong to their own network. */
export function laidPorts(head: PageHead, sides: readonly Side[], lines: readonly Line[]): Laid {
  return laid(head, sides, lines, ({ tables: { queues }, herePorts, network, whole }) => {
    const all = herePorts.map((port) => ({ port, name: portName(network, port.port, port.layer) }));
    return (line) => {
      // Among parallel links, which have the same name, the one with the same index.
      const named = all.filter(({ name }) => name === line.name);
      const { port } = named.find((one) => String(one.port.port) === line.key) ?? named[0] ?? {};
      if (!queues || !port || !whole) return null;
      return portLines(queues, [port], network, whole)[0]?.traces ?? null;
    };
  });
}
