/** The list of runs, as `tresse view` serves it: the page as built, and a server that is made up. */
import { readFileSync } from "node:fs";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { PageHead, RunList, RunSummary } from "../../src/data/contract";
import { fixtureRun, pageHead, XMP } from "../fixture";
import { launch } from "./page";

const TEMPLATE = readFileSync(new URL("../../dist/index.html", import.meta.url), "utf8");
const COMPLETE: RunSummary = {
  id: "old",
  experiment: "xmp/table1",
  title: "Goodput",
  schemes: ["xmp-2"],
  profile: "quick",
  seed: 1,
  replications: 1,
  state: "complete",
  date: "2026-01-01T00:00:00Z",
  wall_s: 60,
  packet_hops: 3e7,
  cases: 2,
  claims: { hold: 1, fail: 0, inconclusive: 0 },
  headline: { metric: "goodput_mean_bps", values: [{ label: "xmp-2", value: 6e8, ci95: null }] },
};
const BEGUN: RunSummary = {
  ...COMPLETE,
  id: "new",
  schemes: ["dctcp-1", "xmp-4"],
  state: "under-way",
  packet_hops: 0,
  cases: 0,
  claims: { hold: 0, fail: 0, inconclusive: 0 },
  headline: null,
  progress: {
    done_ratio: 0.25,
    elapsed_s: 10,
    left_s: 30,
    packet_hops: 5e6,
    replications_done: 0,
    replications: 4,
    schemes: ["dctcp-1", "xmp-4"],
  },
};

let browser: Browser;
beforeAll(async () => {
  browser = await launch();
});
afterAll(() => browser?.close());

/** The page of a run in progress, without a complete case. */
function begun(): PageHead {
  const { run } = fixtureRun(XMP);
  const report = { ...run.report, cases: [], claims: [], digest: "", packet_hops: 0, wall_s: 0 };
  const cases = run.cases.map((one) => ({ ...one, result: null }));
  const { progress } = BEGUN as Required<RunSummary>;
  return pageHead([{ ...run, id: "new", state: "under-way", progress, report, cases, tables: {} }]);
}

async function listed(...runs: RunSummary[]): Promise<Page> {
  const page = await (await browser.newContext({ viewport: { width: 1280, height: 900 } })).newPage();
  const list: RunList = { schema: "tresse/view/1", dir: "runs", runs };
  await page.route("http://tresse.test/**", (route) => {
    const path = new URL(route.request().url()).pathname;
    if (path === "/") return route.fulfill({ contentType: "text/html", body: TEMPLATE });
    if (path === "/api/runs") return route.fulfill({ json: list });
    if (path === "/api/page") return route.fulfill({ json: begun() });
    return route.fulfill({ status: 404 });
  });
  await page.goto("http://tresse.test/");
  await page.waitForSelector(".runs-table tbody tr");
  return page;
}

const rowOf = (page: Page, id: string) => page.locator(".runs-table tbody tr", { hasText: id });

describe("the list of runs", () => {
  it("shows of a run in progress what there is, and says what is not there yet", async () => {
    const page = await listed(BEGUN, COMPLETE);
    const words = await rowOf(page, "new").innerText();
    expect(words).toContain("dctcp-1, xmp-4");
    expect(words).toContain("5.0 million packet-hops in 10.0 s, 500\u202f000 a second");
    expect(words).toContain("25 %");
    const cells = await rowOf(page, "new").locator("td").allInnerTexts();
    // Cases, result and claims.
    expect(cells.slice(-3)).toEqual(["not yet", "not yet", "not yet"]);
    expect(await rowOf(page, "old").innerText()).not.toContain("not yet");
  });

  it("leads to the page of a run in progress, which says the same", async () => {
    const page = await listed(BEGUN);
    await rowOf(page, "new").locator("td").nth(4).click();
    const facts = await page.locator(".facts").innerText();
    expect(facts).toContain("5.0 million packet-hops in 10.0 s");
    expect(facts).toMatch(/Digest\s+not yet/i);
    expect(facts).toContain("0 of 10 complete");
  });

  it("opens a run wherever its row is clicked, but not by choosing it", async () => {
    const page = await listed(BEGUN, COMPLETE);
    const row = rowOf(page, "old");
    await row.locator("input").check();
    expect(new URL(page.url()).hash).toBe("");
    await row.locator("td").nth(4).click();
    expect(new URL(page.url()).hash).toBe("#/run?run=old");
  });
});
