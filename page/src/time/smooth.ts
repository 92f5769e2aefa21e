/** Smoothed lines: the mean over a window around each instant, with what was sampled behind it. */
import { formatted } from "../data/format";
import type { Choice } from "../page/controls";
import { firstEndingAfter, type Trace, valueAt } from "./decimate";
import { meanOver } from "./mean";
import type { PanelLine } from "./plot";
import { PS } from "./traces";

/** Windows, as shares of the figure's time. */
export const WINDOWS: Choice[] = [
  { value: "0", label: "as sampled" },
  { value: "0.01", label: "over 1 %" },
  { value: "0.03", label: "over 3 %" },
  { value: "0.1", label: "over 10 %" },
];

/** Points in a window: fewer would show its edges. */
const STEPS = 8;

/** The mean over `window` (in ps) around each instant; nothing where the trace has nothing. */
export function smooth(trace: Trace, window: number): Trace {
  const last = trace.start.length - 1;
  const from = trace.from ?? trace.start[0] ?? 0;
  const to = trace.to ?? (trace.start[last] ?? 0) + (trace.duration[last] ?? 0);
  const step = window / STEPS;
  const count = last < 0 && trace.absent === "missing" ? 0 : Math.max(1, Math.ceil((to - from) / step));
  const [start, y] = [new Float64Array(count), new Float64Array(count)];
  for (let i = 0; i < count; i++) {
    const at = Math.min(from + (i + 0.5) * step, to);
    // Its value is at the end of the interval.
    start[i] = at - step;
    // Values at the ends of intervals are drawn there: each stands for as much time after it as before.
    const middle = trace.of === "end" ? at - (trace.duration[firstEndingAfter(trace, at)] ?? 0) / 2 : at;
    const isThere = !Number.isNaN(valueAt(trace, at));
    y[i] = isThere ? meanOver(trace, middle - window / 2, middle + window / 2) : Number.NaN;
  }
  const duration = new Float64Array(count).fill(step);
  return { start, duration, y, per: 1, of: "end", absent: "missing" };
}

/** The lines with their smoothed ones, which are drawn last; unchanged with a window of 0. In s. */
export function withSmooth(lines: PanelLine[], window: number): PanelLine[] {
  if (window <= 0) return lines;
  const raw = lines.map((line): PanelLine => ({ ...line, role: "raw" }));
  const over = lines.map(
    (line): PanelLine => ({ ...line, role: "smooth", trace: smooth(line.trace, window / PS) }),
  );
  return [...raw, ...over];
}

/** What a caption says of it; empty with a window of 0. */
export function smoothWords(window: number): string {
  if (window <= 0) return "";
  return `Smoothed: the mean over ${formatted("at_s", window, 2)} around each time; thin lines are the samples.`;
}
