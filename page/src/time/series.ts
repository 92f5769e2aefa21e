/** The sampled series of a run, their names, and which of them are shown first. */
import { MISSING, type TableData } from "../data/table";

/** A subflow in one round: a row of `subflows`, and the position of its rows in `samples`. */
export interface SubflowSeries {
  case: number;
  seed: number;
  round: number;
  group: string;
  flow: number;
  from: number;
  to: number;
  subflow: number;
  offset: number;
  rows: number;
  /** Its ports from the sender; null if switches choose, or the run has not kept it. */
  path: number[] | null;
}

/** An output port in one round: a row of `ports`. */
export interface PortSeries {
  case: number;
  seed: number;
  round: number;
  port: number;
  layer: string;
  offset: number;
  rows: number;
}

/** One simulated range of time with its own axis. */
export interface Scope {
  case: number;
  seed: number;
  round: number;
}

export type Level = "subflow" | "flow" | "group";

/** The content of one line: subflows whose rates add up. */
export interface Entity {
  key: string;
  name: string;
  members: SubflowSeries[];
}

/** `"12 7 40"`; null if it is missing or contains anything but ports. */
export function parsePath(text: string | null): number[] | null {
  if (text === null) return null;
  const words = text.trim().split(/\s+/);
  const ports = words.map(Number);
  return words[0] !== "" && ports.every((port) => Number.isInteger(port) && port >= 0) ? ports : null;
}

/** A column that a run of an older version may lack. */
function optional(table: TableData, column: string): ArrayLike<number> | null {
  return table.has(column) ? table.number(column) : null;
}

function words(table: TableData, column: string): (row: number) => string | null {
  if (!table.has(column)) return () => null;
  const { codes, words } = table.text(column);
  return (row) => {
    const code = codes[row] ?? MISSING;
    return code === MISSING ? null : (words[code] ?? null);
  };
}

/** Series are made once for a table, however many figures draw them. */
const knownSubflows = new WeakMap<TableData, SubflowSeries[]>();
const knownPorts = new WeakMap<TableData, PortSeries[]>();

function kept<T>(known: WeakMap<TableData, T>, table: TableData, make: (table: TableData) => T): T {
  const made = known.get(table) ?? make(table);
  known.set(table, made);
  return made;
}

export function subflowSeries(table: TableData): SubflowSeries[] {
  return kept(knownSubflows, table, readSubflows);
}

export function portSeries(table: TableData): PortSeries[] {
  return kept(knownPorts, table, readPorts);
}

function readSubflows(table: TableData): SubflowSeries[] {
  const of = (name: string) => {
    const column = optional(table, name);
    return (row: number) => column?.[row] ?? 0;
  };
  const [caseOf, seed, round, flow] = [of("case"), of("seed"), of("round"), of("flow")];
  const [from, to, subflow, offset, rows] = [of("from"), of("to"), of("subflow"), of("offset"), of("rows")];
  const group = words(table, "group");
  const path = words(table, "path");
  return Array.from({ length: table.rows }, (_, row) => ({
    case: caseOf(row),
    seed: seed(row),
    round: round(row),
    group: group(row) ?? "",
    flow: flow(row),
    from: from(row),
    to: to(row),
    subflow: subflow(row),
    offset: offset(row),
    rows: rows(row),
    path: parsePath(path(row)),
  }));
}

function readPorts(table: TableData): PortSeries[] {
  const of = (name: string) => {
    const column = optional(table, name);
    return (row: number) => column?.[row] ?? 0;
  };
  const [caseOf, seed, round] = [of("case"), of("seed"), of("round")];
  const [port, offset, rows] = [of("port"), of("offset"), of("rows")];
  const layer = words(table, "layer");
  return Array.from({ length: table.rows }, (_, row) => ({
    case: caseOf(row),
    seed: seed(row),
    round: round(row),
    port: port(row),
    layer: layer(row) ?? "",
    offset: offset(row),
    rows: rows(row),
  }));
}

export function inScope(scope: Scope): (series: Scope) => boolean {
  return (series) => series.case === scope.case && series.seed === scope.seed && series.round === scope.round;
}

