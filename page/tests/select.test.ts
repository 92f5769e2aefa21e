import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import {
  axisNames,
  axisValue,
  counted,
  magnitude,
  magnitudes,
  placeNames,
  unnamedAxes,
} from "../src/data/cases";
import { differences, differentSettings } from "../src/data/diff";
import { publishedPercentiles, resultMarks } from "../src/data/figures";
import { embeddedSource } from "../src/data/load";
import { partAsked } from "../src/data/results";
import { distributions } from "../src/data/select";
import { settings } from "../src/data/settings";
import { mean, percentile } from "../src/data/stats";
import { byInterest } from "../src/page/Axes";
import { fixtureRun, pageHead, XMP } from "./fixture";

const first = fixtureRun(XMP);
const second = fixtureRun({ ...XMP, id: "xmp-table1-2", seed: 2 });
const head = pageHead([first.run, second.run]);
const source = embeddedSource((id) => {
  const [, run, name] = /^tresse-(\d)-(.*)$/.exec(id) ?? [];
  const bytes = [first, second][Number(run)]?.tables.get(name ?? "");
  return bytes ? gzipSync(bytes).toString("base64") : null;
});

describe("distributions", () => {
  it("have the mean and the percentiles of the results", async () => {
    const panels = await distributions(source, head, [0], {
      quantity: "goodput_bps",
      series: "scheme",
      panels: ["pattern"],
    });
    expect(panels.map((panel) => panel.name)).toEqual(["permutation", "random"]);
    for (const result of first.run.report.cases) {
      const panel = panels.find((one) => one.name === result.case.pattern);
      const scheme = `${result.case.scheme}-${result.case.subflows}`;
      const of = panel?.curves.find((curve) => curve.series === scheme)?.of;
      expect(of && mean(of)).toBeCloseTo(result.metrics.goodput_mean_bps as number);
      expect(of && percentile(of, 90)).toBe(result.metrics.goodput_p90_bps);
    }
  });

  it("of completion times leave out flows that were stopped", async () => {
    const [panel] = await distributions(source, head, [0], {
      quantity: "fct_s",
      series: "scheme",
      panels: [],
    });
    const count = panel?.curves.reduce((sum, curve) => sum + curve.of.count, 0);
    expect(count).toBe(10 * 396);
  });

  it("are divided by several dimensions, in the field's order", async () => {
    const panels = await distributions(source, head, [0, 1], {
      quantity: "goodput_bps",
      series: "scheme",
      panels: ["pattern", "distance"],
      where: { distance: ["inter-pod", "inner-rack"], scheme: "xmp" },
    });
    expect(panels.map((panel) => panel.name)).toEqual([
      "permutation · inner-rack",
      "permutation · inter-pod",
      "random · inner-rack",
      "random · inter-pod",
    ]);
    expect(panels[0]?.curves.map((curve) => [curve.series, curve.run])).toEqual([
      ["xmp-2", 0],
      ["xmp-4", 0],
      ["xmp-2", 1],
      ["xmp-4", 1],
    ]);
  });

  it("know size classes, also those that overlap", async () => {
    const of = async (size: string) => {
      const where = { size };
      const panels = await distributions(source, head, [0], {
        quantity: "size_bytes",
        series: "size",
        panels: [],
        where,
      });
      return panels[0]?.curves[0]?.of.values ?? new Float64Array();
    };
    expect((await of("up to 10kB")).at(-1)).toBeLessThanOrEqual(1e4);
    expect((await of("up to 100kB")).length).toBe(
      (await of("up to 10kB")).length + (await of("10kB to 100kB")).length,
    );
    expect((await of("above 10MB"))[0]).toBeGreaterThan(1e7);
  });

  it("say what there is not", async () => {
    const wrong = { quantity: "goodput_bps", series: "layer", panels: [] };
    await expect(distributions(source, head, [0], wrong)).rejects.toThrow("there is no layer of flows");
  });
});

describe("published numbers", () => {
  it("stand at their panel and series", () => {
    const question = { quantity: "goodput_bps", series: "scheme", panels: ["pattern"] };
    const points = publishedPercentiles(head, [0], question);
    expect(points).toHaveLength(10);
    expect(points[0]).toEqual({ series: "dctcp-1", panel: "permutation", x: 513.6e6 * 0.85, share: 0.5 });
  });

  it("of parts stand at the part", () => {
    const question = {
      quantity: "goodput_bps",
      series: "scheme",
      panels: ["distance"],
      where: { pattern: "random" },
    };
    const points = publishedPercentiles(head, [0], question);
    expect(points.map((point) => [point.panel, point.share])).toEqual(Array(5).fill(["inter-pod", 0.9]));
  });

  it("stand beside the metric of the results, with interval and optimum", () => {
    const question = { metric: "goodput_mean_bps", x: "pattern", series: "scheme", panels: [] };
    const marks = resultMarks(head, [0], question);
    const own = marks.find((mark) => mark.series === "xmp-4" && mark.x === "random");
    const result = first.run.report.cases.find(
      (one) => one.case.subflows === 4 && one.case.scheme === "xmp" && one.case.pattern === "random",
    );
    expect(own).toMatchObject({
      value: result?.metrics.goodput_mean_bps,
      ci95: result?.ci95.goodput_mean_bps,
      published: 735.6e6 * 0.9,
      optimum: 735.6e6 * 1.1,
    });
  });
});

