import { describe, expect, it } from "vitest";
import { decodeTable } from "../src/data/table";
import { bars, decimate, Points, type Trace, valueAt } from "../src/time/decimate";
import { meanOver } from "../src/time/mean";
import { decimalsOf } from "../src/time/plot";
import { key, TimeRange } from "../src/time/range";
import { fillBars, pixel } from "../src/time/raster";
import { rowsOf } from "../src/time/rows";
import { subflowSeries } from "../src/time/series";
import { smooth, smoothWords, withSmooth } from "../src/time/smooth";
import { GONE, Happened, MARKED, RESENT, THERE, WAITED } from "../src/time/stretch";
import { combined, optimumTrace, portTrace, subflowTrace } from "../src/time/traces";
import { ipc } from "./fixture";

/** A trace of rows that follow each other, a second each. */
function trace(values: number[], wish: Partial<Trace> = {}): Trace {
  return {
    start: Float64Array.from(values, (_, i) => i),
    duration: new Float64Array(values.length).fill(1),
    y: Float64Array.from(values),
    per: 1,
    of: "interval",
    absent: "missing",
    ...wish,
  };
}

function points(out: Points): [number, number][] {
  return Array.from({ length: out.length }, (_, i) => [out.x[i] as number, out.y[i] as number]);
}

describe("decimation", () => {
  it("draws few rates as steps, over the whole of their intervals", () => {
    const out = new Points();
    decimate(trace([1, 2]), 0, 2, 100, out);
    expect(points(out)).toEqual([
      [0, 1],
      [50, 1],
      [50, 2],
      [100, 2],
    ]);
  });

  it("draws values at the end of their intervals as a line", () => {
    const out = new Points();
    decimate(trace([1, 2], { of: "end" }), 0, 2, 100, out);
    expect(points(out)).toEqual([
      [50, 1],
      [100, 2],
    ]);
  });

  it("keeps the least and the greatest of each column, however many rows it has", () => {
    const values = Array.from({ length: 100_000 }, (_, i) => Math.sin(i / 500));
    values[54_321] = 99;
    values[12_345] = -99;
    const out = new Points();
    decimate(trace(values), 0, values.length, 300, out);
    expect(out.exact).toBe(false);
    expect(out.length).toBeLessThanOrEqual(4 * 302);
    expect([out.least, out.most]).toEqual([-99, 99]);
    expect(out.means?.length).toBe(300);
    expect(out.means?.most).toBeLessThan(2);
  });

  it("keeps values in the order in which they came", () => {
    const out = new Points();
    decimate(trace([5, 9, 1, 7, 5, 1, 9, 7, ...Array<number>(400).fill(7)]), 0, 408, 102, out);
    expect(
      points(out)
        .slice(0, 8)
        .map(([, y]) => y),
    ).toEqual([5, 9, 1, 7, 5, 1, 9, 7]);
  });

  it("lifts the pen where the subflow is not there", () => {
    const gap = trace([1, 2, 3]);
    gap.start = Float64Array.from([0, 1, 5]);
    const out = new Points();
    decimate(gap, 0, 6, 600, out);
    expect(points(out).map(([, y]) => y)).toEqual([1, 1, 2, 2, Number.NaN, 3, 3]);
  });

  it("lifts the pen for holes among many rows, and for closed subflows", () => {
    const values = Array<number>(10_000).fill(1);
    const closed = trace(values, { codes: Int32Array.from(values, (_, i) => (i < 5000 ? 0 : 1)), closed: 1 });
    const out = new Points();
    decimate(closed, 0, 10_000, 100, out);
    expect(points(out).some(([x, y]) => x > 51 && !Number.isNaN(y))).toBe(false);
  });

  it("reads an absent row of a port as zero", () => {
    const queue = trace([4, 6], { of: "end", absent: "zero", from: 0, to: 9 });
    queue.start = Float64Array.from([2, 6]);
    const out = new Points();
    decimate(queue, 0, 9, 9, out);
    expect(points(out)).toEqual([
      [0, 0],
      [2, 0],
      [3, 4],
      [3, 0],
      [6, 0],
      [7, 6],
      [7, 0],
      [9, 0],
    ]);
    expect([1, 2.5, 4, 8.5].map((at) => valueAt(queue, at))).toEqual([0, 4, 0, 0]);
    expect(valueAt(queue, 20)).toBeNaN();
  });

  it("shows what is seen only", () => {
    const out = new Points();
    decimate(trace([9, 1, 2, 3, 9]), 2.2, 2.8, 100, out);
    expect(out.most).toBeLessThan(9);
  });

  it("joins the bars of neighbouring columns", () => {
    const out = new Points();
    for (const [x, y] of [
      [0, 1],
      [0, 3],
      [1, 5],
      [1, 6],
      [2, Number.NaN],
      [3, 1],
    ])
      out.push(x as number, y as number);
    const found: number[][] = [];
    bars(out, (...bar) => found.push(bar));
    expect(found).toEqual([
      [0, 1, 3],
      [1, 3, 6],
      [3, 1, 1],
    ]);
  });
});

