/** The positions of nodes: in layers if the network has them, otherwise by a force simulation. */
import {
  forceCollide,
  forceLink,
  forceManyBody,
  forceSimulation,
  forceX,
  forceY,
  type SimulationNodeDatum,
} from "d3-force";
import type { Network } from "../data/contract";
import { natural } from "../time/series";

export interface Layout {
  x: Float64Array;
  y: Float64Array;
  width: number;
  height: number;
  /** Pods as spans of their hosts on the lowest layer; none if there is only one, or no layers. */
  pods: { name: string; from: number; to: number }[];
  /** The layers of nodes from the top, and their positions. */
  rows: { name: string; y: number }[];
}

/** The name of a layer of nodes is the common part of its nodes' names: `edge 12` → `edge`. */
export function rowName(names: readonly string[]): string {
  const stems = new Set(names.map((name) => name.replace(/[\s\d.:_/-]+$/, "").trim()));
  const [only] = stems;
  return stems.size === 1 && only ? only : "";
}

/** Nodes of each level; hosts by pod and rack, all others by the middle of the nodes below them. */
export function orders(network: Network): number[][] {
  const { name, level, rack, pod } = network.nodes;
  const top = level.reduce((most, one) => Math.max(most, one), 0);
  const rows: number[][] = Array.from({ length: top + 1 }, () => []);
  level.forEach((of, node) => {
    rows[of]?.push(node);
  });
  const host = (node: number) => Math.floor(node / Math.max(1, network.addresses));
  rows[0]?.sort(
    (a, b) =>
      (pod[host(a)] ?? 0) - (pod[host(b)] ?? 0) ||
      (rack[host(a)] ?? 0) - (rack[host(b)] ?? 0) ||
      natural(name[a] ?? "", name[b] ?? ""),
  );
  const place = new Float64Array(level.length);
  const put = (row: number[]) =>
    row.forEach((node, i) => {
      place[node] = (i + 0.5) / row.length;
    });
  put(rows[0] ?? []);
  const below = neighboursBelow(network);
  for (const row of rows.slice(1)) {
    const middle = new Map(row.map((node) => [node, mean(below[node] ?? [], place)]));
    // Equal middles, as for the switches of a pod, up to the rounding of the mean.
    row.sort((a, b) => {
      const apart = (middle.get(a) ?? 0) - (middle.get(b) ?? 0);
      return Math.abs(apart) > 1e-9 ? apart : natural(name[a] ?? "", name[b] ?? "");
    });
    put(row);
  }
  return rows;
}

function neighboursBelow({ nodes, ports }: Network): number[][] {
  const below: number[][] = nodes.level.map(() => []);
  ports.from.forEach((from, port) => {
    const to = ports.to[port] ?? 0;
    if ((nodes.level[to] ?? 0) < (nodes.level[from] ?? 0)) below[from]?.push(to);
  });
  return below;
}

function mean(nodes: readonly number[], place: ArrayLike<number>): number {
  let sum = 0;
  for (const node of nodes) sum += place[node] ?? 0;
  return nodes.length > 0 ? sum / nodes.length : 0.5;
}

/**
 * Positions as close as possible to the wanted ones, at least `gap` apart, in the given order: blocks of
 * positions that push each other are around the mean of their wanted positions.
 */
export function spread(wanted: readonly number[], gap: number): number[] {
  const blocks: { sum: number; count: number }[] = [];
  const at = (block: { sum: number; count: number }) => block.sum / block.count;
  wanted.forEach((place, i) => {
    // Without the gaps, positions only have to ascend.
    blocks.push({ sum: place - i * gap, count: 1 });
    for (let last = blocks.length - 1; last > 0; last--) {
      const [before, own] = [blocks[last - 1], blocks[last]];
      if (!before || !own || at(before) <= at(own)) break;
      before.sum += own.sum;
      before.count += own.count;
      blocks.pop();
    }
  });
  return blocks
    .flatMap((block) => Array<number>(block.count).fill(at(block)))
    .map((place, i) => place + i * gap);
}

const WIDTH = 1100;
const MARGIN = 24;
/** Room for the names of layers. */
const LEFT = 84;
const ROW = 150;
/** The additional distance between hosts of two racks, and of two pods. */
const RACK_GAP = 0.7;
const POD_GAP = 1.6;

export function layeredLayout(network: Network): Layout {
  const rows = orders(network);
  const { length } = network.nodes.level;
  const [x, y] = [new Float64Array(length), new Float64Array(length)];
  const below = neighboursBelow(network);
  const inner = WIDTH - LEFT - MARGIN;
  const height = 2 * MARGIN + (rows.length - 1) * ROW;
  rows.forEach((row, level) => {
    const steps = level === 0 ? hostSteps(network, row) : [];
    const all = (steps[steps.length - 1] ?? 0) + 1;
    const wanted = row.map((node, i) =>
      level === 0 ? LEFT + (((steps[i] ?? 0) + 0.5) / all) * inner : mean(below[node] ?? [], x),
    );
    const places = spread(wanted, level === 0 ? 0 : (0.92 * inner) / row.length);
    row.forEach((node, i) => {
      x[node] = places[i] ?? 0;
      y[node] = height - MARGIN - level * ROW;
    });
  });
  const named = rows.map((row, level) => ({
    name: level === 0 ? "hosts" : rowName(row.map((node) => network.nodes.name[node] ?? "")),
    y: height - MARGIN - level * ROW,
  }));
  return { x, y, width: WIDTH, height, pods: podsOf(network, rows[0] ?? [], x), rows: named.reverse() };
}

