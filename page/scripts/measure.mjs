// How fast a page opens and pans in Chromium: for docs/performance.md, on a machine that does nothing else.
//
//   tresse run xmp/fig4 --set measure.samples=2ms --out big --report
//   node scripts/measure.mjs big/report.html
import { resolve } from "node:path";
import { chromium } from "playwright-core";

const [file, times = "5"] = process.argv.slice(2);
if (!file) {
  console.error("expected: node scripts/measure.mjs PAGE [TIMES]");
  process.exit(2);
}
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM || "/usr/bin/chromium",
  args: ["--no-sandbox"],
});
const measured = [];
for (let n = 0; n < Number(times); n++) measured.push(await once());
await browser.close();
const median = (name) => measured.map((one) => one[name]).sort((a, b) => a - b)[measured.length >> 1];
console.log(
  `medians of ${measured.length}: time charts drawn ${median("opened").toFixed(0)} ms after the start,`,
);
console.log(`pan ${median("pan").toFixed(1)} ms a frame, zoom ${median("zoom").toFixed(1)} ms a frame`);

async function once() {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  page.on("pageerror", (error) => console.error(error.message));
  await page.goto(`file://${resolve(file)}#time`, { waitUntil: "commit" });
  await page.waitForSelector(".time-plot canvas", { timeout: 60_000 });
  const result = await page.evaluate(async () => {
    const frame = () => new Promise((done) => requestAnimationFrame(done));
    await frame();
    const opened = await frame();
    const plot = document.querySelector(".time-plot .u-over");
    const box = plot.getBoundingClientRect();
    const [clientX, clientY] = [box.left + box.width / 2, box.top + 20];
    const wheel = (deltaX, deltaY, ctrlKey) =>
      plot.dispatchEvent(
        new WheelEvent("wheel", {
          deltaX,
          deltaY,
          ctrlKey,
          clientX,
          clientY,
          bubbles: true,
          cancelable: true,
        }),
      );
    /** The mean time of a frame, ms. */
    const frames = async (count, each) => {
      const start = await frame();
      let end = start;
      for (let i = 0; i < count; i++) {
        each(i);
        end = await frame();
      }
      return (end - start) / count;
    };
    wheel(0, -340, true);
    await new Promise((done) => setTimeout(done, 500));
    const pan = await frames(120, (i) => wheel(i % 60 < 30 ? 12 : -12, 0, false));
    const zoom = await frames(60, (i) => wheel(0, i % 30 < 15 ? -30 : 30, true));
    return { opened, pan, zoom };
  });
  await page.close();
  return result;
}
