/**
 * Reduces rows to what a screen can show: at most four points per pixel column, recomputed for each visible
 * range.
 *
 * A trace of 10^5 rows has more points than a screen has pixels. For each column the first, least, greatest
 * and last value are kept, in their original order, so that no spike is lost and the line is connected. Rows
 * are read from views of the table's own columns, and points go to buffers that are kept: panning allocates
 * nothing.
 */

import type { Numbers } from "../data/table";

/** One line of a panel: rows of a table, in the order of time. */
export interface Trace {
  /** The start and the length of each interval, in ps. */
  start: Numbers;
  duration: Numbers;
  /** Its value; NaN if there is none. */
  y: Numbers;
  /** The divisor of `y`, so that a column need not be copied to change its unit. */
  per: number;
  /** `interval`: a mean over the interval, drawn as a step. `end`: the value at its end. */
  of: "interval" | "end";
  /** The meaning of an absent row: `missing` leaves a hole, `zero` is a value (a port without a row held nothing). */
  absent: "missing" | "zero";
  /** The begin and the end of a trace whose absent rows are zero, in ps. */
  from?: number;
  to?: number;
  /** Rows with the code `closed` have no value either: the subflow is closed. */
  codes?: ArrayLike<number>;
  closed?: number;
}

/** Points in pixels (x) and values (y); a NaN in y lifts the pen. */
export class Points {
  x = new Float32Array(1024);
  y = new Float64Array(1024);
  length = 0;
  /** The range of the values: Infinity and -Infinity if there are none. */
  least = Infinity;
  most = -Infinity;
  /** Whether each row of the range has its own points. */
  exact = true;
  /** If not, the mean of the rows of each column. */
  readonly means: Points | null;

  constructor(withMeans = true) {
    this.means = withMeans ? new Points(false) : null;
  }

  clear(): void {
    this.length = 0;
    this.least = Infinity;
    this.most = -Infinity;
    this.exact = true;
    this.means?.clear();
  }

  push(x: number, y: number): void {
    if (this.length === this.x.length) this.#grow();
    this.x[this.length] = x;
    this.y[this.length++] = y;
    if (y < this.least) this.least = y;
    if (y > this.most) this.most = y;
  }

  lift(): void {
    this.means?.lift();
    if (this.length > 0 && !Number.isNaN(this.y[this.length - 1])) this.push(0, Number.NaN);
  }

  #grow(): void {
    const x = new Float32Array(this.x.length * 2);
    const y = new Float64Array(this.y.length * 2);
    x.set(this.x);
    y.set(this.y);
    this.x = x;
    this.y = y;
  }
}

/** Rows with at least this many pixels each are steps; narrower rows are joined by a line. */
const STEP_PIXELS = 3;

