/** Runs that are made up, in the form that the program gives them to the page. */
import { gzipSync } from "node:zlib";
import {
  Dictionary,
  Field,
  Float64,
  Int32,
  makeData,
  makeVector,
  RecordBatch,
  Schema,
  Struct,
  Table,
  tableToIPC,
  Uint32,
  Utf8,
  type Vector,
  vectorFromArray,
} from "apache-arrow";
import type { CaseHead, CaseResult, Metrics, PageHead, Parts, RunHead } from "../src/data/contract";
import { distribution, mean, percentile } from "../src/data/stats";

export type Column =
  | { kind: "f64"; values: (number | null)[]; delta?: boolean }
  | { kind: "u32"; values: number[] }
  | { kind: "text"; values: (string | null)[] };

/** An Arrow IPC stream of these columns. */
export function ipc(columns: Record<string, Column>): Uint8Array {
  const fields: Field[] = [];
  const vectors: Vector[] = [];
  for (const [name, column] of Object.entries(columns)) {
    if (column.kind === "u32") {
      fields.push(new Field(name, new Uint32(), false));
      vectors.push(makeVector(Uint32Array.from(column.values)));
    } else if (column.kind === "f64") {
      fields.push(new Field(name, new Float64(), true, new Map(column.delta ? [["delta", "1"]] : [])));
      vectors.push(vectorFromArray(column.values, new Float64()));
    } else {
      const type = new Dictionary(new Utf8(), new Int32());
      fields.push(new Field(name, type, true));
      vectors.push(vectorFromArray(column.values, type));
    }
  }
  const schema = new Schema(fields);
  const length = vectors[0]?.length ?? 0;
  const data = makeData({
    type: new Struct(fields),
    length,
    nullCount: 0,
    children: vectors.map((vector) => vector.data[0] as NonNullable<(typeof vector.data)[0]>),
  });
  return tableToIPC(new Table(schema, [new RecordBatch(schema, data)]), "stream");
}

