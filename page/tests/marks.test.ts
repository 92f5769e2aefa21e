/** What declared bars and lines draw. */
import { describe, expect, it } from "vitest";
import { type Axis, axisFor } from "../src/charts/axes";
import { categories, placed } from "../src/charts/Bars";
import { isPoint } from "../src/charts/Boxes";
import { strengths } from "../src/charts/Heat";
import { endsOf } from "../src/charts/intervals";
import { looks } from "../src/charts/series";
import type { Figure, RunHead, WindowResult } from "../src/data/contract";
import { markFigure, meaningOf, mixedParts, windowTimes } from "../src/data/figures";
import { measuredAt } from "../src/data/results";
import { halfWidth95 } from "../src/data/stats";
import { windowEnds } from "../src/data/windows";
import { fixtureRun, pageHead, XMP } from "./fixture";

const GROUPS = ["x1", "x2"];

/** Windows of two groups; group x1 is a flow of two subflows. All rates are different. */
function windows(base: number): Record<string, WindowResult> {
  const names = ["before", "after"];
  return Object.fromEntries(
    names.map((name, w) => {
      const groups = GROUPS.map((group, g) => {
        const rate = base + 100 * w + 10 * g;
        const subflows = [{ goodput_mean_bps: rate - 4 }, { goodput_mean_bps: 4 }];
        return [group, { metrics: { goodput_mean_bps: rate }, ...(g === 0 ? { subflows } : {}) }];
      });
      return [name, { metrics: { goodput_mean_bps: base + w }, groups: Object.fromEntries(groups) }];
    }),
  );
}

/** The run of XMP with windows of time, two seeds, and published values of all that windows divide into. */
function withWindows(): RunHead {
  const { run } = fixtureRun({ ...XMP, flows: 4, patterns: ["permutation"] });
  run.experiment.keys.measure = { windows: { after: ["10s", "12s"], before: ["5s", "9500ms"] } };
  run.report.cases.forEach((result, place) => {
    const base = 1000 * (place + 1);
    result.windows = windows(base);
    result.seeds = [1, 2].map((seed) => ({
      seed,
      metrics: {},
      by: {},
      windows: windows(base + (seed === 1 ? -1 : 1)),
    }));
  });
  const xmp = { scheme: "xmp", subflows: 2 };
  run.published = [
    { case: xmp, part: { window: "after", group: "x2" }, metrics: { goodput_mean_bps: 4000 } },
    { case: xmp, part: { window: "after", group: "x1", subflow: 1 }, metrics: { goodput_mean_bps: 5 } },
    { case: xmp, part: { window: "after" }, metrics: { goodput_mean_bps: 6 } },
  ];
  return run;
}

const run = withWindows();
const head = pageHead([run]);
const bars = (own: Partial<Figure>): Figure => ({
  id: "own",
  title: "",
  chart: "bars",
  x: "scheme",
  y: "goodput_mean_bps",
  ...own,
});

describe("windows of time", () => {
  it("are divided by all groups that are wanted, in the order of the figure", () => {
    const figure = bars({ series: "group", where: { window: "after", group: ["x2", "x1"], scheme: "xmp" } });
    const { marks, series } = markFigure(head, [0], figure, []);
    expect(series).toEqual(["x2", "x1"]);
    expect(marks.map((mark) => [mark.x, mark.series, mark.value])).toEqual([
      ["xmp-2", "x1", 4100],
      ["xmp-2", "x2", 4110],
      ["xmp-4", "x1", 5100],
      ["xmp-4", "x2", 5110],
    ]);
  });

  it("are a dimension beside groups", () => {
    const figure = bars({ x: "window", series: "group", where: { scheme: "dctcp" } });
    const { xs, series, marks } = markFigure(head, [0], figure, []);
    expect([xs, series]).toEqual([["before", "after"], GROUPS]);
    expect(marks.map((mark) => mark.value)).toEqual([1000, 1010, 1100, 1110]);
  });

  it("have single subflows", () => {
    const where = { window: "after", group: "x1", subflow: 1 };
    const { marks } = markFigure(head, [0], bars({ where }), []);
    expect(marks).toHaveLength(5);
    expect(marks.every((mark) => mark.value === 4)).toBe(true);
    expect(meaningOf(head, "goodput_mean_bps", ["window", "group", "subflow"])).toContain("subflow");
  });

  it("have what was published of just that part", () => {
    const of = (where: Figure["where"]) =>
      markFigure(head, [0], bars({ where }), []).marks.map((mark) => mark.published);
    expect(of({ window: "after", group: "x2" })).toEqual([null, null, null, 4000, null]);
    expect(of({ window: "after", group: "x1" })).toEqual([null, null, null, null, null]);
    expect(of({ window: "after", group: "x1", subflow: 1 })).toEqual([null, null, null, 5, null]);
    expect(of({ window: "after" })).toEqual([null, null, null, 6, null]);
    expect(of({ window: "before" })).toEqual([null, null, null, null, null]);
  });

  it("have intervals over seeds", () => {
    const where = { window: "after", group: "x2", scheme: "dctcp" };
    const [mark] = markFigure(head, [0], bars({ where }), []).marks;
    expect(mark?.ci95).toBeCloseTo(12.706);
    expect(halfWidth95([3])).toBeNull();
    const [, second] = run.published;
    expect(second && measuredAt(run.report.cases[3] as never, second)?.metrics).toEqual({
      goodput_mean_bps: 4,
    });
  });

  it("are in the order of time, and told with their ends", () => {
    expect([...windowEnds(run).keys()]).toEqual(["before", "after"]);
    expect(windowTimes(head, 0, ["before"])).toBe("Window of time: before, 5\u202fs to 9500\u202fms.");
  });

  it("mean what was sampled in them, not whole flows", () => {
    expect(meaningOf(head, "goodput_mean_bps", [])).toContain("over its lifetime");
    expect(meaningOf(head, "goodput_mean_bps", ["window"])).toContain("in the window");
  });

  it("are not mixed where several are wanted", () => {
    expect(mixedParts({ window: ["before", "after"], pattern: ["a", "b"] }, ["scheme"])).toEqual(["window"]);
    expect(mixedParts({ window: ["before", "after"] }, ["window"])).toEqual([]);
  });
});

