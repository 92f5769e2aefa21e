import { describe, expect, it } from "vitest";
import type { Network } from "../src/data/contract";
import { decodeTable } from "../src/data/table";
import { forceLayout, layeredLayout, orders, rowName, spread } from "../src/fabric/layout";
import { metricIn, shownOf } from "../src/fabric/model";
import { flowItems, isWay, waysOf } from "../src/fabric/paths";
import { colourOf, endOf } from "../src/fabric/scale";
import { distance, label, Scene } from "../src/fabric/scene";
import { histogram, Intervals, totalsOf } from "../src/fabric/values";
import type { SubflowSeries } from "../src/time/series";
import { ipc } from "./fixture";

/** A fat tree of `k` ports: hosts, edge, aggregation and core switches, numbered as the program does. */
function fatTree(k: number): Network {
  const half = k / 2;
  const [hosts, edges, cores] = [(k * k * k) / 4, (k * k) / 2, (k * k) / 4];
  const edge = (i: number) => hosts + i;
  const aggregation = (i: number) => hosts + edges + i;
  const core = (i: number) => hosts + 2 * edges + i;
  const links: [number, number, number][] = [];
  for (let host = 0; host < hosts; host++) links.push([host, edge(Math.floor(host / half)), 0]);
  for (let i = 0; i < edges; i++) {
    for (let j = 0; j < half; j++) links.push([edge(i), aggregation(Math.floor(i / half) * half + j), 1]);
  }
  for (let i = 0; i < edges; i++) {
    for (let j = 0; j < half; j++) links.push([aggregation(i), core((i % half) * half + j), 2]);
  }
  const both = links.flatMap(
    ([a, b, layer]) =>
      [
        [a, b, layer],
        [b, a, layer],
      ] as const,
  );
  const names = (word: string, count: number) => Array.from({ length: count }, (_, i) => `${word} ${i}`);
  return {
    nodes: {
      name: [
        ...names("host", hosts),
        ...names("edge", edges),
        ...names("aggregation", edges),
        ...names("core", cores),
      ],
      level: [hosts, edges, edges, cores].flatMap((count, level) => Array<number>(count).fill(level)),
      rack: Array.from({ length: hosts }, (_, i) => Math.floor(i / half)),
      pod: Array.from({ length: hosts }, (_, i) => Math.floor(i / (half * half))),
    },
    hosts,
    addresses: 1,
    layered: true,
    layers: ["rack", "aggregation", "core"],
    ports: {
      from: both.map(([a]) => a),
      to: both.map(([, b]) => b),
      layer: both.map(([, , layer]) => layer),
      twin: both.map((_, port) => port ^ 1),
      rate_bps: both.map(() => 1e9),
      delay_ps: both.map(() => 1e6),
      queue: both.map(() => "100pkt"),
      mark: both.map(() => "10pkt"),
    },
  };
}

describe("layers", () => {
  const network = fatTree(4);

  it("keep pods and racks together, in natural order", () => {
    const [hosts, edges, aggregations, cores] = orders(network);
    expect(hosts).toEqual(Array.from({ length: 16 }, (_, i) => i));
    expect(edges).toEqual([16, 17, 18, 19, 20, 21, 22, 23]);
    expect(aggregations).toEqual([24, 25, 26, 27, 28, 29, 30, 31]);
    expect(cores).toEqual([32, 33, 34, 35]);
  });

  it("follow what is below, not the numbers", () => {
    const turned = structuredClone(network);
    turned.nodes.pod = turned.nodes.pod.map((pod) => 3 - pod);
    expect(orders(turned)[1]).toEqual([22, 23, 20, 21, 18, 19, 16, 17]);
  });

  it("stand above each other, hosts at the bottom, none on another", () => {
    const { x, y, rows, pods } = layeredLayout(network);
    expect(rows.map((row) => row.name)).toEqual(["core", "aggregation", "edge", "hosts"]);
    expect(y[0]).toBeGreaterThan(y[16] as number);
    expect(x[16]).toBeCloseTo(((x[0] as number) + (x[1] as number)) / 2, 0);
    expect(pods.map((pod) => pod.name)).toEqual(["pod 0", "pod 1", "pod 2", "pod 3"]);
    const row = [...x.slice(24, 32)];
    expect(row.every((place, i) => i === 0 || place > (row[i - 1] as number))).toBe(true);
  });

  it("have the name that their nodes share", () => {
    expect(rowName(["edge 1", "edge 12"])).toBe("edge");
    expect(rowName(["left", "right"])).toBe("");
  });

  it("are laid out in no time for 1024 hosts", () => {
    const large = fatTree(16);
    expect(large.ports.from).toHaveLength(6144);
    const began = performance.now();
    new Scene(large, layeredLayout(large));
    expect(performance.now() - began).toBeLessThan(1000);
  });

  it("spread what is too close around where it wants to be", () => {
    expect(spread([0, 10], 2)).toEqual([0, 10]);
    expect(spread([5, 5, 5], 2)).toEqual([3, 5, 7]);
    expect(spread([0, 5, 5.5, 20], 1)).toEqual([0, 4.75, 5.75, 20]);
  });
});

