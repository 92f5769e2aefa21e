/** Several runs in the same panels: which belong together, and how their lines are distinguished. */
import { runLetter } from "../charts/series";
import { COLOURS, DASHES, schemeStyles } from "../data/colour";
import type { PageHead } from "../data/contract";
import { lineStyle } from "./model";

function grouped(runs: readonly number[], keyOf: (run: number) => string): number[][] {
  const groups = new Map<string, number[]>();
  for (const run of runs) groups.set(keyOf(run), [...(groups.get(keyOf(run)) ?? []), run]);
  return [...groups.values()];
}

/** The runs of each experiment. */
export function sameExperiment(head: PageHead, runs: readonly number[]): number[][] {
  return grouped(runs, (run) => head.runs[run]?.report.experiment ?? "");
}

/** The runs of each experiment that have the same cases. */
export function sameCases(head: PageHead, runs: readonly number[]): number[][] {
  return grouped(runs, (run) => {
    const { report, cases } = head.runs[run] ?? {};
    return JSON.stringify([report?.experiment, cases?.map((one) => one.label).sort()]);
  });
}

/** `B real` */
export function runName(head: PageHead, run: number): string {
  return `${runLetter(run)} ${head.runs[run]?.id ?? ""}`;
}

/** `lia-2 flow 1 · B real` */
export function nameOfRun(head: PageHead, run: number, line: string): string {
  return line ? `${line} · ${runName(head, run)}` : runName(head, run);
}

/** The same line has the same colour in every run; its dash identifies the run, as everywhere on the page. */
export function styleOfRun(head: PageHead, run: number, place: number): ReturnType<typeof lineStyle> {
  const { colour, quiet } = lineStyle(place);
  // Repeated colours have dashes that no run uses.
  const again = quiet ? 0 : Math.floor(place / COLOURS);
  return { colour, quiet, dash: DASHES[(again * head.runs.length + run) % DASHES.length] ?? "" };
}

export type LineStyle = ReturnType<typeof lineStyle>;

/**
 * The styles of lines whose names are those of schemes: a scheme has its own colour, and several lines of one have
 * different dashes, as in `python/tresse/plot/over_time.py`. Null if something else distinguishes the lines.
 */
export function stylesByScheme(
  head: PageHead,
  lines: readonly { name: string; scheme: string }[],
): ((name: string, run: number) => LineStyle) | null {
  const styles = schemeStyles(head);
  const names = new Map<string, string[]>();
  const schemeOf = new Map(lines.map(({ name, scheme }) => [name, scheme]));
  for (const [name, scheme] of schemeOf) names.set(scheme, [...(names.get(scheme) ?? []), name]);
  const several = head.runs.length > 1;
  // With several runs, dashes are those of the runs.
  const most = several ? 1 : DASHES.length;
  if ([...names].some(([scheme, own]) => !styles.has(scheme) || own.length > most)) return null;
  return (name, run) => {
    const scheme = schemeOf.get(name) ?? "";
    const style = styles.get(scheme);
    const place = names.get(scheme)?.indexOf(name) ?? 0;
    const own = place === 0 && style?.again ? style.dash : (DASHES[place] ?? "");
    const dash = several ? (DASHES[run % DASHES.length] ?? "") : own;
    return { colour: style?.colour ?? "var(--muted)", dash, quiet: false };
  };
}

/** The most lines that a note names. */
const NAMED = 6;

/** A note that a run lacks lines of another one; empty if it lacks none. */
export function lacks(head: PageHead, run: number, lines: readonly string[]): string {
  if (lines.length === 0) return "";
  const more = lines.length > NAMED ? ` and ${lines.length - NAMED} more` : "";
  return `${runName(head, run)} has no samples of ${lines.slice(0, NAMED).join(", ")}${more}.`;
}