describe("dimensions", () => {
  it("that a chart does not name are found", () => {
    const marks = fixtureRun({ ...XMP, flows: 2, marks: ["5pkt", "10pkt"] }).run;
    expect(unnamedAxes([marks], ["scheme"], undefined)).toEqual(["pattern", "fabric.mark"]);
    expect(unnamedAxes([marks], ["scheme", "pattern"], { "fabric.mark": "5pkt" })).toEqual([]);
    expect(unnamedAxes([marks], ["pattern", "fabric.mark"], undefined)).toEqual(["scheme"]);
  });

  it("of results are one part at a time", () => {
    expect(partAsked(["pattern", "layer"], { layer: "core" })).toEqual(["layer"]);
    expect(() => partAsked(["distance"], { group: "large" })).toThrow("by distance and group together");
  });

  it("of windows may have groups and their subflows", () => {
    expect(partAsked(["variant", "group"], { window: "settled" })).toEqual(["group", "window"]);
    expect(partAsked(["scheme"], { window: "w", group: "x1", subflow: 1 })).toEqual([
      "window",
      "group",
      "subflow",
    ]);
    expect(() => partAsked(["size"], { window: "w" })).toThrow("by size and window together");
    expect(() => partAsked(["scheme"], { group: "x1", subflow: 1 })).toThrow("only in windows of time");
  });

  it("that are subflows leave the scheme its plain name", () => {
    const [one] = first.run.cases.filter((own) => own.scheme === "xmp-4");
    expect(one && axisValue(one, "scheme")).toBe("xmp-4");
    expect(one && axisValue(one, "scheme", ["subflows", "scheme"])).toBe("xmp");
  });

  it("begin with a number where all of their values count the same", () => {
    expect([...(magnitudes(["10-flows", "100-flows"]) ?? [])]).toEqual([
      ["10-flows", 10],
      ["100-flows", 100],
    ]);
    expect(magnitudes(["1-connection", "2-connections"])?.get("1-connection")).toBe(1);
    expect(magnitudes(["100-mbps", "all-hosts"])).toBeNull();
    expect(magnitudes(["10-flows", "10-hosts"])).toBeNull();
    expect([...(magnitudes(["200ms", "10us"]) ?? new Map()).values()]).toEqual([
      expect.closeTo(0.2, 9),
      expect.closeTo(1e-5, 12),
    ]);
    expect([...(magnitudes(["K-4", "K-11"]) ?? new Map()).values()]).toEqual([4, 11]);
  });

  it("count something, which an axis is of", () => {
    expect(counted(["1-connection", "20-connections"])).toBe("connections");
    expect(counted(["load-30", "load-90"])).toBe("load");
    expect(counted(["10pkt", "20pkt"])).toBe("");
    expect(counted(["long-1", "short-2"])).toBe("");
  });

  it("have their unit at the axis, or what they count", () => {
    const told = (axis: string, values: string[]) => {
      const { title, shown } = axisNames(axis, values);
      return [title, values.map(shown)];
    };
    expect(told("mark", ["10pkt", "40pkt"])).toEqual(["mark (packets)", ["10", "40"]]);
    expect(told("fabric.rate", ["1Gbps", "2.5Gbps"])).toEqual(["fabric.rate (Gbit/s)", ["1", "2.5"]]);
    expect(told("delay", ["200us", "1ms"])).toEqual(["delay", ["200us", "1ms"]]);
    expect(told("load", ["0.5", "0.9"])).toEqual(["load", ["0.5", "0.9"]]);
    expect(told("pattern", ["1-connection", "20-connections"])).toEqual(["connections", ["1", "20"]]);
    expect(told("variant", ["load-30", "load-90"])).toEqual(["load", ["30", "90"]]);
    expect(placeNames("variant", ["load-30", "load-90"])).toMatchObject({ name: "variant", title: "" });
    expect(placeNames("mark", ["10pkt"]).title).toBe("mark (packets)");
  });

  it("of an experiment's own axis come first", () => {
    expect(byInterest(["subflows", "pattern", "mark"])).toEqual(["mark", "subflows", "pattern"]);
    expect(byInterest(["pattern", "variant", "subflows"])).toEqual(["subflows", "pattern", "variant"]);
  });

  it("are numbers, have a unit, or end in a number", () => {
    expect(["4", "10pkt", "200us", "0.5", "xmp-4", "web"].map(magnitude)).toEqual([
      4,
      10,
      expect.closeTo(2e-4, 9),
      0.5,
      4,
      null,
    ]);
  });
});

describe("two runs", () => {
  it("differ case by case, with the interval of the difference", () => {
    const all = differences(head, 0, 1, "goodput_mean_bps", []);
    expect(all).toHaveLength(10);
    const [one] = all;
    expect(one?.ci95).toBeCloseTo(Math.hypot(one?.ciA ?? 0, one?.ciB ?? 0));
  });

  it("differ in settings", () => {
    expect(differentSettings(head)).toEqual([{ key: "fabric.k", values: ["8", "4"] }]);
    const keys = { a: 1, x: { b: [1, "]"], c: "d" }, y: [{ z: 3 }, { z: { q: 4 } }] };
    expect([...settings(keys)]).toEqual([
      ["a", "1"],
      ["x.b", '[1, "]"]'],
      ["x.c", '"d"'],
      ["y 1.z", "3"],
      ["y 2.z.q", "4"],
    ]);
  });
});
