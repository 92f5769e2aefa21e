/** The legend of the panels, with the values under the pointer; without a pointer, the means over the visible range. */
import { useEffect, useRef } from "preact/hooks";
import { Key } from "../charts/legend";
import { formatted, scaled } from "../data/format";
import { type Trace, valueAt } from "./decimate";
import { meanOver } from "./mean";
import { timeScale } from "./plot";
import type { Instant, TimeRange } from "./range";
import { METRICS, PS, type TimeMetric } from "./traces";

export interface ReadoutLine {
  key: string;
  name: string;
  colour: string;
  dash: string;
  /** In the order of the columns; null if it has none. */
  traces: (Trace | null)[];
}

export interface ReadoutProps {
  /** The kind of the lines: "Flows". */
  what: string;
  lines: ReadoutLine[];
  metrics: TimeMetric[];
  range: TimeRange;
  instant: Instant;
  onHighlight: (key: string | null) => void;
  /** Whether the page has only the longest queue of several intervals, whose mean is not the mean queue. */
  longest?: boolean;
}

export function shown(metric: TimeMetric, value: number): string {
  if (Number.isNaN(value)) return "–";
  return METRICS[metric].percent ? `${(value * 100).toFixed(1)} %` : formatted(metric, value, 3);
}

/** `2 to 4 s`: both ends in the scale of the range. */
export function stretch(range: { from: number; to: number }): string {
  const scale = timeScale(range.from, range.to);
  const decimals = Math.max(0, Math.ceil(2.5 - Math.log10((range.to - range.from) / scale.factor)));
  const text = (at: number) => String(Number(scaled(at, { ...scale, decimals }).replace(/\s/g, "")));
  return `${text(range.from)} to ${text(range.to)} ${scale.unit}`;
}

export function Readout({ what, lines, metrics, range, instant, onHighlight, longest }: ReadoutProps) {
  const body = useRef<HTMLTableSectionElement>(null);
  const head = useRef<HTMLTableCellElement>(null);
  // Written to the cells directly: a move of the pointer does not change the tree of the page.
  useEffect(() => {
    let asked = 0;
    let settle: ReturnType<typeof setTimeout> | undefined;
    const write = (value: (trace: Trace) => number, title: string) => {
      if (head.current) head.current.textContent = title;
      const cells = body.current?.querySelectorAll("td.n");
      for (const [i, line] of lines.entries()) {
        for (const [j, trace] of line.traces.entries()) {
          const cell = cells?.[i * metrics.length + j];
          const metric = metrics[j];
          if (cell && metric) cell.textContent = trace ? shown(metric, value(trace)) : "–";
        }
      }
    };
    const means = () => {
      const [from, to] = [range.from / PS, range.to / PS];
      write((trace) => meanOver(trace, from, to), `mean of ${stretch(range)}`);
    };
    const now = () => {
      asked = 0;
      const { at } = instant;
      if (at === null) means();
      else write((trace) => valueAt(trace, at / PS), `at ${formatted("at_s", at, 5)}`);
    };
    const ask = () => {
      asked ||= requestAnimationFrame(now);
    };
    const settled = () => {
      clearTimeout(settle);
      settle = setTimeout(ask, 120);
    };
    now();
    const stops = [instant.listen(ask), range.listen(settled)];
    return () => {
      cancelAnimationFrame(asked);
      clearTimeout(settle);
      for (const stop of stops) stop();
    };
  }, [lines, metrics, range, instant]);
  return (
    <div class="scroll time-readout">
      <table>
        <thead>
          <tr>
            <th scope="col">
              {what} <span ref={head} class="time-when" />
            </th>
            {metrics.map((metric) => (
              <th key={metric} scope="col" class="n">
                {longest && metric === "waiting_pkts" ? "Longest queue" : METRICS[metric].short}
              </th>
            ))}
          </tr>
        </thead>
        <tbody ref={body} onPointerLeave={() => onHighlight(null)}>
          {lines.map((line) => (
            <tr key={`${line.key} ${line.name}`} onPointerEnter={() => onHighlight(line.key)}>
              <th scope="row">
                <Key item={{ label: line.name, colour: line.colour, dash: line.dash }} />
                {line.name}
              </th>
              {metrics.map((metric) => (
                <td key={metric} class="n" />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
