/** The history of a subflow for lanes: when it existed, and where it was marked, lost packets or waited. */
import type { Numbers, TableData } from "../data/table";
import { firstEndingAfter } from "./decimate";
import type { SubflowSeries } from "./series";
import { PS } from "./traces";

/** For a pixel column, the worst event in it. */
export const GONE = 0;
export const THERE = 1;
export const MARKED = 2;
export const RESENT = 3;
export const WAITED = 4;

export interface Lane {
  key: string;
  name: string;
  colour: string;
  members: SubflowSeries[];
}

/** The event of each row of samples in its interval; computed once per table. */
export class Happened {
  #times: { start: Numbers; duration: Numbers };
  #levelOfState: Uint8Array;
  #states: Int32Array | null;
  #counts: [ArrayLike<number>, number][] = [];

  constructor(samples: TableData) {
    this.#times = { start: samples.number("start_ps"), duration: samples.number("duration_ps") };
    const states = samples.has("state") ? samples.text("state") : null;
    this.#states = states?.codes ?? null;
    const levels: Record<string, number> = { closed: GONE, recovery: RESENT, loss: WAITED };
    this.#levelOfState = Uint8Array.from(states?.words ?? [], (word) => levels[word] ?? THERE);
    const columns: [string, number][] = [
      ["marks", MARKED],
      ["retransmissions", RESENT],
      ["timeouts", WAITED],
    ];
    for (const [name, level] of columns) {
      if (samples.has(name)) this.#counts.push([samples.number(name), level]);
    }
  }

  /** Whether the run counts marks, retransmissions and timeouts in each interval. */
  get counts(): boolean {
    return this.#counts.length > 0;
  }

  level(row: number): number {
    const state = this.#states?.[row];
    let level = state === undefined || state < 0 ? THERE : (this.#levelOfState[state] ?? THERE);
    if (level === GONE) return GONE;
    for (const [count, of] of this.#counts) if (of > level && (count[row] as number) > 0) level = of;
    return level;
  }

  /** The worst event of each pixel column between two instants (s), for several subflows together. */
  columns(members: readonly SubflowSeries[], from: number, to: number, out: Uint8Array): void {
    out.fill(GONE);
    const perPixel = out.length / (to - from);
    for (const { offset, rows } of members) {
      const end = offset + rows;
      for (let row = firstEndingAfter(this.#times, from / PS, offset, end); row < end; row++) {
        const start = (this.#times.start[row] as number) * PS;
        if (start >= to) break;
        const level = this.level(row);
        if (level === GONE) continue;
        const first = Math.max(0, Math.floor((start - from) * perPixel));
        const stop = (start + (this.#times.duration[row] as number) * PS - from) * perPixel;
        for (let x = first; x < out.length && (x < stop || x === first); x++) {
          if (level > (out[x] as number)) out[x] = level;
        }
      }
    }
  }
}
