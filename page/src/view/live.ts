/** The list of runs of `tresse view`, as it changes: by events, or by polling if events do not arrive. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { RunList, RunSummary } from "../data/contract";

/** How often the list is requested without events, in milliseconds. */
const POLL = 3000;
/** The shortest interval between readings of a page of a run in progress. */
export const REREAD = 2000;

export type Connection = "connecting" | "live" | "polling" | "lost";

export interface Listener {
  list: (list: RunList) => void;
  connection: (connection: Connection) => void;
}

/** The browser's parts, which tests can replace. */
export interface Means {
  fetch: (address: string) => Promise<{ ok: boolean; json: () => Promise<unknown> }>;
  events: ((address: string) => EventSource) | null;
}

const browser: Means = {
  fetch: (address) => fetch(address, { cache: "no-store" }),
  events: typeof EventSource === "undefined" ? null : (address) => new EventSource(address),
};

function isRunList(value: unknown): value is RunList {
  return typeof value === "object" && value !== null && Array.isArray((value as RunList).runs);
}

/** Reports the list until it is stopped. `base` is the address of the program: empty, or ending with `/`. */
export function follow(base: string, listener: Listener, means: Means = browser): () => void {
  let stopped = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let events: EventSource | null = null;
  let polls = means.events === null;
  const ask = async () => {
    try {
      const answer = await means.fetch(`${base}api/runs`);
      const list: unknown = answer.ok ? await answer.json() : null;
      if (stopped) return;
      if (!isRunList(list)) throw new Error("no list");
      listener.list(list);
      if (polls) listener.connection("polling");
    } catch {
      if (!stopped) listener.connection("lost");
    }
    if (!stopped && polls) timer = setTimeout(ask, POLL);
  };
  const poll = () => {
    if (polls || stopped) return;
    polls = true;
    void ask();
  };
  const unpoll = () => {
    polls = false;
    clearTimeout(timer);
  };
  listener.connection("connecting");
  if (means.events) {
    events = means.events(`${base}api/events`);
    events.addEventListener("open", () => {
      unpoll();
      listener.connection("live");
    });
    events.addEventListener("runs", (event) => {
      const list: unknown = JSON.parse((event as MessageEvent<string>).data);
      if (isRunList(list)) listener.list(list);
    });
    // The browser reconnects automatically; until then, the list is polled.
    events.addEventListener("error", poll);
  }
  void ask();
  return () => {
    stopped = true;
    clearTimeout(timer);
    events?.close();
  };
}

export interface Runs {
  list: RunList | null;
  connection: Connection;
}

export function useRuns(base: string): Runs {
  const [runs, setRuns] = useState<Runs>({ list: null, connection: "connecting" });
  useEffect(
    () =>
      follow(base, {
        list: (list) => setRuns((before) => ({ ...before, list })),
        connection: (connection) => setRuns((before) => ({ ...before, connection })),
      }),
    [base],
  );
  return runs;
}

/** The state that shows a reader of a run's page that there is something new. */
export function fingerprint(run: RunSummary): string {
  const { state, cases, wall_s, packet_hops, progress, error } = run;
  return JSON.stringify([
    state,
    cases,
    wall_s,
    packet_hops,
    progress?.done_ratio,
    progress?.replications_done,
    progress?.packet_hops,
    error,
  ]);
}

export interface LivePage {
  /** Counts up when head and tables should be read again: at most every two seconds. */
  version: number;
  /** The runs of the page that no longer exist. */
  gone: string[];
  connection: Connection;
  /** Their current entries in the list, for progress between two readings. */
  summaries: RunSummary[];
}

/** Follows the runs of an open page. `on` is false for a page on disk, which has no server. */
export function useLivePage(ids: readonly string[], on: boolean, base = ""): LivePage {
  const [page, setPage] = useState<LivePage>({
    version: 0,
    gone: [],
    connection: "connecting",
    summaries: [],
  });
  const seen = useRef<{ print: string; at: number; timer?: ReturnType<typeof setTimeout> }>({
    print: "",
    at: 0,
  });
  const key = ids.join("\n");
  useEffect(() => {
    if (!on) return;
    const own = seen.current;
    own.print = "";
    const bump = () => {
      own.at = Date.now();
      own.timer = undefined;
      setPage((before) => ({ ...before, version: before.version + 1 }));
    };
    const stop = follow(base, {
      connection: (connection) => setPage((before) => ({ ...before, connection })),
      list: ({ runs }) => {
        const wanted = key.split("\n");
        const summaries = runs.filter((run) => wanted.includes(run.id));
        const gone = wanted.filter((id) => !summaries.some((run) => run.id === id));
        setPage((before) => ({ ...before, summaries, gone }));
        const print = summaries.map(fingerprint).join("\n");
        const first = own.print === "";
        if (print === own.print) return;
        own.print = print;
        if (!first) own.timer ??= setTimeout(bump, Math.max(0, own.at + REREAD - Date.now()));
      },
    });
    return () => {
      stop();
      clearTimeout(own.timer);
      own.timer = undefined;
    };
  }, [key, on, base]);
  return page;
}
