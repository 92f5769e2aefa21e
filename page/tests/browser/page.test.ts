import { readFileSync } from "node:fs";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { PageHead } from "../../src/data/contract";
import { dir, drawAll, end, launch, opened, pageOf, rowsOf } from "./page";

const SCRIPT = "<script>alert(1)</script>";
let browser: Browser;
let file: string;
let head: PageHead;

beforeAll(async () => {
  ({ file, head } = await pageOf([[]]));
  browser = await launch();
});

afterAll(async () => {
  await browser?.close();
  end();
});

const metric = (scheme: string, subflows: number, pattern: string, name: string) =>
  head.runs[0]?.report.cases.find(
    (one) => one.case.scheme === scheme && one.case.subflows === subflows && one.case.pattern === pattern,
  )?.metrics[name];

describe("the page of a run", () => {
  it("draws everything without a network, and complains of nothing", async () => {
    const { page, said } = await opened(browser, file);
    await drawAll(page);
    const ids =
      head.runs[0]?.figures.filter((figure) => figure.chart !== "time").map((figure) => figure.id) ?? [];
    for (const id of [...ids, "page-distribution", "page-boxes", "page-by-size", "page-axes"]) {
      expect((await rowsOf(page, id)).rows.length, id).toBeGreaterThan(0);
      expect(await page.locator(`[id="figure-${id}"] .drawing svg.plot`).count(), id).toBeGreaterThan(0);
    }
    expect(await page.locator(".message.error").allInnerTexts()).toEqual([]);
    expect(said).toEqual([]);
  });

  it("keeps a scheme that is called like a script as text", async () => {
    const { page, said } = await opened(browser, file);
    await drawAll(page);
    expect(await page.locator("table.wide td").first().innerText()).toBe("dctcp-1");
    expect(await page.locator(`#results td:text-is("${SCRIPT}-2")`).count()).toBeGreaterThan(0);
    expect(
      await page.evaluate(() => [...document.scripts].filter((s) => s.text.trim() === "alert(1)").length),
    ).toBe(0);
    expect(said).toEqual([]);
  });

  it("says what to know before its schemes are compared", async () => {
    const { page } = await opened(browser, file);
    const notes = await page.locator(".notes li").allInnerTexts();
    // Its web flows are few and large: they end long after the last one has begun.
    expect(notes.some((note) => note.includes("not a steady state"))).toBe(true);
    expect(notes).toEqual(head.runs[0]?.report.notes);
  });

  it("shows the numbers of the results", async () => {
    const { page } = await opened(browser, file);
    await drawAll(page);
    const bars = await rowsOf(page, "bars");
    expect(bars.columns.slice(0, 4)).toEqual(["panel", "pattern", "series", "goodput_mean_bps"]);
    for (const [name, subflows] of [
      ["dctcp", 1],
      [SCRIPT, 4],
    ] as const) {
      const row = bars.rows.find((own) => own[1] === "permutation" && own[2] === `${name}-${subflows}`);
      expect(row?.[3]).toBe(metric(name, subflows, "permutation", "goodput_mean_bps"));
    }
    expect(bars.rows.find((row) => row[1] === "permutation" && row[2] === "dctcp-1")?.[5]).toBe(5e8);

    // The median of the curve is the one that the program computed of the same flows.
    const by = head.runs[0]?.report.cases.find(
      (one) => one.case.scheme === "dctcp" && one.case.pattern === "permutation",
    )?.by;
    const cdf = await rowsOf(page, "cdf");
    for (const [distance, metrics] of Object.entries(by?.distance ?? {})) {
      const own = cdf.rows.filter((row) => row[0] === distance && row[1] === "dctcp-1");
      const median = own.find((row) => Number(row[3]) >= 0.5)?.[2];
      expect(median, distance).toBe(metrics.goodput_p50_bps);
    }
    const boxes = await rowsOf(page, "boxes");
    expect(boxes.columns).toEqual(["pattern", "layer", "series", "count", ...boxes.columns.slice(4)]);
  });

  it("counts RTTs, observations of queues and links as the program does", async () => {
    const { page } = await opened(browser, file);
    await page.locator("#distributions").scrollIntoViewIfNeeded();
    const select = page.locator("#figure-page-distribution select").first();
    for (const [quantity, column, name] of [
      ["rtt_s", "rtt_s", "rtt_p50_s"],
      ["queue_pkts", "queue_pkts", "queue_p99_pkts"],
      ["slowdown_ratio", "slowdown_ratio", "slowdown_p50_ratio"],
    ] as const) {
      await select.selectOption(quantity);
      await page.waitForFunction(
        (wanted) => window.tresse.figures["page-distribution"]?.columns.includes(wanted),
        column,
      );
      await page.waitForFunction(() => !document.querySelector("#figure-page-distribution .loading"));
      await page.waitForTimeout(300);
      const part = Number(/_p(\d+)_/.exec(name)?.[1]) / 100;
      const { rows } = await rowsOf(page, "page-distribution");
      const pattern = quantity === "queue_pkts" ? "permutation" : "web";
      const own = rows.filter((row) => row[0] === pattern && row[1] === "dctcp-1");
      // Of queues the program's own metric is of switches' ports.
      if (quantity === "queue_pkts") expect(own.length).toBeGreaterThan(0);
      else {
        const found = Number(own.find((row) => Number(row[3]) >= part)?.[2]);
        const wanted = Number(metric("dctcp", 1, pattern, name));
        expect(found / wanted, quantity).toBeCloseTo(1, quantity === "rtt_s" ? 2 : 12);
      }
    }
  });

  it("has all schemes in one panel over time, or a panel for each case", async () => {
    const { page } = await opened(browser, file);
    await drawAll(page);
    const own = page.locator("#figure-overlay");
    const names = ["dctcp-1", `${SCRIPT}-2`, `${SCRIPT}-4`];
    const titles = () => own.locator(".time-panels .panel-title").allInnerTexts();
    const colours = (id: string) =>
      page
        .locator(`#figure-${id} .legend svg`)
        .evaluateAll((keys) => keys.map((key) => key.querySelector("[stroke^=var]")?.getAttribute("stroke")));
    expect(await own.locator(".legend li").allInnerTexts()).toEqual(names);
    expect(await titles()).toHaveLength(1);
    expect(await colours("overlay")).toEqual((await colours("cdf")).slice(0, 3));
    await own.getByLabel("A panel for each case").check();
    expect((await titles()).map((title) => title.split(" ")[0])).toEqual(names);
  });

  it("smooths lines over time, with the samples behind them", async () => {
    const { page, said } = await opened(browser, file);
    await drawAll(page);
    for (const id of ["overlay", "time-0"]) {
      const own = page.locator(`#figure-${id}`);
      const picture = () =>
        own
          .locator(".time-plot canvas")
          .first()
          .evaluate((canvas: HTMLCanvasElement) => canvas.toDataURL());
      const [before, rows] = [await picture(), await rowsOf(page, id)];
      const smooth = own.locator("label:has-text('Smooth') select");
      await smooth.selectOption("0.1");
      await expect.poll(picture).not.toBe(before);
      expect(await page.locator(`#figure-${id}-caption`).innerText()).toContain("Smoothed: the mean over");
      // Files have what was sampled.
      expect(await rowsOf(page, id)).toEqual(rows);
      await smooth.selectOption("0");
      await expect.poll(picture).toBe(before);
    }
    expect(said).toEqual([]);
  });

  it("has an arrow where an interval reaches zero, and a point where all values are the same", async () => {
    const { page } = await opened(browser, file);
    await drawAll(page);
    const { rows } = await rowsOf(page, "times");
    const open = rows.filter((row) => Number(row[4]) >= Number(row[3])).length;
    expect(open).toBeGreaterThan(0);
    expect(await page.locator("#figure-times .to-zero path").count()).toBe(open);
    expect(await page.locator("#figure-times-caption").innerText()).toContain("the interval reaches zero");
    expect(await page.locator("#figure-sizes .one-value path").count()).toBe(3);
    expect(await page.locator("#figure-sizes svg.plot rect").count()).toBe(0);
  });

  it("writes drawings, pictures and data", async () => {
    const { page, said } = await opened(browser, file);
    await drawAll(page);
    const saved: Record<string, string> = {};
    for (const kind of ["SVG", "PNG", "CSV"]) {
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        page.locator(`#figure-cdf .frame-files button:text-is("${kind}")`).click(),
      ]);
      saved[kind] = `${dir}/cdf.${kind}`;
      await download.saveAs(saved[kind]);
    }
    const svg = readFileSync(saved.SVG as string, "utf8");
    const wrong = await page.evaluate((text) => {
      const parsed = new DOMParser().parseFromString(text, "image/svg+xml");
      return parsed.querySelector("parsererror")?.textContent ?? null;
    }, svg);
    expect(wrong).toBeNull();
    expect(svg).toMatch(/^<\?xml/);
    expect(svg).not.toMatch(/var\(--|class=|<style|href=/);
    expect(svg).toContain("&lt;script&gt;");
    expect(svg).toContain('fill="#ffffff"');
    expect(
      readFileSync(saved.PNG as string)
        .subarray(1, 4)
        .toString(),
    ).toBe("PNG");
    const lines = readFileSync(saved.CSV as string, "utf8")
      .trim()
      .split("\r\n");
    expect(lines.length - 1).toBe((await rowsOf(page, "cdf")).rows.length);
    await page.locator('#figure-bars .frame-files button:text-is("Table")').click();
    expect(await page.locator("#figure-bars-table tbody tr").count()).toBe(
      (await rowsOf(page, "bars")).rows.length,
    );
    expect(said).toEqual([]);
  });

  it("follows the system's theme until the reader chooses", async () => {
    const { page } = await opened(browser, file, { colorScheme: "dark" });
    const theme = () => page.evaluate(() => document.documentElement.dataset.theme);
    expect(await theme()).toBe("dark");
    await page.locator(".theme select").selectOption("light");
    expect(await theme()).toBe("light");
    await page.reload();
    expect(await theme()).toBe("light");
  });

  it("fits a telephone", async () => {
    const { page } = await opened(browser, file, { viewport: { width: 390, height: 800 } });
    await drawAll(page);
    // Not every machine has narrow fonts; and what can be opened must fit too.
    await page.addStyleTag({ content: "* { letter-spacing: 0.1em !important; }" });
    for (const open of [false, true]) {
      await page.evaluate((is) => {
        for (const one of document.querySelectorAll("details")) one.open = is;
      }, open);
      const [wide, window] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
      expect(wide, open ? "opened" : "closed").toBeLessThanOrEqual(window ?? 0);
    }
  });

  it("reads a curve at the pointer and by keys", async () => {
    const { page } = await opened(browser, file);
    await drawAll(page);
    const plot = page.locator("#figure-cdf .plot-box").first();
    await plot.hover({ position: { x: 150, y: 80 } });
    expect(await plot.locator(".tip tbody tr").count()).toBeGreaterThan(0);
    await page.mouse.move(0, 0);
    await plot.focus();
    await page.keyboard.press("ArrowRight");
    expect(await plot.locator(".tip").innerText()).toContain("bit/s");
  });
});

