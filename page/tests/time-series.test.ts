import { describe, expect, it } from "vitest";
import { looks } from "../src/charts/series";
import { DASHES } from "../src/data/colour";
import type { CaseHead, Figure } from "../src/data/contract";
import {
  casesOf,
  caseTitles,
  type FigureInput,
  type FigureRun,
  figurePanels,
  isShared,
} from "../src/time/figure";
import { stylesByScheme } from "../src/time/runs";
import { offeredBy, settled } from "../src/time/Scope";
import {
  defaultLines,
  entities,
  longestQueues,
  matches,
  type PortSeries,
  parsePath,
  type SubflowSeries,
} from "../src/time/series";
import { fixtureRun, pageHead, XMP } from "./fixture";

function subflow(wish: Partial<SubflowSeries>): SubflowSeries {
  const none = {
    case: 0,
    seed: 1,
    round: 0,
    group: "",
    flow: 0,
    from: 0,
    to: 1,
    subflow: 0,
    offset: 0,
    rows: 10,
  };
  return { ...none, path: null, ...wish };
}

describe("paths", () => {
  it("are ports from the sender", () => {
    expect(parsePath("12 7 40")).toEqual([12, 7, 40]);
    expect(parsePath(" 3 ")).toEqual([3]);
  });

  it("are nothing if they are anything else", () => {
    for (const text of [null, "", "1 x", "1 -2", "1.5"]) expect(parsePath(text)).toBeNull();
  });
});

describe("names of lines", () => {
  const members = [
    subflow({ group: "flow 2", flow: 0, subflow: 1 }),
    subflow({ group: "flow 2", flow: 0, subflow: 0 }),
    subflow({ group: "flow 1", flow: 0 }),
    subflow({ group: "many", flow: 10 }),
    subflow({ group: "many", flow: 9 }),
  ];

  it("say only what differs, in natural order", () => {
    expect(entities(members, "subflow").map((one) => one.name)).toEqual([
      "flow 1",
      "flow 2 · subflow 0",
      "flow 2 · subflow 1",
      "many · flow 9",
      "many · flow 10",
    ]);
  });

  it("of flows and groups stand for all that is in them", () => {
    const flows = entities(members, "flow");
    expect(flows.map((one) => one.name)).toEqual(["flow 1", "flow 2", "many · flow 9", "many · flow 10"]);
    expect(flows[1]?.members).toHaveLength(2);
    expect(entities(members, "group").map((one) => one.name)).toEqual(["flow 1", "flow 2", "many"]);
    expect(entities([subflow({ flow: 7 })], "subflow")[0]?.name).toBe("flow 7");
  });
});

describe("what is seen first", () => {
  it("is everything if that is little", () => {
    const few = entities([subflow({ flow: 1 }), subflow({ flow: 2 })], "subflow");
    expect(defaultLines(few)).toHaveLength(2);
  });

  it("is the whole flows that were there longest", () => {
    const many = Array.from({ length: 40 }, (_, i) =>
      subflow({ flow: i >> 1, subflow: i & 1, rows: i >> 1 === 7 ? 1 : i }),
    );
    const lines = entities(many, "subflow");
    const keys = defaultLines(lines);
    expect(keys).toHaveLength(12);
    const names = lines.filter((line) => keys.includes(line.key)).map((line) => line.name);
    expect(names[0]).toBe("flow 14 · subflow 0");
    expect(names.at(-1)).toBe("flow 19 · subflow 1");
  });

  it("is one flow at least, however many subflows it has", () => {
    const wide = Array.from({ length: 32 }, (_, i) => subflow({ subflow: i }));
    expect(defaultLines(entities(wide, "subflow"))).toHaveLength(32);
  });

  it("is the longest queues, and none that was empty", () => {
    const port = (number: number, offset: number): PortSeries => ({
      case: 0, seed: 1, round: 0, port: number, layer: "", offset, rows: 2,
    }); // biome-ignore format: a line
    const found = longestQueues([port(5, 0), port(6, 2), port(7, 4)], [1, 1, 9, 0, 0, 0], 4);
    expect(found.map((one) => one.port)).toEqual([6, 5]);
  });

  it("is found by all words, in any case", () => {
    expect(matches("Flow 2 · subflow 1", "SUB flow")).toBe(true);
    expect(matches("Flow 2", "")).toBe(true);
    expect(matches("Flow 2", "flow 3")).toBe(false);
  });
});