/** The first of the rows from `low` to before `high` that ends after `at`; `high` if there is none. */
export function firstEndingAfter(
  trace: Pick<Trace, "start" | "duration">,
  at: number,
  low = 0,
  high = trace.start.length,
): number {
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((trace.start[middle] ?? 0) + (trace.duration[middle] ?? 0) > at) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** The value at an instant, from the interval that contains it, or NaN. */
export function valueAt(trace: Trace, at: number): number {
  const row = firstEndingAfter(trace, at);
  const start = trace.start[row];
  if (start === undefined || start > at) {
    const within = at >= (trace.from ?? Infinity) && at <= (trace.to ?? -Infinity);
    return trace.absent === "zero" && within ? 0 : Number.NaN;
  }
  return isClosed(trace, row) ? Number.NaN : (trace.y[row] ?? Number.NaN) / trace.per;
}

function isClosed(trace: Trace, row: number): boolean {
  return trace.codes !== undefined && trace.codes[row] === trace.closed;
}

/** The points of a trace between `from` and `to` (ps) on `width` pixels. */
export function decimate(trace: Trace, from: number, to: number, width: number, out: Points): void {
  out.clear();
  const { start, duration } = trace;
  const first = Math.max(0, firstEndingAfter(trace, from) - 1);
  let end = Math.max(first, firstEndingAfter(trace, to));
  if (end < start.length) end++; // one more on each side, so that lines leave the panel
  const rows = end - first;
  const perPixel = width / (to - from);
  if (rows > 0 && rows > 2 * width) dense(trace, first, end, from, perPixel, out);
  else each(trace, first, end, from, perPixel, stepped(trace, first, end, perPixel), out);
  if (trace.absent !== "zero" || trace.from === undefined || trace.to === undefined) return;
  const last = start.length - 1;
  if (last < 0) {
    out.push((trace.from - from) * perPixel, 0);
    out.push((trace.to - from) * perPixel, 0);
  } else if (end > last && rows > 0) {
    const ended = (start[last] ?? 0) + (duration[last] ?? 0);
    if (ended < trace.to) zero(out, ended, trace.to, from, perPixel);
  }
}

/** Steps if a row is wide enough on the screen: the typical row counts, not a flow's short last one. */
function stepped(trace: Trace, first: number, end: number, perPixel: number): boolean {
  if (trace.of !== "interval") return false;
  let longest = 0;
  for (let row = first; row < end; row++) longest = Math.max(longest, trace.duration[row] ?? 0);
  return longest * perPixel >= STEP_PIXELS;
}

function zero(out: Points, since: number, until: number, from: number, perPixel: number): void {
  for (const at of [since, until]) {
    out.push((at - from) * perPixel, 0);
    if (!out.exact) out.means?.push((at - from) * perPixel, 0);
  }
}

/** The gap between the previous row and this one: none, a hole, or zeros. */
function between(
  trace: Trace,
  row: number,
  first: number,
  from: number,
  perPixel: number,
  out: Points,
): void {
  const start = trace.start[row] ?? 0;
  const before =
    row > 0 ? (trace.start[row - 1] ?? 0) + (trace.duration[row - 1] ?? 0) : (trace.from ?? start);
  if (start <= before) return;
  if (trace.absent === "zero")
    zero(out, row > first || row === 0 ? before : Math.max(before, 0), start, from, perPixel);
  else if (row > first) out.lift();
}

function each(
  trace: Trace,
  first: number,
  end: number,
  from: number,
  perPixel: number,
  steps: boolean,
  out: Points,
): void {
  for (let row = first; row < end; row++) {
    between(trace, row, first, from, perPixel, out);
    const y = (trace.y[row] ?? Number.NaN) / trace.per;
    if (Number.isNaN(y) || isClosed(trace, row)) {
      out.lift();
      continue;
    }
    const x0 = ((trace.start[row] ?? 0) - from) * perPixel;
    const x1 = x0 + (trace.duration[row] ?? 0) * perPixel;
    if (steps) {
      out.push(x0, y);
      out.push(x1, y);
    } else {
      // A mean over an interval is drawn in its middle, and a value at its end is drawn at the end.
      out.push(trace.of === "interval" ? (x0 + x1) / 2 : x1, y);
    }
  }
}

function dense(trace: Trace, first: number, end: number, from: number, perPixel: number, out: Points): void {
  out.exact = false;
  const { start, duration, y, per } = trace;
  const middle = trace.of === "interval" ? 0.5 : 1;
  let column = Number.NEGATIVE_INFINITY;
  let head = 0;
  let tail = 0;
  let low = Infinity;
  let high = -Infinity;
  let lowFirst = true;
  let open = false;
  let sum = 0;
  let count = 0;
  const close = () => {
    if (!open) return;
    const x = column + 0.5;
    out.push(x, head);
    out.means?.push(x, sum / count);
    if (low < head || high > head || head !== tail) {
      out.push(x, lowFirst ? low : high);
      out.push(x, lowFirst ? high : low);
      out.push(x, tail);
    }
    open = false;
  };
  let before = Number.NaN;
  for (let row = first; row < end; row++) {
    const s = start[row] as number;
    const d = duration[row] as number;
    const value = (y[row] as number) / per;
    const hole = Number.isNaN(value) || isClosed(trace, row);
    // A hole narrower than a pixel is invisible; a wider one must be visible.
    if (hole || (s - before) * perPixel >= 1) {
      close();
      if (trace.absent === "zero" && !hole) zero(out, before, s, from, perPixel);
      else out.lift();
      column = Number.NEGATIVE_INFINITY;
    }
    before = s + d;
    if (hole) continue;
    const at = Math.floor((s + d * middle - from) * perPixel);
    if (at !== column || !open) {
      close();
      column = at;
      head = low = high = value;
      sum = count = 0;
      open = true;
    } else if (value < low) {
      low = value;
      lowFirst = false; // it came after the greatest so far
    } else if (value > high) {
      high = value;
      lowFirst = true;
    }
    tail = value;
    sum += value;
    count++;
  }
  close();
}

/** The target of points: a canvas, or the path of an SVG. */
export interface Pen {
  moveTo(x: number, y: number): void;
  lineTo(x: number, y: number): void;
}

/** Draws points, given the position of each value. */
export function trace(points: Points, left: number, place: (y: number) => number, pen: Pen): void {
  let down = false;
  for (let i = 0; i < points.length; i++) {
    const y = points.y[i] as number;
    if (Number.isNaN(y)) {
      down = false;
      continue;
    }
    const x = left + (points.x[i] as number);
    if (down) pen.lineTo(x, place(y));
    else pen.moveTo(x, place(y));
    down = true;
  }
}

/**
 * Calls `bar` for each pixel column of decimated points, with the least and the greatest value that a line
 * through them has there: a noisy line is a band, and filling bars is several times faster than stroking it.
 */
export function bars(points: Points, bar: (x: number, low: number, high: number) => void): void {
  let before = Number.NaN;
  for (let i = 0; i < points.length; ) {
    const x = points.x[i] as number;
    let low = points.y[i] as number;
    if (Number.isNaN(low)) {
      before = Number.NaN;
      i++;
      continue;
    }
    let high = low;
    let last = low;
    for (i++; i < points.length && points.x[i] === x && !Number.isNaN(points.y[i]); i++) {
      last = points.y[i] as number;
      if (last < low) low = last;
      if (last > high) high = last;
    }
    // The line continues from the previous column: without a hole, the bars touch.
    if (before < low) low = before;
    else if (before > high) high = before;
    before = last;
    bar(x, low, high);
  }
}