describe("a network without layers", () => {
  it("is the same every time, and wider than high", () => {
    const ring = fatTree(4);
    const [a, b] = [forceLayout(ring), forceLayout(ring)];
    expect([...a.x]).toEqual([...b.x]);
    expect(a.x.every((value) => value >= 0 && value <= a.width)).toBe(true);
    expect(a.y.every((value) => value >= 0 && value <= a.height)).toBe(true);
  });
});

describe("what ports did", () => {
  const network = fatTree(4);
  const links = decodeTable(
    ipc({
      case: { kind: "u32", values: [0, 0, 1] },
      seed: { kind: "f64", values: [1, 1, 1] },
      port: { kind: "f64", values: [0, 1, 0] },
      rate_bps: { kind: "f64", values: [1e9, 1e9, 1e9] },
      carried_bytes: { kind: "f64", values: [125e6, 25e6, 1] },
      duration_ps: { kind: "f64", values: [2e12, 2e12, 2e12] },
      drops: { kind: "f64", values: [0, 3, 0] },
      marks: { kind: "f64", values: [7, 0, 0] },
    }),
  );
  const totals = totalsOf(links, { case: 0, seed: 1 }, network.ports.from.length);

  it("is what they carried over what they can", () => {
    expect(totals[0]).toMatchObject({ utilisation_ratio: 0.5, marks: 7, lost: 0 });
    expect(totals[1]?.utilisation_ratio).toBeCloseTo(0.1);
    expect(totals[2]).toBeNull();
  });

  it("is drawn with the greatest last, and nothing where nothing is known", () => {
    const shown = shownOf(network, "drops", totals, null, null, 1);
    expect([shown.most, shown.order.at(-1), shown.shares[1]]).toEqual([5, 1, 0.6]);
    expect(shown.values[2]).toBeNaN();
  });

  it("is zero in an interval without a row", () => {
    const queues = decodeTable(
      ipc({
        start_ps: { kind: "f64", delta: true, values: [0, 2e12, -2e12] },
        duration_ps: { kind: "f64", values: [1e12, 1e12, 1e12] },
        busy_ps: { kind: "f64", values: [5e11, 1e12, 0] },
        waiting_pkts: { kind: "f64", values: [3, 9, 1] },
      }),
    );
    const of = (port: number, offset: number, rows: number) => ({
      case: 0,
      seed: 1,
      round: 0,
      port,
      layer: "",
      offset,
      rows,
    });
    const intervals = new Intervals(queues, [of(0, 0, 2), of(5, 2, 1)], network);
    expect([intervals.count, intervals.from, intervals.to]).toEqual([3, 0, 3]);
    const at = (port: number, interval: number) => intervals.value(port, intervals.at(interval), "queue");
    expect([at(0, 0), at(0, 1), at(0, 2), at(5, 0), at(5, 1), at(8, 0)]).toEqual([3, 0, 9, 1, 0, 0]);
    expect(intervals.value(0, 0.5, "utilisation")).toBe(0.5);
  });

  it("of an interval is queue or utilisation only", () => {
    expect([metricIn("drops", 3), metricIn("queue", null), metricIn("queue", 3)]).toEqual([
      "utilisation",
      "utilisation",
      "queue",
    ]);
  });

  it("is counted in bins, the greatest in the last", () => {
    expect(histogram([0, 0.1, 0.5, 1, Number.NaN], 1, 4)).toEqual([2, 0, 1, 1]);
  });
});

