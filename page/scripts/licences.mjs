// Adds to the built page the licences of the libraries that are in it, as they ask: each text once, with the names of those
// that have it.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";

const root = new URL("../", import.meta.url);
const { packages } = JSON.parse(readFileSync(new URL("package-lock.json", root), "utf8"));
const texts = new Map();
for (const [path, { version, license, dev }] of Object.entries(packages)) {
  if (path === "" || dev || path.includes("@types/")) continue;
  const folder = new URL(`${path}/`, root);
  if (!existsSync(folder)) continue;
  const file = readdirSync(folder).find((name) => /^licen[cs]e/i.test(name));
  const text = file ? readFileSync(new URL(file, folder), "utf8").trim() : `Licence: ${license}`;
  const name = `${path.replace(/^.*node_modules\//, "")} ${version}`;
  texts.set(text, [...(texts.get(text) ?? []), name]);
}
const all = [...texts]
  .map(([text, names]) => `${names.join(", ")}\n\n${text}`)
  .join(`\n\n${"-".repeat(72)}\n\n`);
const page = new URL("dist/index.html", root);
const html = readFileSync(page, "utf8");
// Nothing in them may end the element that they stand in.
const block = `<script type="text/plain" id="licences">\n${all.replace(/<(?=\/?script|!--)/gi, "(")}\n</script>\n`;
writeFileSync(
  page,
  html.replace("</body>", () => `${block}</body>`),
);
