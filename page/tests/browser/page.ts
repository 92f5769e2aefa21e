/** A real run, its page with the template as it is built now, and a browser that has no network. */
import { execFile } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import type { Rows } from "../../src/charts/rows";
import type { PageHead } from "../../src/data/contract";

const here = fileURLToPath(new URL(".", import.meta.url));
export const TRESSE = process.env.TRESSE ?? join(here, "../../../target/release/tresse");
export const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium";
const DATA = /<script type="application\/(?:json|gzip)" id="tresse-[^>]*>[^<]*<\/script>/g;

export const dir = mkdtempSync(join(tmpdir(), "tresse-page-"));
export const end = () => rmSync(dir, { recursive: true, force: true });

/** `small.toml` under a path that no telephone has on one line. */
const experiment = join(
  dir,
  "ExperimentsOfSomebodyWhoGivesFoldersLongNamesWithoutAnyPlaceToBreakThem",
  "small.toml",
);
mkdirSync(dirname(experiment));
copyFileSync(join(here, "small.toml"), experiment);

/** A page, and what is at its head. */
type Reported = { file: string; head: PageHead };

/** The page of a run of `small.toml` with these arguments, in the template of `dist`. */
export async function pageOf(runs: string[][]): Promise<Reported> {
  const folders = runs.map((_, place) => join(dir, `small-${Math.random().toString(36).slice(2)}-${place}`));
  for (const [place, args] of runs.entries()) await run(folders[place] as string, args);
  return reported(`${folders[0]}.html`, folders);
}

/** The page of a folder with two such runs, which says that it is of a twin. */
export async function pageOfTwin(simulated: string[], real: string[]): Promise<Reported> {
  const folder = join(dir, `twin-${Math.random().toString(36).slice(2)}`);
  await run(join(folder, "simulated"), simulated);
  await run(join(folder, "real"), real);
  writeFileSync(join(folder, "twin.json"), '{ "schema": "tresse/twin/1" }');
  return reported(`${folder}.html`, [folder]);
}

/** Runs the command. A worker of Vitest that waits synchronously cannot answer, and has failed after a minute. */
export const tresse = (...args: string[]) => promisify(execFile)(TRESSE, args, { maxBuffer: 1 << 26 });

const run = (out: string, args: string[]) => tresse("run", experiment, "--out", out, ...args);

async function reported(file: string, folders: string[]): Promise<Reported> {
  await tresse("report", ...folders, "-o", file);
  const data = filled(file);
  const json = data.find((script) => script.includes('id="tresse-head"')) ?? "";
  const head = JSON.parse(json.replace(/^<script[^>]*>/, "").replace(/<\/script>$/, "")) as PageHead;
  return { file, head };
}

/** Puts the data of a page into the template of `dist`, which may be newer than the program's: its data. */
export function filled(file: string): string[] {
  const data: string[] = readFileSync(file, "utf8").match(DATA) ?? [];
  const template = readFileSync(join(here, "../../dist/index.html"), "utf8");
  writeFileSync(
    file,
    template.replace("<!--tresse:data-->", () => data.join("\n")),
  );
  return data;
}

export const launch = () => chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });

/**
 * How long a page may take to do anything. Beside simulations on two cores a page has been still loading after Playwright's
 * 30 s; one that never comes is a failure all the same.
 */
const PATIENCE_MS = 120_000;

/** Opens a page without a network; `said` collects what goes wrong in it. */
export async function opened(browser: Browser, file: string, options: BrowserContextOptions = {}) {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 900 },
    offline: true,
    ...options,
  });
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  const said: string[] = [];
  page.on("pageerror", (error) => said.push(error.message));
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") said.push(message.text());
  });
  page.on("dialog", (dialog) => {
    said.push(`dialog ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("request", (request) => {
    if (!/^(file|data|blob):/.test(request.url())) said.push(`asked for ${request.url()}`);
  });
  await page.goto(`file://${file}`);
  await page.waitForSelector("main h1");
  return { page, said };
}

/** Draws all figures, also those that are far away. */
export async function drawAll(page: Page) {
  await page.evaluate(() => window.dispatchEvent(new Event("beforeprint")));
  await page.evaluate(() => window.dispatchEvent(new Event("afterprint")));
  await page.waitForSelector(".drawing svg.plot");
  await page.waitForFunction(() => document.querySelectorAll(".drawing .loading, .placeholder").length === 0);
}

export async function rowsOf(page: Page, id: string): Promise<Rows> {
  return await page.evaluate((name) => window.tresse.figures[name] as Rows, id);
}
