/** The path of a flow: the ports of its subflows, if the run has kept them. */
import type { Network } from "../data/contract";
import type { TableData } from "../data/table";
import { MISSING } from "../data/table";
import type { Scope, SubflowSeries } from "../time/series";

export interface FlowItem {
  key: string;
  name: string;
  round: number;
  group: string;
  flow: number;
  from: number;
  to: number;
}

export function hostName(network: Network, host: number): string {
  return network.nodes.name[host * Math.max(1, network.addresses)] ?? `host ${host}`;
}

/** The host to which a node belongs as an address; null for a switch. */
export function hostOf(network: Network, node: number): number | null {
  return network.nodes.level[node] === 0 ? Math.floor(node / Math.max(1, network.addresses)) : null;
}

/** The flows of a case and seed, in the order of the table. */
export function flowItems(
  flows: TableData,
  scope: Pick<Scope, "case" | "seed">,
  network: Network,
): FlowItem[] {
  const [caseOf, seed, round] = [flows.number("case"), flows.number("seed"), flows.number("round")];
  const [flow, from, to] = [flows.number("flow"), flows.number("from"), flows.number("to")];
  const groups = flows.text("group");
  const found: FlowItem[] = [];
  const rounds = new Set<number>();
  for (let row = 0; row < flows.rows; row++) {
    if (caseOf[row] !== scope.case || seed[row] !== scope.seed) continue;
    const code = groups.codes[row] ?? MISSING;
    const group = code === MISSING ? "" : (groups.words[code] ?? "");
    const [a, b, r, number] = [from[row] ?? 0, to[row] ?? 0, round[row] ?? 0, flow[row] ?? 0];
    rounds.add(r);
    const own = group ? `${group}, flow ${number}` : `flow ${number}`;
    found.push({
      key: `${r}\n${group}\n${number}`,
      name: `${own}: ${hostName(network, a)} → ${hostName(network, b)}`,
      round: r,
      group,
      flow: number,
      from: a,
      to: b,
    });
  }
  if (rounds.size > 1) for (const item of found) item.name += `, round ${item.round}`;
  return found;
}

/** The known paths of a flow; `unknown` says why there are none. */
export type Ways =
  | { state: "known"; subflows: { subflow: number; ports: number[] }[]; unknown: number }
  | { state: "unknown"; why: string };

export function waysOf(
  item: FlowItem,
  scope: Pick<Scope, "case" | "seed">,
  subflows: readonly SubflowSeries[] | null,
  network: Network,
): Ways {
  if (!subflows) {
    return {
      state: "unknown",
      why: "The run took no samples, so it has no paths of subflows.",
    };
  }
  const own = subflows.filter(
    (one) =>
      one.case === scope.case &&
      one.seed === scope.seed &&
      one.round === item.round &&
      one.group === item.group &&
      one.flow === item.flow,
  );
  if (own.length === 0) return { state: "unknown", why: "The page has no samples of this flow." };
  const known = own.flatMap(({ subflow, path }) =>
    path && isWay(path, network) ? [{ subflow, ports: path }] : [],
  );
  if (known.length === 0) {
    return {
      state: "unknown",
      why: "The run has no path of this flow: switches choose it, or an older version wrote the run.",
    };
  }
  known.sort((a, b) => a.subflow - b.subflow);
  return { state: "known", subflows: known, unknown: own.length - known.length };
}

/** Whether ports form a connected path through the network; other paths are not drawn. */
export function isWay(ports: readonly number[], { ports: all }: Network): boolean {
  return ports.every(
    (port, i) => all.from[port] !== undefined && (i === 0 || all.to[ports[i - 1] ?? -1] === all.from[port]),
  );
}