describe("ticks of time", () => {
  it("have the decimals of their steps", () => {
    expect([1, 2.5, 0.5, 0.25, 20].map(decimalsOf)).toEqual([0, 1, 1, 2, 0]);
  });
});

describe("smoothing", () => {
  const values = (of: Trace) => Array.from(of.y);

  it("keeps the mean, and draws it through the middle of each window", () => {
    const raw = trace(Array.from({ length: 1000 }, (_, i) => i % 2));
    const found = smooth(raw, 100);
    expect(found.of).toBe("end");
    const [first = 0, second = 0] = [...found.start].map((at, i) => at + (found.duration[i] ?? 0));
    expect([first, second]).toEqual([6.25, 18.75]);
    expect(values(found).every((value) => Math.abs(value - 0.5) < 0.02)).toBe(true);
  });

  it("follows what is slower than its window", () => {
    const step = smooth(trace([...Array<number>(100).fill(0), ...Array<number>(100).fill(1)]), 20);
    const at = (time: number) => valueAt(step, time);
    expect([at(50), at(150)]).toEqual([0, 1]);
    expect(Math.abs(at(100) - 0.5)).toBeLessThan(0.1);
  });

  it("does not shift values at the ends of intervals", () => {
    const tent = trace([0, 0, 0, 0, 8, 0, 0, 0, 0], { of: "end" });
    const found = smooth(tent, 2);
    const most = Array.from(found.y).indexOf(Math.max(...found.y));
    const last = Array.from(found.y).lastIndexOf(Math.max(...found.y));
    const at = (i: number) => (found.start[i] ?? 0) + (found.duration[i] ?? 0);
    expect((at(most) + at(last)) / 2).toBeCloseTo(5);
  });

  it("leaves holes where nothing was sampled, and reads absent rows of a port as zero", () => {
    const gap = trace([1, 1]);
    gap.start = Float64Array.from([0, 9]);
    const found = smooth(gap, 2);
    expect(valueAt(found, 0.5)).toBe(1);
    expect(valueAt(found, 5)).toBeNaN();
    const queue = trace([4], { of: "end", absent: "zero", from: 0, to: 10 });
    queue.start = Float64Array.from([2]);
    const mean = smooth(queue, 4);
    expect(valueAt(mean, 2.6)).toBeCloseTo(1);
    expect(valueAt(mean, 9)).toBe(0);
    expect(smooth(trace([]), 4).y).toHaveLength(0);
  });

  it("has the samples behind it, under the same name", () => {
    const line = { key: "a", name: "a", colour: "red", dash: "", trace: trace([1, 2]) };
    expect(withSmooth([line], 0)).toEqual([line]);
    const [raw, over] = withSmooth([line], 1e-12);
    expect(raw).toEqual({ ...line, role: "raw" });
    expect(over).toMatchObject({ name: "a", role: "smooth" });
    expect(smoothWords(0.005)).toContain("over 5 ms around each time");
    expect(smoothWords(0)).toBe("");
  });
});

describe("bands", () => {
  it("are set pixel by pixel, and stay inside the box", () => {
    const out = new Points();
    for (const [x, y] of [
      [0, 1],
      [0, 3],
      [2, 9],
      [5, 1],
    ])
      out.push(x as number, y as number);
    const image = new Uint32Array(3 * 4);
    fillBars(image, 3, 4, out, (y) => 4 - y, 7);
    const rows = [0, 1, 2, 3].map((row) => [...image.subarray(row * 3, row * 3 + 3)]);
    expect(rows).toEqual([
      [0, 0, 7],
      [7, 0, 7],
      [7, 0, 0],
      [7, 0, 0],
    ]);
  });

  it("have the bytes of their colour in the order of an image", () => {
    expect([...new Uint8Array(Uint32Array.of(pixel("#1170aa", 1)).buffer)]).toEqual([0x11, 0x70, 0xaa, 255]);
  });
});