/** Numbers that look random and are always the same (mulberry32). */
export function drawing(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

export interface FixtureWish {
  id: string;
  seed: number;
  flows: number;
  schemes: [name: string, subflows: number, mean: number][];
  patterns: string[];
  marks?: string[];
}

const DISTANCES = ["inner-rack", "inter-rack", "inter-pod"];

interface Flows {
  case: number[];
  seed: number[];
  group: string[];
  flow: string[];
  round: number[];
  locality: string[];
  size_bytes: number[];
  start_ps: number[];
  end_ps: (number | null)[];
  lasted_ps: number[];
  ideal_ps: number[];
  goodput_bps: number[];
  retransmissions: number[];
  timeouts: number[];
  rounds: number[];
  windows_pkts: number[];
}

function metricsOf(flows: Flows, rows: number[]): Metrics {
  const goodput = distribution(rows.map((i) => flows.goodput_bps[i] as number));
  const fct = distribution(
    rows.filter((i) => flows.end_ps[i] !== null).map((i) => (flows.lasted_ps[i] as number) / 1e12),
  );
  return {
    goodput_mean_bps: mean(goodput),
    goodput_p10_bps: percentile(goodput, 10),
    goodput_p50_bps: percentile(goodput, 50),
    goodput_p90_bps: percentile(goodput, 90),
    fct_mean_s: mean(fct),
    fct_p50_s: percentile(fct, 50),
    fct_p99_s: percentile(fct, 99),
    flows: rows.length,
    timeouts: rows.reduce((sum, i) => sum + (flows.timeouts[i] as number), 0),
  };
}

/** A run with its tables, by their names. */
export function fixtureRun(wish: FixtureWish): { run: RunHead; tables: Map<string, Uint8Array> } {
  const random = drawing(wish.seed);
  const flows: Flows = {
    case: [], seed: [], group: [], flow: [], round: [], locality: [], size_bytes: [], start_ps: [], end_ps: [],
    lasted_ps: [], ideal_ps: [], goodput_bps: [], retransmissions: [], timeouts: [], rounds: [], windows_pkts: [],
  }; // biome-ignore format: a list
  const cases: CaseHead[] = [];
  const results: CaseResult[] = [];
  for (const pattern of wish.patterns) {
    for (const mark of wish.marks ?? [null]) {
      for (const [name, subflows, wanted] of wish.schemes) {
        const place = cases.length;
        const axes = { scheme: name, subflows, pattern, ...(mark === null ? {} : { "fabric.mark": mark }) };
        cases.push({
          case: axes,
          label: `${name}-${subflows} ${pattern}`,
          scheme: `${name}-${subflows}`,
          result: place,
        });
        const from = flows.case.length;
        for (let i = 0; i < wish.flows; i++) {
          const size = Math.round(10 ** (3 + 5 * random()));
          const rate = Math.max(
            1e5,
            wanted * (0.4 + 1.2 * random() ** 1.5) * (pattern === "permutation" ? 1 : 0.8),
          );
          const lasted = Math.round(((size * 8) / rate) * 1e12);
          const stopped = i % 97 === 96;
          flows.case.push(place);
          flows.seed.push(1);
          flows.group.push("");
          flows.flow.push(String(i));
          flows.round.push(i % 4);
          flows.locality.push(DISTANCES[i % 3] as string);
          flows.size_bytes.push(size);
          flows.start_ps.push(i * 1e6);
          flows.end_ps.push(stopped ? null : i * 1e6 + lasted);
          flows.lasted_ps.push(lasted);
          flows.ideal_ps.push(Math.round(lasted / (1 + 8 * random() ** 4)));
          flows.goodput_bps.push(Math.round(rate));
          flows.retransmissions.push(Math.floor(4 * random()));
          flows.timeouts.push(random() < 0.02 ? 1 : 0);
          flows.rounds.push(10);
          flows.windows_pkts.push(Math.round(80 + 40 * random()));
        }
        const rows = Array.from({ length: wish.flows }, (_, i) => from + i);
        const metrics = metricsOf(flows, rows);
        const distance: Parts[string] = Object.fromEntries(
          DISTANCES.map((part) => [
            part,
            metricsOf(
              flows,
              rows.filter((i) => flows.locality[i] === part),
            ),
          ]),
        );
        results.push({
          case: axes,
          metrics,
          by: { distance },
          ci95: { goodput_mean_bps: (metrics.goodput_mean_bps as number) * 0.03 },
          ci95_over: "rounds",
          published: mark === null ? { goodput_mean_bps: wanted * 0.9, goodput_p50_bps: wanted * 0.85 } : {},
          published_by: mark === null ? { distance: { "inter-pod": { goodput_p90_bps: wanted * 1.3 } } } : {},
          optimum: name === "xmp" ? { goodput_mean_bps: wanted * 1.1, goodput_distance_mean: 0.129 } : {},
          optimum_of: "round_start",
          no_optimum: name === "xmp" ? null : `${name} claims no utility`,
          no_convergence: null,
          no_sharing_score: null,
        });
      }
    }
  }
  const number = (values: (number | null)[]): Column => ({ kind: "f64", values });
  const text = (values: (string | null)[]): Column => ({ kind: "text", values });
  const columns: Record<string, Column> = { case: { kind: "u32", values: flows.case } };
  for (const [name, values] of Object.entries(flows)) {
    if (name === "case") continue;
    columns[name] =
      typeof values[0] === "string" ? text(values as string[]) : number(values as (number | null)[]);
  }
  const tables = new Map([["flows", ipc(columns)]]);
  const rows = flows.case.length;
  const run: RunHead = {
    id: wish.id,
    state: "complete",
    problems: [],
    report: {
      schema: "tresse/run/1",
      experiment: "xmp/table1",
      profile: "quick",
      seed: 1,
      replications: 1,
      status: "complete",
      version: "0.2.0",
      model_version: 2,
      out: `runs/${wish.id}`,
      wall_s: 154.6,
      packet_hops: 5_733_000_000,
      digest: "354299e401f9de2e432d43c89726d631",
      judged: true,
      cases: results,
      claims: [
        claim("xmp2-beats-dctcp", "holds", "holds", 1.32),
        claim("xmp2-equals-lia4", "holds", "does not hold", 1.04),
        claim("xmp-doubles-jct", "does not hold", "does not hold", 1.27),
        claim("jobs-cost-little", "inconclusive", "holds", 0.98),
      ],
    },
    experiment: {
      title: "Permutation, Random and Incast on a fat tree of 128 hosts",
      source: "XMP §5.2, Tables 1 and 3, Figs. 8 to 11",
      about:
        "One set of runs: Table 1 has the mean goodput of large flows, Fig. 8 its distribution by distance.",
      resolved: `title = "Permutation, Random and Incast"\n\n[fabric]\ntopology = "fat-tree"\nk = ${wish.seed === 1 ? 8 : 4}\n\n[published]\nsource = "XMP Tables 1 and 3"\n`,
      keys: { fabric: { topology: "fat-tree", k: wish.seed === 1 ? 8 : 4 } },
      published_source: "XMP Tables 1 and 3",
      is_published: true,
    },
    command: `tresse run xmp/table1 --only pattern=permutation,random --seed ${wish.seed}`,
    host: { os: "linux", architecture: "x86_64", threads: 2, started: "2026-11-23T15:00:00Z" },
    cases,
    published: results.flatMap((result) => {
      const own = {
        scheme: String(result.case.scheme),
        subflows: Number(result.case.subflows),
        pattern: String(result.case.pattern),
      };
      const parts = Object.entries(result.published_by.distance ?? {});
      return [
        { case: own, part: {}, metrics: result.published },
        ...parts.map(([distance, metrics]) => ({ case: own, part: { distance }, metrics })),
      ];
    }),
    figures: [
      {
        id: "fig8",
        title: "Distribution of goodput by distance",
        chart: "cdf",
        x: "goodput_bps",
        panels: "distance",
        where: { pattern: "permutation" },
      },
      {
        id: "table1-bars",
        title: "Mean goodput of large flows",
        chart: "bars",
        x: "pattern",
        y: "goodput_mean_bps",
      },
      {
        id: "boxes8",
        title: "Goodput by distance",
        chart: "boxes",
        x: "distance",
        y: "goodput_bps",
        panels: "pattern",
      },
      {
        id: "tradeoff",
        title: "What goodput costs",
        chart: "scatter",
        x: "goodput_mean_bps",
        y: "fct_p99_s",
        panels: "pattern",
      },
      {
        id: "subflow-lines",
        title: "Goodput against subflows",
        chart: "lines",
        x: "scheme",
        y: "goodput_mean_bps",
        series: "pattern",
        where: { scheme: "xmp" },
      },
    ],
    tables: {
      flows: {
        rows,
        rows_of_run: rows,
        columns: Object.keys(columns).map((name) => ({ name, unit: "", meaning: "" })),
      },
    },
    networks: [],
  };
  return { run, tables };
}

function claim(
  id: string,
  verdict: "holds" | "does not hold" | "inconclusive",
  expected: typeof verdict,
  value: number,
) {
  return {
    id,
    text: `What ${id} says of both, in the words of the paper`,
    source: "XMP §5.2.2",
    metric: "goodput_mean_bps",
    form: "ratio" as const,
    holds: verdict === "inconclusive" ? null : verdict === "holds",
    verdict,
    value,
    ci95: 0.03,
    cases: { of: 2, hold: verdict === "holds" ? 2 : 1 },
    expected,
    because: "1.05 in Permutation, 1.19 in Random, 1.16 in Incast.",
  };
}

export function pageHead(runs: RunHead[]): PageHead {
  return {
    schema: "tresse/page/1",
    version: "0.2.0",
    runs,
    metrics: {
      goodput_mean_bps: {
        unit: "bit/s",
        meaning: "a flow's delivered payload over its lifetime, the mean over flows",
        shown: { of: "rates", place: 0, compared: true },
      },
      goodput_p10_bps: {
        unit: "bit/s",
        meaning: "at least 10 % of the flows had no more",
        shown: { of: "rates", place: 1, compared: false },
      },
      fct_p99_s: { unit: "s", meaning: "at least 99 % of the flows took no longer" },
    },
  };
}

/** JSON that can stand inside of a script element. */
export function safeJson(value: unknown): string {
  return JSON.stringify(value).replaceAll("<", "\\u003c");
}

/** The page that holds these runs, as the program fills the template. */
export function filled(template: string, runs: ReturnType<typeof fixtureRun>[]): string {
  const parts = [
    `<script type="application/json" id="tresse-head">${safeJson(pageHead(runs.map(({ run }) => run)))}</script>`,
  ];
  runs.forEach(({ tables }, place) => {
    for (const [name, bytes] of tables) {
      const packed = gzipSync(bytes).toString("base64");
      parts.push(`<script type="application/gzip" id="tresse-${place}-${name}">${packed}</script>`);
    }
  });
  return template.replace("<!--tresse:data-->", () => parts.join("\n"));
}

export const XMP: FixtureWish = {
  id: "xmp-table1-1",
  seed: 1,
  flows: 400,
  schemes: [
    ["dctcp", 1, 513.6e6],
    ["lia", 2, 400.8e6],
    ["lia", 4, 627.3e6],
    ["xmp", 2, 644.3e6],
    ["xmp", 4, 735.6e6],
  ],
  patterns: ["permutation", "random"],
};
