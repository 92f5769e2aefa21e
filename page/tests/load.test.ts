import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { embeddedSource, fromBase64 } from "../src/data/load";
import { decodeTable, MISSING } from "../src/data/table";
import { fixtureRun, ipc, pageHead, XMP } from "./fixture";

const packed = (bytes: Uint8Array) => gzipSync(bytes).toString("base64");

describe("a table", () => {
  const table = decodeTable(
    ipc({
      case: { kind: "u32", values: [0, 0, 1, 4_000_000_000] },
      start_ps: { kind: "f64", values: [1e12, 5, 5, -3], delta: true },
      end_ps: { kind: "f64", values: [1.5, null, 3, null] },
      layer: { kind: "text", values: ["core", null, "rack", "core"] },
    }),
  );

  it("has its columns as typed arrays", () => {
    expect(table.rows).toBe(4);
    expect(table.has("end_ps") && !table.has("nothing")).toBe(true);
    expect(table.number("case")).toEqual(Uint32Array.of(0, 0, 1, 4_000_000_000));
  });

  it("restores differences", () => {
    expect([...table.number("start_ps")]).toEqual([1e12, 1e12 + 5, 1e12 + 10, 1e12 + 7]);
  });

  it("has NaN for what is missing, and keeps what it has unpacked", () => {
    expect([...table.number("end_ps")]).toEqual([1.5, Number.NaN, 3, Number.NaN]);
    expect(table.number("end_ps")).toBe(table.number("end_ps"));
  });

  it("has codes and words", () => {
    const { codes, words } = table.text("layer");
    expect([...codes].map((code) => (code === MISSING ? null : words[code]))).toEqual([
      "core",
      null,
      "rack",
      "core",
    ]);
  });

  it("says which column it has not", () => {
    expect(() => table.number("nothing")).toThrow("there is no column nothing");
    expect(() => table.number("layer")).toThrow("column layer has no numbers");
  });
});

describe("the page's own data", () => {
  const { run, tables } = fixtureRun({ ...XMP, flows: 20 });
  const elements = new Map<string, string>([["tresse-head", JSON.stringify(pageHead([run]))]]);
  for (const [name, bytes] of tables) elements.set(`tresse-0-${name}`, packed(bytes));
  elements.set("tresse-0-jobs", packed(Uint8Array.of(1, 2, 3)));
  elements.set("tresse-0-rtts", "!!!");
  elements.set("tresse-0-network-0", packed(new TextEncoder().encode('{"hosts":4}')));
  const source = embeddedSource((id) => elements.get(id) ?? null);

  it("are read once", async () => {
    expect((await source.head()).runs[0]?.id).toBe("xmp-table1-1");
    const flows = await source.table(0, "flows");
    expect(flows?.rows).toBe(200);
    expect(await source.table(0, "flows")).toBe(flows);
    expect((await source.network(0, 0)).hosts).toBe(4);
  });

  it("have null for a table that is not there", async () => {
    expect(await source.table(0, "links")).toBeNull();
  });

  it("say what cannot be read", async () => {
    await expect(source.table(0, "jobs")).rejects.toThrow("The table jobs cannot be read");
    await expect(source.table(0, "rtts")).rejects.toThrow("The table rtts cannot be read");
    await expect(source.network(0, 1)).rejects.toThrow("Network 1 cannot be read: it is not in the page");
  });

  it("may be broken into lines", () => {
    expect([...fromBase64("AQ\nID\n")]).toEqual([1, 2, 3]);
  });
});

describe("large tables", () => {
  it("of a million rows open in two seconds", { timeout: 60_000 }, async () => {
    const rows = 1_000_000;
    const values = Array.from({ length: rows }, (_, i) => (i % 1000) * 1e6);
    const names = ["start_ps", "duration_ps", "arrived_bytes", "cwnd_pkts", "srtt_ps", "flow_optimum_bps"];
    const bytes = ipc(
      Object.fromEntries(
        names.map((name) => [name, { kind: "f64", values, delta: name === "start_ps" } as const]),
      ),
    );
    const text = packed(bytes);
    const source = embeddedSource(() => text);
    // Of the processor, in microseconds: others may be using the machine.
    const from = process.cpuUsage();
    const table = await source.table(0, "samples");
    for (const name of names) table?.number(name);
    const { user, system } = process.cpuUsage(from);
    expect(user + system).toBeLessThan(2e6);
    expect(table?.rows).toBe(rows);
  });
});
