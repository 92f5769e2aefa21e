/** Time, fabric and a link's detail in a browser: moved with the keyboard, saved as files. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { dir, drawAll, end, launch, opened, pageOf, rowsOf } from "./page";

let browser: Browser;
let page: Page;
let said: string[];

beforeAll(async () => {
  const { file } = await pageOf([[]]);
  browser = await launch();
  ({ page, said } = await opened(browser, file));
  await drawAll(page);
  await page.locator("#figure-time-0 .time-plot canvas").first().waitFor();
  await page.locator("#figure-fabric-0 .fabric-stage canvas").waitFor();
});

afterAll(async () => {
  await browser?.close();
  end();
});

describe("time", () => {
  it("zooms and pans with the keyboard, all panels together", async () => {
    const own = page.locator("#figure-time-0");
    const seen = () => own.locator(".time-brush").getAttribute("aria-valuetext");
    const all = await rowsOf(page, "time-0");
    await own.locator(".time-plot").first().focus();
    await page.keyboard.press("+");
    const zoomed = await seen();
    expect((await rowsOf(page, "time-0")).rows.length).toBeLessThan(all.rows.length);
    await page.keyboard.press("ArrowRight");
    expect(await seen()).not.toBe(zoomed);
    await page.keyboard.press("0");
    expect(await own.locator(".time-window.is-whole").count()).toBe(1);
    expect((await rowsOf(page, "time-0")).rows).toEqual(all.rows);
  });

  it("shows the values under the pointer in all its legends", async () => {
    const own = page.locator("#figure-time-0");
    const over = own.locator(".time-plot .u-over").first();
    await over.scrollIntoViewIfNeeded();
    await over.hover({ position: { x: 200, y: 30 } });
    await page.waitForFunction(() =>
      document.querySelector("#figure-time-0 .time-when")?.textContent?.startsWith("at "),
    );
    const heads = await own.locator(".time-when").allTextContents();
    expect(new Set(heads).size).toBe(1);
  });

  it("is saved as a drawing that stands by itself", async () => {
    const [file] = await Promise.all([
      page.waitForEvent("download"),
      page.locator("#figure-time-0").getByRole("button", { name: /^SVG/ }).click(),
    ]);
    const path = join(dir, "time.svg");
    await file.saveAs(path);
    const svg = readFileSync(path, "utf8");
    expect(svg).toContain("<path");
    expect(svg).not.toContain("var(--");
  });
});

describe("fabric", () => {
  it("shows a link from its table, over time too", async () => {
    const own = page.locator("#figure-fabric-0");
    await own.locator(".fabric-links summary").click();
    await own.locator("button.fabric-link").first().click();
    expect(await own.locator(".fabric-detail h4").count()).toBe(1);
    expect(await own.locator(".fabric-detail .time-plot").count()).toBe(2);
  });

  it("shows the path of a flow, link by link", async () => {
    const own = page.locator("#figure-fabric-0");
    const search = own.getByLabel("Path of a flow");
    await search.fill("host 0");
    await own.locator(".fabric-found button").first().click();
    expect(await own.locator(".fabric-ways").textContent()).toMatch(/subflow 0, \d links|no paths?/);
  });

  it("goes wrong in neither, and asks for nothing", async () => {
    expect(said.filter((words) => /^(Over time|Fabric|small|asked for)/.test(words))).toEqual([]);
    expect(await page.locator("#time .message.error, #fabric .message.error").count()).toBe(0);
  });
});
