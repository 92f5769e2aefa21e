import { describe, expect, it } from "vitest";
import { axisFor, linearTicks, logTicks } from "../src/charts/axes";
import { csv } from "../src/charts/rows";
import { styleAt } from "../src/data/colour";
import {
  axisTitle,
  count,
  elapsed,
  formatted,
  hopsIn,
  named,
  percent,
  ratio,
  scaled,
  scaleOf,
  shortName,
} from "../src/data/format";

describe("numbers", () => {
  it("have the unit that their name ends in", () => {
    expect(formatted("goodput_mean_bps", 513.6e6)).toBe("513.6 Mbit/s");
    expect(formatted("goodput_mean_bps", 10e9)).toBe("10 Gbit/s");
    expect(formatted("fct_p99_s", 0.2146)).toBe("214.6 ms");
    expect(formatted("rtt_p50_s", 0.000566)).toBe("566 µs");
    expect(formatted("start_ps", 2.5e9)).toBe("2.5 ms");
    expect(formatted("size_bytes", 64e6)).toBe("64 MB");
    expect(formatted("queue_mean_pkts", 3)).toBe("3 packets");
    expect(formatted("jain_ratio", 0.3437)).toBe("0.3437");
    expect(formatted("flows", 25536)).toBe("25\u202f536");
    expect(formatted("flows", Number.NaN)).toBe("–");
    expect(formatted("convergence_s", -0.5)).toBe("−500 ms");
  });

  it("of a column share their scale", () => {
    const scale = scaleOf("goodput_mean_bps", [496.8e6, 414.7e6, null, 765.3e6]);
    expect([scale.unit, scaled(1234.56e6, scale), scaled(null, scale)]).toEqual(["Mbit/s", "1234.6", "–"]);
    expect(scaled(512, scaleOf("flows", [512, 8000]))).toBe("512");
  });

  it("are short in words", () => {
    expect([ratio(0.97), ratio(0.0412), ratio(12.34)]).toEqual(["0.97", "0.041", "12.3"]);
    expect(percent(0.129)).toBe("12.9 %");
    expect(count(5_733_000_000)).toBe("5.7 billion");
    expect([elapsed(80.5), elapsed(154.6), elapsed(9000)]).toEqual(["80.5 s", "2 min 35 s", "2 h 30 min"]);
  });

  it("have names", () => {
    expect(named("goodput_p10_bps")).toBe("goodput, 10th percentile");
    expect(named("jct_mean_s")).toBe("job completion time, mean");
    expect(shortName("fct_p99_s")).toBe("FCT p99");
    expect(named("small-web.fct_p99_s")).toBe("FCT of small web flows, 99th percentile");
    expect(shortName("small-web.fct_p99_s")).toBe("small web FCT p99");
    expect(named("optimum.goodput_mean_bps")).toBe("optimal goodput, mean");
    expect(axisTitle("rtt_s", scaleOf("rtt_s", [0.0005]))).toBe("RTT (µs)");
  });
});

describe("axes", () => {
  it("have round ticks", () => {
    expect(linearTicks(0, 1.04, 6)).toEqual([0, 0.2, 0.4, 0.6, 0.8, 1].map((x) => expect.closeTo(x, 9)));
    expect(logTicks(0.001, 1, 8)).toEqual([0.001, 0.01, 0.1, 1].map((x) => expect.closeTo(x, 9)));
    const axis = axisFor("goodput_bps", [15e6, 1.18e9], { log: false });
    expect(axis.label).toBe("Goodput (Mbit/s)");
    expect(axis.ticks.map(axis.format)).toEqual(["0", "250", "500", "750", "1000"]);
  });

  it("stand values that are all the same, or none", () => {
    expect(axisFor("fct_s", [2, 2], { log: true }).domain).toEqual([1, 4]);
    expect(axisFor("timeouts", [0], { log: false }).domain[1]).toBeGreaterThan(0);
    expect(axisFor("fct_s", [], { log: true }).ticks.length).toBeGreaterThan(0);
  });
});

describe("a run's speed", () => {
  it("is its hops over its time", () => {
    expect(hopsIn(30_000_000, 60)).toBe("30.0 million packet-hops in 60.0 s, 500\u202f000 a second");
    expect(hopsIn(5, 0)).toBe("5 packet-hops in 0.0 s");
  });
});

describe("files and styles", () => {
  it("quote what has to be", () => {
    const rows = {
      columns: ["series", "goodput_bps"],
      rows: [
        ['a "b", c', 1.5],
        ["d", null],
        ["e", Number.NaN],
      ],
    };
    expect(csv(rows)).toBe('series,goodput_bps\r\n"a ""b"", c",1.5\r\nd,\r\ne,\r\n');
  });

  it("differ in colour or dash", () => {
    const all = Array.from({ length: 24 }, (_, i) => styleAt(i));
    expect(new Set(all.map((style) => `${style.colour}${style.dash}${style.symbol}`)).size).toBe(24);
  });
});
