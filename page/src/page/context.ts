/** The common data of all sections of a page. */
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import { runLetter } from "../charts/series";
import type { PageHead, RunHead } from "../data/contract";
import { count } from "../data/format";
import type { Source } from "../data/load";

export interface Page {
  source: Source;
  head: PageHead;
  /** The indices of all runs. */
  runs: number[];
}

const Context = createContext<Page | null>(null);
export const PageProvider = Context.Provider;

export function usePage(): Page {
  const page = useContext(Context);
  if (!page) throw new Error("outside a page");
  return page;
}

/** `seed 1`, `seeds 1 to 5` */
export function seeds({ report }: RunHead): string {
  const { seed, replications } = report;
  return replications > 1 ? `seeds ${seed} to ${seed + replications - 1}` : `seed ${seed}`;
}

/** `xmp/table1, quick profile, seed 1`; with several runs, each with its letter. */
export function whichRuns(head: PageHead, runs = head.runs.map((_, i) => i)): string {
  return runs
    .flatMap((place) => {
      const run = head.runs[place];
      if (!run) return [];
      const own = `${run.report.experiment}, ${run.report.profile} profile, ${seeds(run)}`;
      return [head.runs.length > 1 ? `${runLetter(place)}: ${own}` : own];
    })
    .join("; ");
}

/** The basis of a run's intervals: rounds of the pattern, or seeds. */
export function intervals(head: PageHead): string {
  const over = new Set(head.runs.flatMap((run) => run.report.cases.map((one) => one.ci95_over)));
  return `95 % confidence intervals over ${[...over].join(" or ") || "seeds"}`;
}

/** The source of a run's published numbers. */
export function publishedSource(run: RunHead | undefined): string {
  return run?.experiment.published_source ?? "";
}

export function ofHowMany(n: number, what: string): string {
  return `${n >= 1e6 ? count(n) : n.toLocaleString("en-GB").replaceAll(",", "\u202f")} ${what}`;
}
