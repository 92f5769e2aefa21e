// Draws the figures of finished runs as docs/reproduction shows them: every figure that an experiment declares, as an SVG.
//
//   node scripts/figures.mjs TRESSE RUNS OUT
//
// RUNS has a folder for each paper (`xmp-quick`) with a run of each experiment; OUT gets `xmp-fig8.svg`, …. A figure whose
// values do not exist in the run, of which its page says so, is left out.
import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";

const [tresse, runs, out] = process.argv.slice(2);
if (!out) {
  console.error("expected: node scripts/figures.mjs TRESSE RUNS OUT");
  process.exit(2);
}
mkdirSync(out, { recursive: true });
/** A loaded machine is slow; a figure that is not there by then is missing. */
const patience = { timeout: 120_000 };
const temporary = mkdtempSync(join(tmpdir(), "tresse-figures-"));
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM || "/usr/bin/chromium",
  args: ["--no-sandbox"],
});
let failed = 0;
try {
  for (const folder of readdirSync(runs)
    .filter((name) => name.endsWith("-quick"))
    .sort()) {
    const paper = folder.slice(0, -"-quick".length);
    for (const experiment of readdirSync(join(runs, folder)).sort()) {
      const run = join(runs, folder, experiment);
      if (isComplete(run)) failed += await draw(paper, run);
    }
  }
} finally {
  await browser.close();
  rmSync(temporary, { recursive: true });
}
process.exit(failed === 0 ? 0 : 1);

/** What was interrupted has other figures. */
function isComplete(run) {
  const file = join(run, "run.json");
  return existsSync(file) && JSON.parse(readFileSync(file, "utf8")).status === "complete";
}

/** Draws the figures of a run: how many could not be. */
async function draw(paper, run) {
  const file = join(temporary, "report.html");
  execFileSync(tresse, ["report", run, "-o", file], { stdio: ["ignore", "ignore", "inherit"] });
  const page = await browser.newPage({ viewport: { width: 1040, height: 900 }, colorScheme: "light" });
  let missing = 0;
  try {
    await page.goto(`file://${file}`, { waitUntil: "domcontentloaded", ...patience });
    const head = JSON.parse(await page.locator("#tresse-head").textContent());
    for (const { id } of head.runs[0].figures) {
      try {
        const frame = page.locator(`[id="figure-${id}"]`);
        await frame.scrollIntoViewIfNeeded(patience);
        const drawing = frame.locator("svg.plot, canvas");
        const nothing = frame.locator(".message:not(.error)");
        await drawing.or(nothing).first().waitFor(patience);
        if (await nothing.count()) {
          console.error(`${run}: ${id} is left out: ${await nothing.first().textContent()}`);
          continue;
        }
        const saved = page.waitForEvent("download", patience);
        await frame.getByRole("button", { name: /^SVG/ }).click();
        const svg = readFileSync(await (await saved).path(), "utf8");
        writeFileSync(join(out, `${paper}-${id}.svg`), compact(svg));
      } catch (cause) {
        missing += 1;
        console.error(`${run}: ${id} is not drawn: ${String(cause).split("\n")[0]}`);
      }
    }
  } finally {
    await page.close();
  }
  return missing;
}

/** The same picture with coordinates of a hundredth of a pixel. */
function compact(svg) {
  return `${svg.replace(/-?\d+\.\d{3,}/g, (number) => String(Number(Number(number).toFixed(2))))}\n`;
}