describe("subflows on an axis", () => {
  const figure = bars({ chart: "lines", x: "subflows", series: "scheme" });

  it("join the points of a scheme", () => {
    const { marks, xs, series, numbers } = markFigure(head, [0], figure, []);
    expect(xs).toEqual(["1", "2", "4"]);
    expect(series).toEqual(["dctcp", "lia", "xmp"]);
    expect(marks.filter((mark) => mark.series === "xmp").map((mark) => mark.x)).toEqual(["2", "4"]);
    expect(numbers?.get("4")).toBe(4);
  });

  it("give each scheme a colour of its own", () => {
    const names = ["dctcp", "lia", "xmp"];
    const look = looks(head, "scheme", names);
    expect(new Set(names.map((name) => look(name, 0).colour)).size).toBe(3);
  });
});

describe("points that the figure itself prints", () => {
  it("stand beside ours, and alone where we have none", () => {
    const published = [
      { series: "xmp-2", x: "xmp-2", y: 1 },
      { series: "xmp-8", x: "xmp-8", y: 2 },
    ];
    const { marks, xs } = markFigure(head, [0], bars({ published }), []);
    expect(marks.find((mark) => mark.series === "xmp-2")?.published).toBe(1);
    expect(marks.at(-1)).toMatchObject({ x: "xmp-8", value: Number.NaN, published: 2 });
    expect(xs.at(-1)).toBe("xmp-8");
  });
});

describe("bars", () => {
  it("stand in the middle of their group, without gaps for what is not there", () => {
    const one = (x: string, series: string) => ({ x, series, run: 0 });
    const all = [one("a", "s"), one("a", "t"), one("b", "t")];
    const at = placed(all, ["a", "b"], ["s", "t"], 100);
    const [s, t, alone] = all.map(at);
    expect(((s?.centre ?? 0) + (t?.centre ?? 0)) / 2).toBeCloseTo(0.5);
    expect(s?.to).toBeLessThan(t?.from ?? 0);
    expect(alone?.centre).toBeCloseTo(1.5);
  });

  it("have names that do not touch", () => {
    expect(categories(["a", "b"], 80, "").tick).not.toHaveProperty("tickRotate");
    expect(categories(["a long name", "b"], 40, "").tick).toHaveProperty("tickRotate", -32);
    expect(categories(["a long name", "b"], 20, "").tick).toHaveProperty("tickRotate", -60);
  });
});

describe("error bars", () => {
  const values = [1, 10, 100];
  const [linear, log] = [false, true].map((is) => axisFor("fct_s", values, { log: is })) as [Axis, Axis];

  it("are open where a logarithmic axis has no place for their lower end", () => {
    expect(endsOf(10, 4, log)).toEqual({ low: 6, high: 14, isOpen: false });
    expect(endsOf(10, 10, log)).toEqual({ low: log.domain[0], high: 20, isOpen: true });
    expect(endsOf(10, 12, linear)).toEqual({ low: -2, high: 22, isOpen: false });
  });

  it("are none without an interval, and at no value", () => {
    expect(endsOf(10, null, log)).toBeNull();
    expect(endsOf(10, 0, linear)).toBeNull();
    expect(endsOf(0, 1, log)).toBeNull();
  });
});

describe("a box", () => {
  it("is a point if all values are the same", () => {
    expect([isPoint({ least: 2, most: 2 }), isPoint({ least: 1, most: 2 })]).toEqual([true, false]);
  });
});

describe("a matrix", () => {
  const cell = (x: string, y: string, value: number) => ({ panel: "p", x, y, value, ci95: null });

  it("colours each column by the ratio to its least value", () => {
    const cells = [cell("a", "1", 1), cell("a", "2", 4), cell("b", "1", 200), cell("b", "2", 100)];
    expect(cells.map(strengths(cells, true))).toEqual([0, 1, 0.5, 0]);
    // By values, 100 is the middle of 1 and 200.
    expect(cells.map(strengths(cells, false)).map((own) => Math.round(2 * own))).toEqual([0, 0, 2, 1]);
  });

  it("goes by the values where ratios have no meaning", () => {
    const cells = [cell("a", "1", 0), cell("a", "2", 5), cell("b", "1", 10)];
    expect(cells.map(strengths(cells, true))).toEqual([0, 0.5, 1]);
  });
});