/** The positions of hosts in their row, in host widths: racks and pods are separated. */
function hostSteps(network: Network, row: readonly number[]): number[] {
  const { rack, pod } = network.nodes;
  const host = (node: number | undefined) => Math.floor((node ?? 0) / Math.max(1, network.addresses));
  const racks = new Set(rack).size;
  const grouped = racks > 1 && racks < rack.length;
  let at = -1;
  return row.map((node, i) => {
    const [own, before] = [host(node), host(row[i - 1])];
    at += 1;
    if (i > 0 && pod[own] !== pod[before]) at += POD_GAP;
    else if (i > 0 && grouped && rack[own] !== rack[before]) at += RACK_GAP;
    return at;
  });
}

function podsOf(network: Network, hosts: readonly number[], x: Float64Array): Layout["pods"] {
  const spans = new Map<number, { from: number; to: number }>();
  for (const node of hosts) {
    const pod = network.nodes.pod[Math.floor(node / Math.max(1, network.addresses))] ?? 0;
    const at = x[node] ?? 0;
    const known = spans.get(pod) ?? { from: at, to: at };
    spans.set(pod, { from: Math.min(known.from, at), to: Math.max(known.to, at) });
  }
  if (spans.size < 2) return [];
  return [...spans].map(([pod, span]) => ({ name: `pod ${pod}`, ...span }));
}

interface Body extends SimulationNodeDatum {
  x: number;
  y: number;
}

/** At rest, so that it is the same every time it is opened; turned until it is wider than high. */
export function forceLayout(network: Network): Layout {
  const count = network.nodes.level.length;
  // On a circle by their numbers: d3's own start and its jiggle are deterministic too.
  const bodies: Body[] = Array.from({ length: count }, (_, i) => ({
    x: Math.cos((2 * Math.PI * i) / count) * 200,
    y: Math.sin((2 * Math.PI * i) / count) * 200,
  }));
  const links = network.ports.from.flatMap((source, port) => {
    const target = network.ports.to[port] ?? 0;
    return (network.ports.twin[port] ?? -1) < port ? [] : [{ source, target }];
  });
  const steps = count > 1500 ? 120 : 400;
  forceSimulation(bodies)
    .force("link", forceLink(links).distance(60).strength(0.7))
    .force("charge", forceManyBody().strength(-260))
    .force("collide", forceCollide(16))
    .force("x", forceX(0).strength(0.02))
    .force("y", forceY(0).strength(0.02))
    .stop()
    .tick(steps);
  turn(bodies);
  const [left, right] = ends(bodies.map((body) => body.x));
  const [top, bottom] = ends(bodies.map((body) => body.y));
  const scale = Math.min((WIDTH - 8 * MARGIN) / Math.max(1, right - left), 2.2);
  const height = Math.max(160, (bottom - top) * scale) + 3 * MARGIN;
  const shift = (WIDTH - (right - left) * scale) / 2;
  const drop = (height - (bottom - top) * scale) / 2;
  return {
    x: Float64Array.from(bodies, (body) => shift + (body.x - left) * scale),
    y: Float64Array.from(bodies, (body) => drop + (body.y - top) * scale),
    width: WIDTH,
    height,
    pods: [],
    rows: [],
  };
}

function ends(values: readonly number[]): [number, number] {
  return [
    values.reduce((a, b) => Math.min(a, b), Infinity),
    values.reduce((a, b) => Math.max(a, b), -Infinity),
  ];
}

/** Its longest direction is horizontal, with the first node on the left. */
function turn(bodies: Body[]): void {
  const n = bodies.length;
  const [mx, my] = [
    bodies.reduce((sum, one) => sum + one.x, 0) / n,
    bodies.reduce((sum, one) => sum + one.y, 0) / n,
  ];
  let [xx, xy, yy] = [0, 0, 0];
  for (const { x, y } of bodies) {
    xx += (x - mx) ** 2;
    xy += (x - mx) * (y - my);
    yy += (y - my) ** 2;
  }
  const angle = Math.atan2(2 * xy, xx - yy) / 2;
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  for (const body of bodies) {
    const [x, y] = [body.x - mx, body.y - my];
    body.x = x * cos + y * sin;
    body.y = y * cos - x * sin;
  }
  if ((bodies[0]?.x ?? 0) > 0) for (const body of bodies) body.x = -body.x;
}

export function layoutOf(network: Network): Layout {
  return network.layered ? layeredLayout(network) : forceLayout(network);
}
