/** Every chart is in pictures of the page: on a screen, a phone, on paper, and without a window. */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { inflateSync } from "node:zlib";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CHROMIUM, dir, end, launch, opened, pageOf } from "./page";

let browser: Browser;
let file: string;

beforeAll(async () => {
  ({ file } = await pageOf([[]]));
  browser = await launch();
});

afterAll(async () => {
  await browser?.close();
  end();
});

type Colour = [number, number, number];

/** The colours of the first two series on paper, `--series-0` and `--series-1`. */
const FIRST: Colour = [0x11, 0x70, 0xaa];
const SECOND: Colour = [0xd4, 0x58, 0x0a];

/** Chromium as a reader starts it, without a window and without Playwright. */
const plain = (...args: string[]) =>
  promisify(execFile)(CHROMIUM, ["--headless", "--no-sandbox", "--disable-gpu", ...args, `file://${file}`], {
    maxBuffer: 1 << 28,
    timeout: 240_000,
  });

interface Place {
  id: string;
  x: number;
  y: number;
  width: number;
  height: number;
}

/** Where the charts are: every drawing of a figure, and every canvas. */
const charts = (page: Page): Promise<Place[]> =>
  page.evaluate(() =>
    [...document.querySelectorAll<Element>(".drawing svg.plot, .drawing canvas, .fabric-stage canvas")].map(
      (one) => {
        const { x, y, width, height } = one.getBoundingClientRect();
        const id = one.closest("figure")?.id ?? "";
        return { id, x: x + scrollX, y: y + scrollY, width, height };
      },
    ),
  );

/** For each place of a picture, how many of its pixels are neither white nor grey. */
async function coloured(page: Page, png: Buffer, places: Place[]): Promise<number[]> {
  return await page.evaluate(
    async ([url, all]) => {
      const image = new Image();
      image.src = url;
      await image.decode();
      const canvas = document.createElement("canvas");
      [canvas.width, canvas.height] = [image.width, image.height];
      const context = canvas.getContext("2d", { willReadFrequently: true });
      if (!context) throw new Error("no canvas");
      context.drawImage(image, 0, 0);
      return all.map(({ x, y, width, height }) => {
        const { data } = context.getImageData(x, y, Math.max(1, width), Math.max(1, height));
        let count = 0;
        for (let at = 0; at < data.length; at += 4) {
          const own = [data[at], data[at + 1], data[at + 2]] as number[];
          if (Math.max(...own) - Math.min(...own) > 40) count++;
        }
        return count;
      });
    },
    [`data:image/png;base64,${png.toString("base64")}`, places] as const,
  );
}

function expectNoneEmpty(places: Place[], counts: number[]) {
  expect(places.length).toBeGreaterThan(9);
  const empty = places.filter((_, i) => (counts[i] ?? 0) < 20).map((place) => place.id);
  expect(empty).toEqual([]);
}

describe("a picture of the page", () => {
  it("has every chart as soon as the page is loaded, on a screen and on a phone", async () => {
    for (const [width, height] of [
      [1280, 900],
      [375, 700],
    ] as const) {
      const { page, said } = await opened(browser, file, { viewport: { width, height } });
      await page.waitForLoadState("load");
      expect(await page.locator(".placeholder, .loading").count()).toBe(0);
      const places = await charts(page);
      const png = await page.screenshot({ fullPage: true });
      expectNoneEmpty(places, await coloured(page, png, places));
      expect(said).toEqual([]);
      await page.close();
    }
  });

  it("has every chart if Chromium takes it without a window", async () => {
    const { page } = await opened(browser, file);
    await page.waitForLoadState("load");
    const high = await page.evaluate(() => document.documentElement.scrollHeight);
    await page.setViewportSize({ width: 1280, height: high });
    const places = await charts(page);
    const picture = join(dir, "plain.png");
    await plain(`--screenshot=${picture}`, `--window-size=1280,${high}`, "--hide-scrollbars");
    expectNoneEmpty(places, await coloured(page, readFileSync(picture), places));
    const { stdout } = await plain("--dump-dom");
    expect(stdout).not.toMatch(/class="(placeholder|loading)"/);
    expect(stdout).not.toContain("Over 0 flows");
    await page.close();
  });

  it("has every chart on paper, in the page's own colours", async () => {
    const { page } = await opened(browser, file, { colorScheme: "dark" });
    await page.waitForLoadState("load");
    await page.emulateMedia({ media: "print" });
    const places = await charts(page);
    expect(places.filter(({ width, height }) => width < 50 || height < 10)).toEqual([]);
    const own = await page.pdf({ format: "A4" });
    const written = join(dir, "plain.pdf");
    await plain(`--print-to-pdf=${written}`);
    // What remains without them is drawn on a canvas.
    await page.addStyleTag({ content: "svg { visibility: hidden !important; }" });
    const canvases = await page.pdf({ format: "A4" });
    for (const pdf of [own, readFileSync(written), canvases]) {
      const { pages, text } = read(pdf);
      expect(pages).toBeGreaterThan(4);
      for (const colour of [FIRST, SECOND]) expect(inColour(text, colour), colour.join()).toBeGreaterThan(0);
    }
    expect(inColour(read(own).text, FIRST)).toBeGreaterThan(inColour(read(canvases).text, FIRST));
    await page.close();
  });

  it("is light on paper at once, also what is drawn on a canvas", async () => {
    const { page } = await opened(browser, file, { colorScheme: "dark" });
    await page.waitForLoadState("load");
    const [dark = 0, light = 0] = await page.evaluate(async ([r, g, b]) => {
      const canvas = document.querySelector<HTMLCanvasElement>("#figure-rates canvas");
      const context = canvas?.getContext("2d");
      if (!canvas || !context) throw new Error("no canvas");
      const near = () => {
        const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
        const off = (at: number, part: number) => Math.abs((data[at] ?? 0) - part);
        let count = 0;
        for (let at = 0; at < data.length; at += 4) {
          const isOpaque = (data[at + 3] ?? 0) > 200;
          if (isOpaque && off(at, r) + off(at + 1, g) + off(at + 2, b) < 12) count++;
        }
        return count;
      };
      const before = near();
      window.dispatchEvent(new Event("beforeprint"));
      await Promise.resolve();
      return [before, near()];
    }, FIRST);
    expect(dark).toBe(0);
    expect(light).toBeGreaterThan(50);
    await page.close();
  });
});

/** What a PDF of Chromium contains: how many pages, and the commands of all of them. */
function read(pdf: Buffer): { pages: number; text: string } {
  const raw = pdf.toString("latin1");
  const texts: string[] = [];
  for (const { index } of raw.matchAll(/stream\r?\n/g)) {
    const from = index + (raw[index + 6] === "\r" ? 8 : 7);
    const to = raw.indexOf("endstream", from);
    try {
      texts.push(inflateSync(pdf.subarray(from, to)).toString("latin1"));
    } catch {
      // It is not compressed, or is no text.
    }
  }
  return { pages: raw.match(/\/Type\s*\/Page\b/g)?.length ?? 0, text: texts.join("\n") };
}

/** How often commands set a colour to draw with. */
function inColour(text: string, colour: Colour): number {
  const near = (word: string | undefined, part: number) => Math.abs(Number(word) * 255 - part) < 0.6;
  return [...text.matchAll(/([\d.]+) ([\d.]+) ([\d.]+) (?:rg|RG)\b/g)].filter(
    ([, r, g, b]) => near(r, colour[0]) && near(g, colour[1]) && near(b, colour[2]),
  ).length;
}