describe("values", () => {
  it("is nothing where no row is", () => {
    const one = trace([3, 4]);
    expect([0.5, 1.5, 2.5].map((at) => valueAt(one, at))).toEqual([3, 4, Number.NaN]);
  });

  it("weighs means by time, and cuts rows at the ends", () => {
    expect(meanOver(trace([2, 4]), 0, 2)).toBe(3);
    expect(meanOver(trace([2, 4]), 0.5, 1.25)).toBeCloseTo((2 * 0.5 + 4 * 0.25) / 0.75);
    expect(meanOver(trace([2], { absent: "zero", from: 0, to: 4 }), 0, 4)).toBe(0.5);
    expect(meanOver(trace([2]), 5, 6)).toBeNaN();
  });

  it("adds up traces that end at different times", () => {
    const short = trace([10]);
    short.duration = Float64Array.from([0.5]);
    const sum = combined([trace([1, 2]), short], "sum");
    expect([...sum.start]).toEqual([0, 0.5, 1]);
    expect([...sum.y]).toEqual([11, 1, 2]);
    expect([...combined([trace([2]), trace([4])], "mean").y]).toEqual([3]);
  });

  it("has a hole where none of the traces has a value", () => {
    const late = trace([5]);
    late.start = Float64Array.from([3]);
    expect([...combined([trace([1]), late], "sum").y]).toEqual([1, Number.NaN, 5]);
  });
});