describe("scopes", () => {
  const series = [
    { case: 0, seed: 1, round: 0 },
    { case: 0, seed: 1, round: 1 },
    { case: 1, seed: 2, round: 5 },
  ];

  it("settle on what there is", () => {
    expect(settled(series, { case: 0, seed: 1, round: 1 })).toEqual(series[1]);
    expect(settled(series, { case: 1, seed: 1, round: 1 })).toEqual(series[2]);
    expect(settled(series, { case: 9, seed: 9, round: 9 })).toEqual(series[0]);
  });

  it("offer what the case has", () => {
    expect(offeredBy(series, series[2] as (typeof series)[0])).toEqual({
      cases: [0, 1],
      seeds: [2],
      rounds: [5],
    });
  });
});

describe("declared figures", () => {
  const one = (scheme: string, subflows: number | null, pattern = "shift"): CaseHead => ({
    case: { scheme, subflows, pattern },
    label: `${scheme}-${subflows} ${pattern}`,
    scheme: subflows === null ? scheme : `${scheme}-${subflows}`,
    result: 0,
  });
  const cases = [one("beta-4", 1), one("beta-6", 1)];
  const subflows = [0, 1].flatMap((place) => [
    subflow({ case: place, group: "flow 1" }),
    subflow({ case: place, group: "flow 2", subflow: 0 }),
    subflow({ case: place, group: "flow 2", subflow: 1 }),
  ]);
  const first: FigureRun = {
    run: 0,
    cases,
    subflows,
    ports: [
      { case: 0, seed: 1, round: 0, port: 3, layer: "core", offset: 0, rows: 1 },
      { case: 0, seed: 1, round: 0, port: 4, layer: "core", offset: 1, rows: 1 },
      { case: 0, seed: 1, round: 0, port: 9, layer: "edge", offset: 2, rows: 1 },
    ],
    nameOf: (port) => `port ${port.port}`,
  };
  const panelsOf = (figure: Partial<Figure>, wish: Partial<FigureInput> = {}) =>
    figurePanels({
      figure: { id: "f", title: "", chart: "time", ...figure },
      runs: [first],
      chosen: { seed: 1, round: 0 },
      ...wish,
    });
  const panels = (figure: Partial<Figure>, wish: Partial<FigureInput> = {}) =>
    panelsOf(figure, wish).map((panel) => [panel.title, panel.lines.map((line) => line.name)]);
  const apart = [
    ["beta-4", ["flow 1", "flow 2 · subflow 0", "flow 2 · subflow 1"]],
    ["beta-6", ["flow 1", "flow 2 · subflow 0", "flow 2 · subflow 1"]],
  ];

  it("have the schemes in one panel, and a line for each subflow", () => {
    const found = panelsOf({});
    expect(found.map((panel) => panel.title)).toEqual([""]);
    expect(found[0]?.lines.map((line) => line.name)).toEqual([
      "beta-4 · flow 1",
      "beta-4 · flow 2 · subflow 0",
      "beta-4 · flow 2 · subflow 1",
      "beta-6 · flow 1",
      "beta-6 · flow 2 · subflow 0",
      "beta-6 · flow 2 · subflow 1",
    ]);
    expect(found[0]?.lines.map((line) => line.scheme)).toEqual([
      ...Array(3).fill("beta-4-1"),
      ...Array(3).fill("beta-6-1"),
    ]);
    expect(isShared(found)).toBe(true);
  });

  it("have a panel for each value of other axes", () => {
    const both = [one("beta-4", 1), one("beta-6", 1), one("beta-4", 1, "other"), one("beta-6", 1, "other")];
    const four = [0, 1, 2, 3].map((place) => subflow({ case: place }));
    const runs = [{ ...first, cases: both, subflows: four }];
    expect(panels({ series: "scheme" }, { runs })).toEqual([
      ["shift", ["beta-4-1", "beta-6-1"]],
      ["other", ["beta-4-1", "beta-6-1"]],
    ]);
  });

  it("have a panel for each case on request, and where colours cannot tell the lines apart", () => {
    expect(panels({}, { apart: true })).toEqual(apart);
    const many = [0, 1].flatMap((place) =>
      Array.from({ length: 5 }, (_, flow) => subflow({ case: place, flow })),
    );
    const runs = [{ ...first, subflows: many }];
    expect(panels({}, { runs }).map(([title]) => title)).toEqual(["beta-4", "beta-6"]);
    expect(panels({}, { runs, apart: false }).map(([title]) => title)).toEqual([""]);
  });

  it("have the colours of their schemes, and dashes for several lines of one", () => {
    const { run } = fixtureRun(XMP);
    const head = pageHead([run]);
    const lines = [
      { name: "xmp-4 · flow 1", scheme: "xmp-4" },
      { name: "lia-2", scheme: "lia-2" },
      { name: "xmp-4 · flow 2", scheme: "xmp-4" },
    ];
    const style = stylesByScheme(head, lines);
    const colour = (scheme: string) => looks(head, "scheme", [scheme])(scheme, 0).colour;
    expect(style?.("xmp-4 · flow 1", 0)).toMatchObject({ colour: colour("xmp-4"), dash: "" });
    expect(style?.("xmp-4 · flow 2", 0)).toMatchObject({ colour: colour("xmp-4"), dash: DASHES[1] });
    expect(style?.("lia-2", 0)).toMatchObject({ colour: colour("lia-2"), dash: "" });
    expect(stylesByScheme(head, [...lines, { name: "flow 3", scheme: "" }])).toBeNull();
    const two = pageHead([run, { ...run, id: "b" }]);
    expect(stylesByScheme(two, lines)).toBeNull();
    expect(stylesByScheme(two, lines.slice(0, 2))?.("lia-2", 1)).toMatchObject({ dash: DASHES[1] });
  });

  it("leave out what is not wanted", () => {
    const wanted = { scheme: "beta-6", group: ["flow 2"], subflow: 1 };
    expect(panels({ where: wanted })).toEqual([["beta-6-1 shift", ["flow 2"]]]);
    expect(casesOf(cases, { id: "", title: "", chart: "time", where: { scheme: ["beta-4-1"] } })).toEqual([
      0,
    ]);
    expect(panels({ where: { scheme: "none" } })).toEqual([]);
  });

  it("name the case where one panel has several", () => {
    expect(panels({ panels: "group", series: "flow" })).toEqual([
      ["flow 1", ["beta-4 · flow 1", "beta-6 · flow 1"]],
      ["flow 2", ["beta-4 · flow 2", "beta-6 · flow 2"]],
    ]);
    expect(panels({ panels: "pattern", series: "scheme" })).toEqual([["shift", ["beta-4-1", "beta-6-1"]]]);
  });

  it("are of ports and layers too", () => {
    expect(panels({ y: "waiting_pkts", where: { layer: "core" } })).toEqual([
      ["beta-4", ["port 3", "port 4"]],
    ]);
    expect(panels({ y: "utilisation_ratio", series: "layer" })).toEqual([["beta-4", ["core", "edge"]]]);
  });

  it("have the lines of all runs in the same panels, under the same names", () => {
    // Another seed, its only case is the second one of the first run, and one subflow was never there.
    const second: FigureRun = {
      ...first,
      run: 1,
      cases: cases.slice(1),
      subflows: [
        subflow({ case: 0, seed: 2, group: "flow 1" }),
        subflow({ case: 0, seed: 2, group: "flow 2", subflow: 1 }),
      ],
    };
    const found = figurePanels({
      figure: { id: "f", title: "", chart: "time" },
      runs: [first, second],
      chosen: { seed: 1, round: 0 },
      apart: true,
    });
    expect(found.map((panel) => panel.title)).toEqual(["beta-4", "beta-6"]);
    const own = (run: number) => found[1]?.lines.filter((line) => line.run === run);
    expect(own(0)?.map((line) => line.name)).toEqual(["flow 1", "flow 2 · subflow 0", "flow 2 · subflow 1"]);
    expect(own(1)?.map((line) => line.name)).toEqual(["flow 1", "flow 2 · subflow 1"]);
    expect(own(1)?.[0]?.scope).toEqual({ case: 0, seed: 2, round: 0 });
    expect(found[0]?.lines.some((line) => line.run === 1)).toBe(false);
  });

  it("have titles of what differs between cases", () => {
    const many = [one("xmp", 2), one("xmp", 4), one("lia", 4)];
    expect([...caseTitles(many, [0, 1, 2]).values()]).toEqual(["xmp-2", "xmp-4", "lia-4"]);
    expect([...caseTitles(many, [0]).values()]).toEqual(["xmp-2 shift"]);
  });
});
