/** The caption of the view over time. */
import type { PageHead, RunHead } from "../data/contract";
import { lacks, runName } from "./runs";
import type { Scope } from "./series";
import type { Laid, Tables } from "./sides";

/** The runs that are overlaid on the shown one, and what they lack. */
export function laidWords(
  head: PageHead,
  run: number,
  over: readonly { tables: Tables; scope: Scope }[],
  absent: Laid["absent"],
): string[] {
  if (over.length === 0) return [];
  const others = over.map(
    ({ tables, scope }) => `${runName(head, tables.run)} (seed ${scope.seed}, round ${scope.round})`,
  );
  const missing = absent.map((one) => lacks(head, one.run, one.names));
  return [`Shown: ${runName(head, run)}; overlaid: ${others.join(", ")}.`, ...missing];
}

export interface CaptionOf {
  /** What is shown, as a sentence. */
  which: string;
  laid: string[];
  /** Whether optima are drawn. */
  optima: boolean;
  /** The window of smoothed lines, as a sentence. */
  smoothed: string;
  tables: RunHead["tables"];
  /** Whether a line may have more samples than pixels. */
  dense: boolean;
}

export function captionOf({ which, laid, optima, smoothed, tables, dense }: CaptionOf): string {
  const parts = [
    which,
    ...laid,
    "Goodput is the payload that arrived in each interval; windows, round-trip times and queues are those at its end.",
    smoothed,
    dense
      ? "If there are more samples than pixels, a band spans the least to the greatest, and the line is their mean."
      : "",
    optima ? "Fine dots: the flow’s optimum among the flows that were active." : "",
    sentence("Samples", tables.samples?.thinned),
    sentence("Queues", tables.queues?.thinned),
    "Drag to zoom, double-click to show all; shift-drag, scroll sideways or use a finger to pan.",
  ];
  return parts.filter((part) => part !== "").join(" ");
}

function sentence(table: string, thinned: string | undefined): string {
  return thinned ? `${table}: ${thinned.replace(/\.$/, "")}.` : "";
}
