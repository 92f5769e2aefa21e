/** The average of a trace over a range of time. */
import { firstEndingAfter, type Trace } from "./decimate";

/** Weighted by time; NaN if it has no value. Rows that are cut by an end count with the part inside. */
export function meanOver(trace: Trace, from: number, to: number): number {
  let sum = 0;
  let time = 0;
  for (let row = firstEndingAfter(trace, from); row < trace.start.length; row++) {
    const start = trace.start[row] as number;
    if (start >= to) break;
    const value = (trace.y[row] as number) / trace.per;
    if (Number.isNaN(value) || (trace.codes !== undefined && trace.codes[row] === trace.closed)) continue;
    const inside = Math.min(to, start + (trace.duration[row] as number)) - Math.max(from, start);
    sum += value * inside;
    time += inside;
  }
  if (trace.absent === "zero") {
    const whole = Math.min(to, trace.to ?? to) - Math.max(from, trace.from ?? from);
    return whole > 0 ? sum / whole : Number.NaN;
  }
  return time > 0 ? sum / time : Number.NaN;
}