describe("the page of two runs", () => {
  it("has both in every figure, and their differences", async () => {
    const two = await pageOf([[], ["--seed", "2", "--set", "fabric.mark=20pkt"]]);
    const { page, said } = await opened(browser, two.file);
    await drawAll(page);
    const bars = await rowsOf(page, "bars");
    expect(bars.rows.filter((row) => String(row[2]).endsWith("· B")).length).toBe(bars.rows.length / 2);
    expect(await page.locator("#compare code:text-is('\"20pkt\"')").count()).toBe(1);
    expect(said).toEqual([]);
  });
});

describe("the page of a run over a key", () => {
  it("has it on the axis, with its unit", async () => {
    const swept = await pageOf([["--only", "scheme=dctcp", "--set", 'fabric.mark=["10pkt", "40pkt"]']]);
    const { page, said } = await opened(browser, swept.file);
    await drawAll(page);
    const own = page.locator("#figure-page-axes");
    expect(await own.locator("label:has-text('Against') select").inputValue()).toBe("mark");
    expect((await rowsOf(page, "page-axes")).columns[1]).toBe("mark");
    const words = await own.locator("svg.plot").first().locator("text").allTextContents();
    expect(words).toContain("mark (packets)");
    expect(words).toEqual(expect.arrayContaining(["10", "40"]));
    expect(said).toEqual([]);
  });
});

describe("a page whose table is corrupt", () => {
  it("says so in its place and shows the rest", async () => {
    const { writeFileSync } = await import("node:fs");
    const text = readFileSync(file, "utf8").replace(/(id="tresse-0-flows">)[^<]{40}/, "$1AAAAAAAA");
    const broken = `${dir}/broken.html`;
    writeFileSync(broken, text);
    const { page } = await opened(browser, broken);
    await page.evaluate(() => window.dispatchEvent(new Event("beforeprint")));
    await page.waitForSelector("#figure-cdf .message.error");
    expect(await page.locator("#figure-cdf .message.error").innerText()).toContain(
      "The table flows cannot be read",
    );
    expect(await page.locator("#figure-bars svg.plot").count()).toBe(1);
    expect(await page.locator("#results tbody tr").count()).toBeGreaterThan(0);
  });
});
