// The template as `crates/report` takes it in.
import { copyFileSync, mkdirSync } from "node:fs";

const to = new URL("../../crates/report/", import.meta.url);
mkdirSync(to, { recursive: true });
copyFileSync(new URL("../dist/index.html", import.meta.url), new URL("page.html", to));