/** The values of one part of a scope among series, ascending. */
export function choices(series: readonly Scope[], part: keyof Scope): number[] {
  return [...new Set(series.map((one) => one[part]))].sort((a, b) => a - b);
}

/** Natural order: "flow 2" before "flow 10". */
export const natural = new Intl.Collator("en", { numeric: true }).compare;

/**
 * The subflows of one scope as the lines of a level, in natural order. A name contains only the differences:
 * the flow's number if its group has several, the subflow's if the flow has.
 */
export function entities(members: readonly SubflowSeries[], level: Level): Entity[] {
  const flowsOf = new Map<string, Set<number>>();
  const subflowsOf = new Map<string, Set<number>>();
  const flowKey = (one: SubflowSeries) => `${one.group}\n${one.flow}`;
  for (const one of members) {
    add(flowsOf, one.group, one.flow);
    add(subflowsOf, flowKey(one), one.subflow);
  }
  const flowName = (one: SubflowSeries) => {
    if (one.group === "") return `flow ${one.flow}`;
    return (flowsOf.get(one.group)?.size ?? 0) > 1 ? `${one.group} · flow ${one.flow}` : one.group;
  };
  const found = new Map<string, Entity>();
  for (const one of members) {
    let key = one.group;
    let name = one.group === "" ? "all flows" : one.group;
    if (level !== "group") {
      key = flowKey(one);
      name = flowName(one);
    }
    if (level === "subflow") {
      const several = (subflowsOf.get(key)?.size ?? 0) > 1;
      key += `\n${one.subflow}`;
      if (several) name += ` · subflow ${one.subflow}`;
    }
    const known = found.get(key);
    if (known) known.members.push(one);
    else found.set(key, { key, name, members: [one] });
  }
  return [...found.values()].sort((a, b) => natural(a.name, b.name) || natural(a.key, b.key));
}

function add<K>(sets: Map<K, Set<number>>, key: K, value: number): void {
  const known = sets.get(key);
  if (known) known.add(value);
  else sets.set(key, new Set([value]));
}

/** The most lines that colours can distinguish. */
export const MOST_LINES = 12;

/**
 * The lines that are shown first: all if there are few; otherwise whole flows, the longest-lived first, up to
 * twelve lines.
 */
export function defaultLines(lines: readonly Entity[], most = MOST_LINES): string[] {
  if (lines.length <= most) return lines.map((line) => line.key);
  const flows = new Map<string, { rows: number; keys: string[] }>();
  for (const line of lines) {
    const [one] = line.members;
    const of = one ? `${one.group}\n${one.flow}` : line.key;
    const rows = line.members.reduce((sum, member) => sum + member.rows, 0);
    const known = flows.get(of) ?? { rows: 0, keys: [] };
    known.rows = Math.max(known.rows, rows);
    known.keys.push(line.key);
    flows.set(of, known);
  }
  const chosen = new Set<string>();
  for (const flow of [...flows.values()].sort((a, b) => b.rows - a.rows)) {
    if (chosen.size > 0 && chosen.size + flow.keys.length > most) break;
    for (const key of flow.keys) chosen.add(key);
  }
  return lines.map((line) => line.key).filter((key) => chosen.has(key));
}

/** Whether every word of the search occurs in the text, ignoring case. */
export function matches(text: string, search: string): boolean {
  const low = text.toLowerCase();
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => low.includes(word));
}

/**
 * The ports of a scope with the longest queues, longest first: by the sum of their samples; without those
 * that were always empty.
 */
export function longestQueues(
  ports: readonly PortSeries[],
  waiting: ArrayLike<number>,
  most: number,
): PortSeries[] {
  const sums = ports.map((port) => {
    let sum = 0;
    for (let row = port.offset; row < port.offset + port.rows; row++) sum += waiting[row] ?? 0;
    return { port, sum };
  });
  return sums
    .filter(({ sum }) => sum > 0)
    .sort((a, b) => b.sum - a.sum || a.port.port - b.port.port)
    .slice(0, most)
    .map(({ port }) => port);
}
