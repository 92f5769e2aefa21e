import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { RunList, RunState, RunSummary } from "../src/data/contract";
import { countsOf, filtered, pageOf, sorted, vanished } from "../src/view/list";
import { type Connection, fingerprint, follow, type Means } from "../src/view/live";

function run(id: string, wish: Partial<RunSummary> = {}): RunSummary {
  return {
    id,
    experiment: "xmp/table1",
    title: "Goodput",
    schemes: ["xmp-2"],
    profile: "quick",
    seed: 1,
    replications: 1,
    state: "complete",
    date: "2026-01-01T00:00:00Z",
    wall_s: 1,
    packet_hops: 1,
    cases: 1,
    claims: { hold: 0, fail: 0, inconclusive: 0 },
    headline: null,
    ...wish,
  };
}

const ids = (runs: RunSummary[]) => runs.map((one) => one.id);

describe("the list", () => {
  const runs = [
    run("run-10", { date: "2026-03-01T00:00:00Z", wall_s: 5, claims: { hold: 3, fail: 0, inconclusive: 0 } }),
    run("run-2", { schemes: ["dctcp-1", "lia-4"], state: "killed", title: "<script>alert(1)</script>" }),
    run("run-1", { date: "nothing", experiment: "opn/fig4", state: "under-way" }),
  ];

  it("is searched by words in what a reader knows of a run", () => {
    expect(ids(filtered(runs, "LIA table1", new Set()))).toEqual(["run-2"]);
    expect(ids(filtered(runs, "in progress", new Set()))).toEqual(["run-1"]);
    expect(ids(filtered(runs, "<script>", new Set()))).toEqual(["run-2"]);
    expect(filtered(runs, "", new Set())).toHaveLength(3);
  });

  it("is filtered by status", () => {
    expect(ids(filtered(runs, "", new Set<RunState>(["killed", "under-way"])))).toEqual(["run-2", "run-1"]);
    expect(countsOf(runs).get("complete")).toBe(1);
  });

  it("is sorted by every column, in natural order, what has no value last", () => {
    expect(ids(sorted(runs, { column: "date", descending: true }))).toEqual(["run-10", "run-2", "run-1"]);
    expect(ids(sorted(runs, { column: "date", descending: false }))).toEqual(["run-2", "run-10", "run-1"]);
    expect(ids(sorted(runs, { column: "wall", descending: false }))).toEqual(["run-1", "run-2", "run-10"]);
    expect(ids(sorted(runs, { column: "claims", descending: true }))[0]).toBe("run-10");
    expect(ids(sorted(runs, { column: "experiment", descending: false }))).toEqual([
      "run-1",
      "run-2",
      "run-10",
    ]);
    expect(ids(sorted(runs, { column: "schemes", descending: false }))[0]).toBe("run-2");
    expect(ids(sorted(runs, { column: "state", descending: false }))[0]).toBe("run-1");
  });

  it("leaves what it was given as it was", () => {
    const before = ids(runs);
    sorted(runs, { column: "date", descending: true });
    expect(ids(runs)).toEqual(before);
  });

  it("has addresses whose names may be anything", () => {
    expect(pageOf(["a/b 1", "c&d"])).toBe("#/run?run=a%2Fb%201&run=c%26d");
    expect(new URLSearchParams(pageOf(["c&d", "e"]).slice(6)).getAll("run")).toEqual(["c&d", "e"]);
  });

  it("tells what is gone", () => {
    expect(vanished(runs, runs.slice(1))).toEqual(["run-10"]);
    expect(vanished([], runs)).toEqual([]);
  });

  it("sees what changes in a run under way", () => {
    const progress = {
      done_ratio: 0.1,
      elapsed_s: 1,
      left_s: 9,
      packet_hops: 1,
      replications_done: 0,
      replications: 2,
      schemes: ["xmp-2"],
    };
    const before = run("a", { state: "under-way", progress });
    expect(fingerprint(before)).toBe(
      fingerprint(run("a", { state: "under-way", progress: { ...progress, left_s: 8 } })),
    );
    expect(fingerprint(before)).not.toBe(
      fingerprint(run("a", { state: "under-way", progress: { ...progress, packet_hops: 2 } })),
    );
    expect(fingerprint(before)).not.toBe(fingerprint(run("a", { ...before, state: "complete" })));
  });
});

describe("following", () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  const list = (...runs: RunSummary[]): RunList => ({ schema: "tresse/view/1", dir: "runs", runs });
  function followed(means: Partial<Means>) {
    const lists: RunList[] = [];
    const connections: Connection[] = [];
    const stop = follow(
      "",
      { list: (one) => lists.push(one), connection: (one) => connections.push(one) },
      { fetch: async () => ({ ok: true, json: async () => list(run("a")) }), events: null, ...means },
    );
    return { lists, connections, stop };
  }

  it("asks again and again where there are no events", async () => {
    const { lists, connections, stop } = followed({});
    await vi.advanceTimersByTimeAsync(6500);
    stop();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(lists).toHaveLength(3);
    expect(connections).toContain("polling");
  });

  it("says when there is no connection, and goes on when it is back", async () => {
    let there = false;
    const fetch = async () => {
      if (!there) throw new Error("refused");
      return { ok: true, json: async () => list() };
    };
    const { lists, connections, stop } = followed({ fetch });
    await vi.advanceTimersByTimeAsync(3500);
    expect(connections.at(-1)).toBe("lost");
    there = true;
    await vi.advanceTimersByTimeAsync(3500);
    stop();
    expect(connections.at(-1)).toBe("polling");
    expect(lists).toHaveLength(1);
  });

  it("hears events, and asks while they do not come through", async () => {
    const events = new EventTarget();
    let closed = false;
    const source = Object.assign(events, {
      close: () => {
        closed = true;
      },
    }) as unknown as EventSource;
    const { lists, connections, stop } = followed({ events: () => source });
    events.dispatchEvent(new Event("open"));
    await vi.advanceTimersByTimeAsync(10);
    expect(connections.at(-1)).toBe("live");
    events.dispatchEvent(new MessageEvent("runs", { data: JSON.stringify(list(run("a"), run("b"))) }));
    expect(lists.at(-1)?.runs).toHaveLength(2);
    const before = lists.length;
    events.dispatchEvent(new Event("error"));
    await vi.advanceTimersByTimeAsync(3500);
    expect(lists.length).toBeGreaterThan(before);
    events.dispatchEvent(new Event("open"));
    const after = lists.length;
    await vi.advanceTimersByTimeAsync(30_000);
    expect(lists.length).toBeLessThanOrEqual(after + 1);
    stop();
    expect(closed).toBe(true);
  });

  it("takes nothing that is not a list", async () => {
    const { lists, connections, stop } = followed({
      fetch: async () => ({ ok: true, json: async () => ({ error: "no" }) }),
    });
    await vi.advanceTimersByTimeAsync(10);
    stop();
    expect(lists).toEqual([]);
    expect(connections.at(-1)).toBe("lost");
  });
});