describe("ways", () => {
  const network = fatTree(4);
  const flows = decodeTable(
    ipc({
      case: { kind: "u32", values: [0, 0, 1] },
      seed: { kind: "f64", values: [1, 1, 1] },
      round: { kind: "f64", values: [0, 1, 0] },
      group: { kind: "text", values: ["", "", ""] },
      flow: { kind: "f64", values: [0, 0, 0] },
      from: { kind: "f64", values: [0, 0, 0] },
      to: { kind: "f64", values: [1, 2, 1] },
    }),
  );
  const scope = { case: 0, seed: 1 };
  const [item] = flowItems(flows, scope, network);
  if (!item) throw new Error("a flow");
  const series = (path: number[] | null): SubflowSeries => ({
    ...scope, round: 0, group: "", flow: 0, from: 0, to: 1, subflow: 0, offset: 0, rows: 1, path,
  }); // biome-ignore format: a line

  it("are of flows with their hosts, and rounds if there are several", () => {
    expect(flowItems(flows, scope, network).map((one) => one.name)).toEqual([
      "flow 0: host 0 → host 1, round 0",
      "flow 0: host 0 → host 2, round 1",
    ]);
  });

  it("are drawn if they lead through the network", () => {
    expect(isWay([0, 3], network)).toBe(true);
    expect(isWay([0, 5], network)).toBe(false);
    expect(isWay([999_999], network)).toBe(false);
    const ways = waysOf(item, scope, [series([0, 3]), { ...series(null), subflow: 1 }], network);
    expect(ways).toEqual({ state: "known", subflows: [{ subflow: 0, ports: [0, 3] }], unknown: 1 });
  });

  it("are said to be unknown if they are", () => {
    for (const none of [null, [], [series(null)], [series([0, 5])]]) {
      expect(waysOf(item, scope, none, network).state).toBe("unknown");
    }
  });
});

describe("the drawing", () => {
  it("finds the direction under the pointer: each keeps to its right", () => {
    const network = fatTree(4);
    const scene = new Scene(network, layeredLayout(network));
    const view = { k: 2, x: 0, y: 0 };
    const [x0, y0, x1, y1] = scene.ends(0, view, 3);
    const middle = [(x0 + x1) / 2, (y0 + y1) / 2] as const;
    expect(scene.hit(...middle, view)).toEqual({ kind: "port", port: 0 });
    expect(scene.hit(-500, -500, view)).toBeNull();
    const host = [(scene.layout.x[3] ?? 0) * 2, (scene.layout.y[3] ?? 0) * 2] as const;
    expect(scene.hit(...host, view)).toEqual({ kind: "node", node: 3 });
  });

  it("writes as much of names as a row has room for", () => {
    expect(label("edge 12", 80, 7, false)).toBe("edge 12");
    expect(label("edge 12", 30, 7, false)).toBe("12");
    expect(label("edge 12", 8, 7, false)).toBe("");
    expect(label("DN1 out", 5, 7, true)).toBe("DN1 out");
  });

  it("knows how far a line is", () => {
    expect(distance(5, 3, 0, 0, 10, 0)).toBe(3);
    expect(distance(-3, 4, 0, 0, 10, 0)).toBe(5);
    expect(distance(3, 4, 0, 0, 0, 0)).toBe(5);
  });

  it("has colours from one end to the other in both themes", () => {
    expect(colourOf(0, false)).not.toBe(colourOf(1, false));
    expect(colourOf(2, true)).toBe(colourOf(1, true));
    expect(colourOf(Number.NaN, true)).toBe(colourOf(0, true));
    expect([endOf(0), endOf(3), endOf(50), endOf(51)]).toEqual([1, 5, 50, 100]);
  });
});
