/** The runs of a folder: search, sort, open and compare. Follows runs in progress. */
import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { RunState, RunSummary } from "../data/contract";
import { ThemeToggle } from "../page/theme";
import { type Column, countsOf, filtered, type Order, pageOf, STATES, sorted, vanished } from "./list";
import { type Connection, useRuns } from "./live";
import { Row } from "./Row";
import "./view.css";

/** The number of rows at first, and of further rows whenever their end gets close. */
const PART = 100;

const COLUMNS: { column: Column; title: string; number?: boolean }[] = [
  { column: "experiment", title: "Experiment" },
  { column: "schemes", title: "Schemes" },
  { column: "state", title: "Status" },
  { column: "date", title: "Date" },
  { column: "wall", title: "Time", number: true },
  { column: "cases", title: "Cases", number: true },
  { column: "headline", title: "Result" },
  { column: "claims", title: "Claims" },
];

const CONNECTIONS: Record<Connection, string> = {
  connecting: "Connecting …",
  live: "",
  polling: "Events do not arrive, so the list is fetched every few seconds.",
  lost: "No connection to tresse view: this page may be out of date. It will reconnect automatically.",
};

export function RunsView({ base = "" }: { base?: string }) {
  const { list, connection } = useRuns(base);
  const [search, setSearch] = useState("");
  const [states, setStates] = useState<ReadonlySet<RunState>>(new Set());
  const [order, setOrder] = useState<Order>({ column: "date", descending: true });
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const [upTo, setUpTo] = useState(PART);
  const [note, setNote] = useState("");
  const before = useRef<RunSummary[]>([]);

  useEffect(() => {
    document.title = "Runs · Tresse";
  }, []);
  useEffect(() => {
    if (!list) return;
    const gone = vanished(before.current, list.runs);
    before.current = list.runs;
    if (gone.length === 0) return;
    setNote(
      gone.length === 1
        ? `${gone[0]} is no longer in the folder.`
        : `${gone.length} runs are no longer in the folder.`,
    );
    setChosen((ids) => ids.filter((id) => !gone.includes(id)));
  }, [list]);

  const runs = list?.runs ?? [];
  const found = useMemo(() => filtered(runs, search, states), [runs, search, states]);
  const shown = useMemo(() => sorted(found, order), [found, order]);
  const counts = useMemo(() => countsOf(runs), [runs]);
  useEffect(() => setUpTo(PART), [search, states, order]);
  const choose = useCallback((id: string, on: boolean) => {
    setChosen((ids) => (on ? [...ids.filter((one) => one !== id), id] : ids.filter((one) => one !== id)));
  }, []);
  const toggle = (state: RunState) => {
    const next = new Set(states);
    if (!next.delete(state)) next.add(state);
    setStates(next);
  };
  const sortBy = (column: Column) =>
    setOrder((now) =>
      now.column === column
        ? { column, descending: !now.descending }
        : { column, descending: !["experiment", "schemes", "state"].includes(column) },
    );
  return (
    <main class="runs">
      <header class="runs-head">
        <div>
          <h1>Runs</h1>
          <p class="muted">
            {list ? `${runs.length} in ${list.dir}` : "Reading the folder …"} {CONNECTIONS[connection]}
          </p>
        </div>
        <ThemeToggle />
      </header>
      <div class="runs-tools">
        <input
          type="search"
          placeholder="Search experiment, title, scheme, status …"
          aria-label="Search runs"
          value={search}
          onInput={(event) => setSearch(event.currentTarget.value)}
        />
        <fieldset class="runs-states">
          <legend class="visually-hidden">Status</legend>
          {(Object.keys(STATES) as RunState[])
            .filter((state) => counts.has(state) || states.has(state))
            .map((state) => (
              <button
                key={state}
                type="button"
                aria-pressed={states.has(state)}
                onClick={() => toggle(state)}
              >
                {STATES[state]} <span class="muted">{counts.get(state) ?? 0}</span>
              </button>
            ))}
        </fieldset>
        <div class="runs-compare">
          {chosen.length > 0 && (
            <button type="button" class="quiet" onClick={() => setChosen([])}>
              Choose none
            </button>
          )}
          <button
            type="button"
            class="runs-go"
            disabled={chosen.length < 2}
            onClick={() => {
              location.hash = pageOf(chosen);
            }}
          >
            {chosen.length < 2 ? "Compare" : `Compare ${chosen.length} runs`}
          </button>
        </div>
      </div>
      <p class="runs-note" role="status" aria-live="polite">
        {note}
      </p>
      {list && runs.length === 0 && (
        <p class="message">
          There is no run in this folder yet. <code>tresse run xmp/fig4</code> makes one in <code>runs/</code>
          ; it appears here automatically.
        </p>
      )}
      {runs.length > 0 && shown.length === 0 && (
        <p class="message">No run matches these words and this status.</p>
      )}
      {shown.length > 0 && (
        <div class="scroll">
          <table class="runs-table">
            <caption class="visually-hidden">
              {shown.length} of {runs.length} runs
            </caption>
            <thead>
              <tr>
                <th scope="col">
                  <span class="visually-hidden">Compare</span>
                </th>
                {COLUMNS.map(({ column, title, number }) => {
                  const own = order.column === column;
                  return (
                    <th
                      key={column}
                      scope="col"
                      class={number ? "n" : undefined}
                      aria-sort={own ? (order.descending ? "descending" : "ascending") : "none"}
                    >
                      <button type="button" onClick={() => sortBy(column)}>
                        {title}
                      </button>
                    </th>
                  );
                })}
              </tr>
            </thead>
            <tbody>
              {shown.slice(0, upTo).map((run) => (
                <Row key={run.id} run={run} chosen={chosen.includes(run.id)} onChoose={choose} />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {shown.length > upTo && <More left={shown.length - upTo} onMore={() => setUpTo((now) => now + PART)} />}
    </main>
  );
}

/** The end of the list: more rows come when it is visible, or on request. */
function More({ left, onMore }: { left: number; onMore: () => void }) {
  const end = useRef<HTMLButtonElement>(null);
  const latest = useRef(onMore);
  latest.current = onMore;
  useEffect(() => {
    const own = end.current;
    if (!own) return;
    const observer = new IntersectionObserver(
      (entries) => entries.some((entry) => entry.isIntersecting) && latest.current(),
      { rootMargin: "800px" },
    );
    observer.observe(own);
    return () => observer.disconnect();
  }, [left]);
  return (
    <button ref={end} type="button" class="quiet" onClick={onMore}>
      {left} more
    </button>
  );
}
