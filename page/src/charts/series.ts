/** The look of the series of a figure: schemes as everywhere on the page, runs by dash and opacity. */
import { DASHES, type Style, schemeStyles, stylesOf } from "../data/colour";
import type { PageHead } from "../data/contract";
import type { LegendItem } from "./legend";

export interface Looks {
  colour: string;
  dash: string;
  symbol: Style["symbol"];
  opacity: number;
  label: string;
}

/** The look of a series in a run of the page. */
export type Look = (series: string, run: number) => Looks;

export function looks(head: PageHead, dimension: string, names: string[]): Look {
  const schemes = schemeStyles(head);
  const known = dimension === "scheme" || names.every((name) => schemes.has(name));
  const styles = known ? schemes : stylesOf(names);
  const several = head.runs.length > 1;
  return (series, run) => {
    const style = styles.get(series);
    const id = head.runs[run]?.id ?? "";
    return {
      colour: style?.colour ?? "var(--muted)",
      // Markers distinguish colours; dashes distinguish runs, and series beyond the last colour.
      dash: several ? (DASHES[run % DASHES.length] ?? "") : style?.again ? style.dash : "",
      symbol: style?.symbol ?? "circle",
      opacity: several && run > 0 ? 0.75 : 1,
      label: several ? `${series || id} · ${runLetter(run)}` : series,
    };
  };
}

/** Runs of a page are A, B, C … in the order in which they were named. */
export function runLetter(run: number): string {
  return String.fromCharCode(65 + (run % 26));
}

/** The look of the optimum as a line. */
export const OPTIMUM_DASH = "1 3";

export interface LegendWish {
  kind: "line" | "area" | "point";
  published?: boolean;
  optimum?: boolean;
}

/** The legend of a figure: series, then runs, then the paper's and the optimum. */
export function legendOf(
  head: PageHead,
  series: string[],
  runs: number[],
  look: Look,
  wish: LegendWish,
): LegendItem[] {
  const several = head.runs.length > 1;
  const items: LegendItem[] = [];
  if (series.length > 1 || (series[0] !== "" && !several)) {
    for (const name of series) {
      const own = look(name, 0);
      const key =
        wish.kind === "area"
          ? { symbol: "rect" as const }
          : wish.kind === "line"
            ? { dash: several ? "" : own.dash, symbol: own.symbol }
            : { symbol: own.symbol };
      items.push({ label: name, colour: own.colour, ...key });
    }
  }
  if (several) {
    for (const run of runs) {
      const dash = DASHES[run % DASHES.length] ?? "";
      const id = head.runs[run]?.id ?? "";
      const key =
        wish.kind === "area"
          ? { symbol: "rect" as const, opacity: runOpacity(run) }
          : wish.kind === "point"
            ? { symbol: "circle" as const, hollow: run > 0 }
            : { dash };
      items.push({ label: `${runLetter(run)}: ${id}`, colour: "var(--muted)", ...key });
    }
  }
  if (wish.published) items.push({ label: "paper", colour: "var(--paper)", symbol: "diamond", hollow: true });
  if (wish.optimum) {
    const key = wish.kind === "line" ? { dash: OPTIMUM_DASH } : { symbol: "tick" as const };
    items.push({ label: "optimum", colour: "var(--optimum)", ...key });
  }
  return items;
}

/** The opacity of a run's areas. */
export function runOpacity(run: number): number {
  return run === 0 ? 1 : Math.max(0.3, 0.6 - 0.15 * (run - 1));
}
