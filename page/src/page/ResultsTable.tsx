/** The table of results: cases and parts, metrics with their intervals, the published values and the optimum. */
import { useMemo, useState } from "preact/hooks";
import { save } from "../charts/export";
import { csv, type Rows } from "../charts/rows";
import { Scroll } from "../charts/Scroll";
import { runLetter } from "../charts/series";
import { axesOf, axisValue, dimensionName } from "../data/cases";
import { capitalised, percent, ratio, type Scale, scaled, scaleOf } from "../data/format";
import { type Measured, measured, metricOf, partName } from "../data/results";
import { allColumns, columnTitle, defaultColumns } from "./columns";
import { intervals, usePage } from "./context";

interface Column {
  key: string;
  title: string;
  unit: string;
  hint: string;
  numeric: boolean;
  sort: (row: Measured) => number | string | null;
  text: (row: Measured) => string;
  kind?: "aside";
}

/** The possible divisions of rows. */
const DIVISIONS = ["group", "distance", "size", "layer", "window"];

export function ResultsTable() {
  const { head, runs } = usePage();
  const [by, setBy] = useState("");
  const cases = useMemo(() => measured(head, runs, []), [head]);
  const rows = useMemo(() => rowsOf(head, runs, by), [head, by]);
  const defaults = useMemo(() => defaultColumns(head, rows), [head, rows]);
  const [chosen, setChosen] = useState<string[] | null>(null);
  const [order, setOrder] = useState<{ key: string; down: boolean } | null>(null);
  const shown = chosen ?? defaults;
  const columns = useMemo(() => columnsOf(head, rows, shown), [head, rows, shown]);
  const sorted = useMemo(() => {
    const column = columns.find((one) => one.key === order?.key);
    if (!column || !order) return rows;
    return [...rows].sort((a, b) => compared(column.sort(a), column.sort(b)) * (order.down ? -1 : 1));
  }, [rows, columns, order]);
  const divisions = DIVISIONS.filter((part) => measured(head, runs, [part]).length > 0);
  const asRows = (): Rows => exported(sorted, shown, head.runs.length > 1);
  if (cases.length === 0) return <p class="message">No case is complete yet.</p>;
  const press = (key: string) =>
    setOrder((now) => (now?.key !== key ? { key, down: true } : now.down ? { key, down: false } : null));
  return (
    <div class="results">
      <div class="frame-controls" data-no-print>
        <label>
          Rows
          <select value={by} onChange={(event) => setBy(event.currentTarget.value)}>
            <option value="">Cases</option>
            {divisions.map((part) => (
              <option key={part} value={part}>
                by {part}
              </option>
            ))}
          </select>
        </label>
        <Chooser all={allColumns(head, rows)} shown={shown} choose={setChosen} />
        <button type="button" class="quiet" onClick={() => save("results.csv", csv(asRows()), "text/csv")}>
          CSV
        </button>
      </div>
      <Scroll label="Results">
        <table class="wide">
          <thead>
            <tr>
              {columns.map((column) => (
                <th
                  key={column.key}
                  scope="col"
                  class={`${column.numeric ? "n" : "w"} ${column.kind ?? ""}`}
                  aria-sort={
                    order?.key === column.key ? (order.down ? "descending" : "ascending") : undefined
                  }
                >
                  <button type="button" class="sort" title={column.hint} onClick={() => press(column.key)}>
                    {column.title}
                    {column.unit && <span class="unit">{column.unit}</span>}
                  </button>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {sorted.map((row, i) => (
              <tr key={i} class={partName(row) ? "part" : undefined}>
                {columns.map((column) => (
                  <td key={column.key} class={`${column.numeric ? "n" : "w"} ${column.kind ?? ""}`}>
                    {column.text(row)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
      <p class="note">{footnote(head, rows)}</p>
    </div>
  );
}

/** Cases with those parts for which papers printed numbers; or parts. */
function rowsOf(head: Parameters<typeof measured>[0], runs: number[], by: string): Measured[] {
  if (by !== "") return measured(head, runs, [by]);
  const parts = DIVISIONS.slice(0, 4).flatMap((part) => measured(head, runs, [part]));
  const printed = parts.filter((row) => Object.keys(row.published).length > 0);
  return measured(head, runs, []).flatMap((row) => [
    row,
    ...printed.filter((part) => part.result === row.result),
  ]);
}

function columnsOf(head: Parameters<typeof measured>[0], rows: Measured[], metrics: string[]): Column[] {
  const columns: Column[] = [];
  const word = (key: string, title: string, text: (row: Measured) => string) =>
    columns.push({
      key,
      title: capitalised(title),
      unit: "",
      hint: "Sort",
      numeric: false,
      sort: text,
      text,
    });
  if (head.runs.length > 1) word("run", "Run", (row) => runLetter(row.run));
  word("scheme", "Scheme", (row) => row.one.scheme);
  const axes = axesOf(head.runs).filter((axis) => axis !== "scheme" && axis !== "subflows");
  if (axes.length === 0 && rows.some((row) => row.one.case.pattern)) axes.push("pattern");
  for (const axis of axes) word(axis, dimensionName(axis), (row) => axisValue(row.one, axis));
  if (rows.some(partName)) word("part", "Part", partName);
  for (const metric of metrics) columns.push(...metricColumns(head, rows, metric));
  return columns;
}

/** A metric, with the values for comparison next to it. */
function metricColumns(head: Parameters<typeof measured>[0], rows: Measured[], metric: string): Column[] {
  const scale: Scale = scaleOf(
    metric,
    rows.map((row) => metricOf(row, metric)),
  );
  const share = metric.endsWith("_ratio") && /utilisation|miss|offered/.test(metric);
  const write = (value: number | null | undefined) => (share ? percent(value) : scaled(value, scale));
  const hint = head.metrics[metric]?.meaning ?? metric;
  const numeric = true;
  const ci = (row: Measured) => row.ci95[metric] ?? null;
  const paper = (row: Measured) => row.published[metric] ?? null;
  // The optimum for percentiles is in the CSV file: the table has room only for the mean's.
  const optimum = (row: Measured) => (metric.includes("_mean_") ? (row.optimum[metric] ?? null) : null);
  const over = (row: Measured) => {
    const [own, theirs] = [metricOf(row, metric), paper(row)];
    return own === null || theirs === null || theirs === 0 ? null : own / theirs;
  };
  const columns: Column[] = [
    {
      key: metric,
      title: columnTitle(metric),
      unit: share ? "" : scale.unit,
      hint,
      numeric,
      sort: (row) => metricOf(row, metric),
      text: (row) => write(metricOf(row, metric)),
    },
  ];
  const aside = (
    key: string,
    title: string,
    about: string,
    value: (row: Measured) => number | null,
    text = write,
  ) => {
    if (!rows.some((row) => value(row) !== null)) return;
    columns.push({
      key: `${metric}:${key}`,
      title,
      unit: "",
      hint: about,
      numeric,
      kind: "aside",
      sort: value,
      text: (row) => (value(row) === null ? "" : text(value(row))),
    });
  };
  aside("ci95", "±95 %", "Half the width of the 95 % confidence interval", ci);
  aside("paper", "Paper", "The value that the paper printed", paper);
  aside("ratio", "Ratio", "Ours over the paper’s", over, ratio);
  aside("optimum", "Optimum", "The value that the controller claims to reach", optimum);
  if (metric === "goodput_mean_bps") {
    const apart = (row: Measured) => row.optimum.goodput_distance_mean ?? null;
    aside("apart", "Apart", "Mean distance of the flows from their optimum", apart, (value) =>
      percent(value),
    );
  }
  return columns;
}

function compared(a: number | string | null, b: number | string | null): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  if (a === null || b === null) return (a === null ? -1 : 0) - (b === null ? -1 : 0);
  return String(a).localeCompare(String(b), "en", { numeric: true });
}

function Chooser(props: { all: string[]; shown: string[]; choose: (next: string[] | null) => void }) {
  const { all, shown, choose } = props;
  const toggle = (metric: string) =>
    choose(shown.includes(metric) ? shown.filter((one) => one !== metric) : [...shown, metric]);
  return (
    <details class="chooser">
      <summary>Columns</summary>
      <fieldset>
        <legend class="visually-hidden">Metrics to show</legend>
        {all.map((metric) => (
          <label key={metric}>
            <input type="checkbox" checked={shown.includes(metric)} onChange={() => toggle(metric)} />{" "}
            {columnTitle(metric)}
          </label>
        ))}
        <button type="button" onClick={() => choose(null)}>
          Default columns
        </button>
      </fieldset>
    </details>
  );
}

function footnote(head: Parameters<typeof measured>[0], rows: Measured[]): string {
  const said = new Set<string>();
  if (rows.some((row) => Object.keys(row.ci95).length > 0))
    said.add(`±95 %: half of the ${intervals(head)}.`);
  if (rows.some((row) => Object.keys(row.published).length > 0)) said.add("Ratio: ours over the paper’s.");
  const schemes = new Set(rows.map((row) => row.one.scheme));
  const without = new Map<string, Set<string>>();
  for (const { one, result } of rows) {
    if (!result.no_optimum) continue;
    without.set(result.no_optimum, (without.get(result.no_optimum) ?? new Set()).add(one.scheme));
  }
  for (const [reason, own] of without) {
    said.add(`No optimum${own.size < schemes.size ? ` of ${[...own].join(", ")}` : ""}: ${reason}.`);
  }
  return [...said].join(" ");
}

function exported(rows: Measured[], metrics: string[], several: boolean): Rows {
  const axes = [...new Set(rows.flatMap((row) => Object.keys(row.one.case)))];
  const columns = [...(several ? ["run"] : []), ...axes, "part"];
  for (const metric of metrics)
    columns.push(metric, `ci95_${metric}`, `published_${metric}`, `optimum_${metric}`);
  return {
    columns,
    rows: rows.map((row) => [
      ...(several ? [runLetter(row.run)] : []),
      ...axes.map((axis) => row.one.case[axis] ?? null),
      partName(row) || null,
      ...metrics.flatMap((metric) => [
        metricOf(row, metric),
        row.ci95[metric] ?? null,
        row.published[metric] ?? null,
        row.optimum[metric] ?? null,
      ]),
    ]),
  };
}
