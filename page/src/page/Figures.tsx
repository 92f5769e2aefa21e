/** The figures that the experiments declare, with the one requested by its name first. */
import { isWanted } from "../data/cases";
import type { Figure, PageHead } from "../data/contract";
import { usePage } from "./context";
import { DeclaredFigure } from "./DeclaredFigure";

interface Declared {
  figure: Figure;
  runs: number[];
  asked: boolean;
}

/** Each figure once, with all runs that declare it identically. */
export function declaredFigures(head: PageHead): Declared[] {
  const all = new Map<string, Declared>();
  head.runs.forEach((run, place) => {
    const asked = run.report.experiment.split("/").pop();
    for (const figure of run.figures) {
      const { id, chart, x, y, series, panels } = figure;
      const key = JSON.stringify([id, chart, x, y, series, panels]);
      const known = all.get(key);
      if (known) known.runs.push(place);
      else all.set(key, { figure, runs: [place], asked: id === asked });
    }
  });
  return [...all.values()].sort((a, b) => Number(b.asked) - Number(a.asked));
}

/** Whether the runs have any of a figure's cases: `--only` may have left them out. */
function hasCases(head: PageHead, { figure, runs }: Declared): boolean {
  return runs.some((run) => head.runs[run]?.cases.some((one) => isWanted(one, figure.where)));
}

export function Figures() {
  const { head } = usePage();
  const all = declaredFigures(head);
  const left = all.filter((one) => !hasCases(head, one));
  return (
    <>
      {all
        .filter((one) => !left.includes(one))
        .map(({ figure, runs, asked }) => (
          <DeclaredFigure key={`${figure.id} ${runs.join()}`} figure={figure} runs={runs} large={asked} />
        ))}
      {left.length > 0 && (
        <p class="note">
          Not drawn, because no case of {head.runs.length > 1 ? "these runs" : "this run"} is among theirs:{" "}
          {left.map(({ figure }) => `${figure.title} (${figure.id})`).join("; ")}.
        </p>
      )}
    </>
  );
}