describe("samples", () => {
  const samples = decodeTable(
    ipc({
      start_ps: { kind: "f64", delta: true, values: [0, 1e12, 1e12, -2e12, 1e12] },
      duration_ps: { kind: "f64", values: [1e12, 1e12, 5e11, 1e12, 1e12] },
      arrived_bytes: { kind: "f64", values: [1000, 2000, 500, 4000, 0] },
      cwnd_pkts: { kind: "f64", values: [10, 20, 0, 5, 5] },
      srtt_ps: { kind: "f64", values: [null, 2e9, null, 3e9, 3e9] },
      state: { kind: "text", values: ["open", "recovery", "closed", "open", "loss"] },
      flow_optimum_bps: { kind: "f64", values: [9000, 9000, null, null, null] },
      marks: { kind: "f64", values: [1, 0, 0, 0, 0] },
    }),
  );
  const series = subflowSeries(
    decodeTable(
      ipc({
        case: { kind: "u32", values: [0, 0] },
        seed: { kind: "f64", values: [1, 1] },
        round: { kind: "f64", values: [0, 0] },
        group: { kind: "text", values: ["", "b"] },
        flow: { kind: "f64", values: [0, 1] },
        from: { kind: "f64", values: [0, 1] },
        to: { kind: "f64", values: [2, 3] },
        subflow: { kind: "f64", values: [0, 0] },
        offset: { kind: "u32", values: [0, 3] },
        rows: { kind: "u32", values: [3, 2] },
        path: { kind: "text", values: ["4 0 9", null] },
      }),
    ),
  );
  const [first, second] = series;
  if (!first || !second) throw new Error("two series");

  it("has the series with their rows and paths", () => {
    expect(first).toMatchObject({ group: "", flow: 0, offset: 0, rows: 3, path: [4, 0, 9] });
    expect(second).toMatchObject({ group: "b", offset: 3, path: null });
  });

  it("computes rates, and takes other columns as they are", () => {
    expect([...subflowTrace(samples, first, "goodput_bps").y]).toEqual([8000, 16000, 8000]);
    const window = subflowTrace(samples, second, "cwnd_pkts");
    expect([...window.start]).toEqual([0, 1e12]);
    expect(window.y.buffer).toBe(samples.number("cwnd_pkts").buffer);
    expect(valueAt(subflowTrace(samples, first, "srtt_s"), 1.5e12)).toBeCloseTo(2e-3);
  });

  it("shows nothing of a closed subflow", () => {
    expect(valueAt(subflowTrace(samples, first, "cwnd_pkts"), 2.2e12)).toBeNaN();
  });

  it("has an optimum where the controller claims one", () => {
    expect(optimumTrace(samples, first)?.y[1]).toBe(9000);
    expect(optimumTrace(samples, second)).toBeNull();
  });

  it("tells when a subflow was there, and the worst of each column", () => {
    const columns = new Uint8Array(6);
    const happened = new Happened(samples);
    happened.columns([first], 0, 3, columns);
    expect([...columns]).toEqual([MARKED, MARKED, RESENT, RESENT, GONE, GONE]);
    happened.columns([second], 0, 3, columns);
    expect([...columns]).toEqual([THERE, THERE, WAITED, WAITED, GONE, GONE]);
  });

  it("gives the rows that are seen", () => {
    const lines = [{ name: "a", traces: [subflowTrace(samples, first, "goodput_bps")] }];
    const rows = rowsOf([{ lines, metrics: ["goodput_bps"] }], { from: 0.5, to: 1.5 });
    expect(rows.columns).toEqual(["series", "start_s", "duration_s", "goodput_bps"]);
    expect(rows.rows).toEqual([
      ["a", 0, 1, 8000],
      ["a", 1, 1, 16000],
    ]);
  });

  it("reads queues with their utilisation", () => {
    const queues = decodeTable(
      ipc({
        start_ps: { kind: "f64", delta: true, values: [1e12] },
        duration_ps: { kind: "f64", values: [1e12] },
        busy_ps: { kind: "f64", values: [25e10] },
        waiting_pkts: { kind: "f64", values: [7] },
      }),
    );
    const port = { case: 0, seed: 1, round: 0, port: 3, layer: "core", offset: 0, rows: 1 };
    expect(valueAt(portTrace(queues, port, "utilisation_ratio", 0, 4e12), 1.5e12)).toBe(0.25);
    expect(valueAt(portTrace(queues, port, "waiting_pkts", 0, 4e12), 3e12)).toBe(0);
    expect(valueAt(portTrace(queues, port, "share_ratio", 0, 4e12), 1.5e12)).toBeNaN();
  });

  it("reads the shares of ports: without a row there is none, and it is not 0", () => {
    const queues = decodeTable(
      ipc({
        start_ps: { kind: "f64", delta: true, values: [0, 1e12, 1e12] },
        duration_ps: { kind: "f64", values: [1e12, 1e12, 1e12] },
        busy_ps: { kind: "f64", values: [0, 0, 0] },
        waiting_pkts: { kind: "f64", values: [0, 0, 0] },
        share_ppm: { kind: "f64", values: [166667, 166667, 50000] },
      }),
    );
    const port = { case: 0, seed: 1, round: 0, port: 3, layer: "leaf", offset: 0, rows: 3 };
    const shares = portTrace(queues, port, "share_ratio", 0, 4e12);
    expect(valueAt(shares, 0.5e12)).toBeCloseTo(0.166667, 9);
    expect(valueAt(shares, 2.5e12)).toBeCloseTo(0.05, 9);
    expect(valueAt(shares, 3.5e12)).toBeNaN();
  });
});

describe("the range", () => {
  it("never leaves the whole", () => {
    const range = new TimeRange([0, 10]);
    range.set(2, 4);
    range.pan(-5);
    expect([range.from, range.to]).toEqual([0, 2]);
    range.pan(100);
    expect([range.from, range.to]).toEqual([8, 10]);
    range.zoom(100);
    expect(range.isWhole).toBe(true);
  });

  it("zooms about an instant", () => {
    const range = new TimeRange([0, 10]);
    range.zoom(0.5, 2);
    expect([range.from, range.to]).toEqual([1, 6]);
  });

  it("has keys, and leaves all others alone", () => {
    const range = new TimeRange([0, 10]);
    expect(key(range, "+")).toBe(true);
    expect(range.span).toBe(5);
    key(range, "ArrowLeft");
    expect(range.from).toBe(2);
    key(range, "0");
    expect(range.isWhole).toBe(true);
    expect(key(range, "Tab")).toBe(false);
  });

  it("tells only of changes", () => {
    const range = new TimeRange([0, 10]);
    let told = 0;
    const stop = range.listen(() => told++);
    range.reset();
    range.set(1, 2);
    stop();
    range.set(3, 4);
    expect(told).toBe(1);
  });
});
