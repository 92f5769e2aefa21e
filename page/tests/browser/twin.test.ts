/** Two runs in the same figures over time: those of a twin's folder. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Rows } from "../../src/charts/rows";
import { dir, drawAll, end, launch, opened, pageOfTwin, rowsOf } from "./page";

/** The case that has a figure over time. */
const FEW = ["--only", "scheme=dctcp", "--only", "pattern=permutation"];

let browser: Browser;
let page: Page;
let said: string[];
let ids: string[];

beforeAll(async () => {
  const { file, head } = await pageOfTwin(FEW, [...FEW, "--seed", "2"]);
  ids = head.runs.map((run) => run.id);
  browser = await launch();
  ({ page, said } = await opened(browser, file));
  await drawAll(page);
  await page.locator("#figure-rates .time-plot canvas").first().waitFor();
  await page.locator("#figure-time-0 .time-plot canvas").first().waitFor();
});

afterAll(async () => {
  await browser?.close();
  end();
});

/** The lines of a run, without what says whose they are. */
const linesOf = ({ rows }: Rows, run: string) => {
  const all = [...new Set(rows.map((row) => String(row[0])))];
  return all.filter((name) => name.endsWith(` · ${run}`)).map((name) => name.slice(0, -run.length - 3));
};

it("says which run is the simulated one", async () => {
  expect(ids).toEqual(["simulated", "real"]);
  expect(await page.locator("#compare").innerText()).toContain("A is simulated, B is real");
  expect(await page.locator("#compare").innerText()).toContain("None: the runs are of the same experiment");
});

it("draws a declared figure over time once, with the lines of both", async () => {
  const own = page.locator("#figure-rates");
  const rows = await rowsOf(page, "rates");
  expect(linesOf(rows, "A simulated").length).toBeGreaterThan(1);
  expect(linesOf(rows, "B real")).toEqual(linesOf(rows, "A simulated"));
  const caption = await page.locator("#figure-rates-caption").innerText();
  expect(caption).toMatch(/A simulated: .*small.toml, quick profile, seed 1.*; B real: .*seed 2/);
  const [a, b] = await own
    .locator(".legend line")
    .evaluateAll((all) =>
      all.slice(0, 2).map((one) => ["stroke", "stroke-dasharray"].map((name) => one.getAttribute(name))),
    );
  expect(b?.[0]).toBe(a?.[0]);
  expect([a?.[1], b?.[1]]).toEqual(["", "7 3"]);
  const [file] = await Promise.all([
    page.waitForEvent("download"),
    own.getByRole("button", { name: /^SVG/ }).click(),
  ]);
  await file.saveAs(join(dir, "rates.svg"));
  const svg = readFileSync(join(dir, "rates.svg"), "utf8");
  expect(svg.includes("· B real")).toBe(true);
  expect(svg.includes('stroke-dasharray="7px, 3px"')).toBe(true);
});

it("lays the other run over the one that is explored, as long as the reader wants", async () => {
  const own = page.locator("#figure-time-0");
  expect(await page.locator("#figure-time-1").count()).toBe(0);
  const rows = await rowsOf(page, "time-0");
  expect(linesOf(rows, "A simulated").length).toBeGreaterThan(1);
  expect(linesOf(rows, "B real").length).toBeGreaterThan(1);
  expect(await own.locator(".time-readout th[scope=row]:has-text('· B real')").count()).toBeGreaterThan(1);
  await own.getByLabel("Lay B real over it").uncheck();
  expect((await rowsOf(page, "time-0")).rows.some((row) => String(row[0]).includes(" · B"))).toBe(false);
  await own.locator(".frame-controls select").first().selectOption({ label: "B real" });
  const other = page.locator("#figure-time-1");
  await other.locator(".time-plot canvas").first().waitFor();
  expect(await other.getByLabel("Lay A simulated over it").isChecked()).toBe(true);
});

it("complains of nothing", async () => {
  expect(await page.locator(".message.error").allInnerTexts()).toEqual([]);
  expect(said).toEqual([]);
});
