/** The settings of an experiment, from its TOML. */

/** The keys of TOML with their values as written. Enough for the program's output: no dotted keys, no dates. */
export function settings(toml: string): Map<string, string> {
  const all = new Map<string, string>();
  const counts = new Map<string, number>();
  let table = "";
  let key = "";
  let open = "";
  for (const line of toml.split("\n")) {
    if (open) {
      open += `\n${line}`;
    } else {
      const header = /^\s*(\[\[?)([^\]]+)\]\]?\s*$/.exec(line);
      if (header) {
        table = header[2] ?? "";
        if (header[1] === "[[") {
          const n = counts.get(table) ?? 0;
          counts.set(table, n + 1);
          table += ` ${n + 1}`;
        }
        continue;
      }
      const pair = /^\s*("[^"]*"|[\w.-]+)\s*=\s*(.*)$/.exec(line);
      if (!pair) continue;
      key = [table, pair[1]].filter(Boolean).join(".");
      open = pair[2] ?? "";
    }
    if (!isWhole(open)) continue;
    all.set(key, open.trim());
    open = "";
  }
  return all;
}

/** Whether a value has ended: its brackets and its long strings are closed. */
function isWhole(value: string): boolean {
  const bare = value.replace(/"""[\s\S]*?"""/g, "").replace(/'''[\s\S]*?'''/g, "");
  if (bare.includes('"""') || bare.includes("'''")) return false;
  const code = bare.replace(/"(?:\\.|[^"\\])*"|'[^'\n]*'/g, "");
  const of = (sign: string) => code.split(sign).length;
  return of("[") === of("]") && of("{") === of("}");
}
