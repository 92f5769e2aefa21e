/**
 * Every built-in experiment's page: a second of each run is enough to see that its figures can be drawn. `make test` takes
 * every eighth, `make test-all` (TRESSE_TEST_ALL) all.
 */
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { dir, end, filled, launch, opened, TRESSE, tresse } from "./page";

/** How long each experiment runs, once its folder is there, before it is interrupted. */
const RUNS_MS = 400;
/** Pages at a time: one for each core of a small machine. */
const TOGETHER = 2;

let browser: Browser;
beforeAll(async () => {
  browser = await launch();
});
afterAll(async () => {
  await browser?.close();
  end();
});

/** Runs an experiment until it is interrupted, or has ended: its folder. */
async function begun(name: string): Promise<string> {
  const out = join(dir, name.replace("/", "-"));
  const run = spawn(TRESSE, ["run", name, "--out", out, "--parallel", "1", "--progress", "never"], {
    stdio: "ignore",
  });
  const ended = new Promise((resolve) => run.on("exit", resolve));
  // A large network is set up before the run has a folder.
  while (run.exitCode === null && !existsSync(join(out, "run.json"))) await sleep(20);
  const timer = setTimeout(() => run.kill("SIGINT"), RUNS_MS);
  await ended;
  clearTimeout(timer);
  return out;
}

/** What goes wrong in the page of an experiment. */
async function problems(name: string): Promise<string[]> {
  const folder = await begun(name);
  const file = `${folder}.html`;
  try {
    await tresse("report", folder, "-o", file);
  } catch (cause) {
    return [`${name}: ${cause}`];
  }
  filled(file);
  const { page, said } = await opened(browser, file);
  const { figures } = JSON.parse(readFileSync(join(folder, "run.json"), "utf8")).resolved;
  await page.evaluate(() => window.dispatchEvent(new Event("beforeprint")));
  await page.waitForFunction(
    () => document.querySelectorAll("#figures .loading, .drawing .loading, .placeholder").length === 0,
  );
  const wrong = [...said];
  // An experiment without figures has no such section.
  const shown = figures?.length ? await page.locator("#figures").innerText() : "";
  for (const figure of figures ?? []) {
    if (!shown.includes(figure.title)) wrong.push(`${figure.id} is not there`);
  }
  await page.context().close();
  return wrong.map((text) => `${name}: ${text}`);
}

it("has a page for the built-in experiments, without an error", { timeout: 600_000 }, async () => {
  const list = JSON.parse((await tresse("list", "experiments", "--json")).stdout);
  const names: string[] = list.experiments.map((one: { name: string }) => one.name);
  expect(names.length).toBeGreaterThanOrEqual(58);
  const wrong: string[] = [];
  const left = process.env.TRESSE_TEST_ALL ? [...names] : names.filter((_, n) => n % 8 === 0);
  const work = async () => {
    for (let name = left.shift(); name !== undefined; name = left.shift())
      wrong.push(...(await problems(name)));
  };
  await Promise.all(Array.from({ length: TOGETHER }, work));
  expect(wrong).toEqual([]);
});
