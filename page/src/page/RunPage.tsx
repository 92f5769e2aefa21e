/** The page of one run or of several: sections below each other, each drawn when the reader gets close to it. */
import { type ComponentChildren, Fragment } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import { Guard, Lazy } from "../charts/Lazy";
import { runLetter } from "../charts/series";
import type { PageHead, RunHead } from "../data/contract";
import type { Source } from "../data/load";
import { FabricView } from "../fabric/FabricView";
import { sameCases } from "../time/runs";
import { TimeView } from "../time/TimeView";
import { Axes, drawableAxes } from "./Axes";
import { Claims } from "./Claims";
import { Compare } from "./Compare";
import { PageProvider } from "./context";
import { Distributions } from "./Distributions";
import { declaredFigures, Figures } from "./Figures";
import { goTo, Nav, type NavItem } from "./Nav";
import { Overview } from "./Overview";
import { Ratios } from "./Ratios";
import { ResultsTable } from "./ResultsTable";

interface Section extends NavItem {
  body: ComponentChildren;
}

export function RunPage({ source, head }: { source: Source; head: PageHead }) {
  const runs = useMemo(() => head.runs.map((_, place) => place), [head]);
  const page = useMemo(() => ({ source, head, runs }), [source, head, runs]);
  const [first] = head.runs;
  const several = head.runs.length > 1;
  const titles = [...new Set(head.runs.map((run) => run.experiment.title || run.id))];
  const title = titles.join(" / ") || "Tresse";
  useEffect(() => {
    document.title = several ? `${head.runs.map((run) => run.id).join(" · ")} – Tresse` : `${title} – Tresse`;
  }, [title]);
  const sections = sectionsOf(source, head);
  return (
    <PageProvider value={page}>
      {/* biome-ignore lint/a11y/useValidAnchor: it is a link, which tresse view follows without changing the address */}
      <a class="skip" href="#content" onClick={source.live ? (event) => goTo("content", event) : undefined}>
        Skip to the content
      </a>
      <Nav items={sections} live={source.live} />
      <main id="content" tabIndex={-1}>
        <header class="masthead">
          <p class="kicker">{[...new Set(head.runs.map((run) => run.report.experiment))].join(" · ")}</p>
          <h1>{title}</h1>
          {titles.length === 1 && first?.experiment.source && (
            <p class="source-line">{first.experiment.source}</p>
          )}
          {several && <p class="source-line">{head.runs.length} runs, in the same figures</p>}
        </header>
        {sections.map((section) => (
          <section key={section.id} id={section.id} class="section" aria-labelledby={`${section.id}-title`}>
            <h2 id={`${section.id}-title`}>{section.title}</h2>
            <Guard what={section.title}>{section.body}</Guard>
          </section>
        ))}
        <footer class="colophon">
          Made by Tresse {head.version}. The page holds its own data and loads nothing.
        </footer>
      </main>
    </PageProvider>
  );
}

/** The runs with data for a section. */
function having(head: PageHead, has: (run: RunHead) => boolean): number[] {
  return head.runs.flatMap((run, place) => (has(run) ? [place] : []));
}

/** A part of a section for each of these runs, or for several of them together. */
function ofRuns(head: PageHead, parts: number[][], draw: (runs: number[]) => ComponentChildren) {
  return parts.map((runs) => (
    <Lazy key={runs.join()} what={runs.map((run) => head.runs[run]?.id).join(", ")} height={480}>
      {() => (
        <>
          {head.runs.length > 1 && (
            <h3 class="part-title">
              {runs.map((run, i) => (
                <Fragment key={run}>
                  {i > 0 && " · "}
                  <span class="letter">{runLetter(run)}</span> {head.runs[run]?.id}
                </Fragment>
              ))}
            </h3>
          )}
          {draw(runs)}
        </>
      )}
    </Lazy>
  ));
}

/** A researcher looks before reading: figures first, then numbers, then interactive views. */
function sectionsOf(source: Source, head: PageHead): Section[] {
  const figures = declaredFigures(head).length > 0;
  const tables = (name: string) => head.runs.some((run) => run.tables[name]);
  const claims = head.runs.some((run) => run.report.claims.length > 0);
  const all: (Section | false)[] = [
    { id: "summary", title: "Summary", body: <Overview /> },
    head.runs.length > 1 && { id: "compare", title: "Compare", body: <Compare /> },
    figures && { id: "figures", title: "Figures", body: <Figures /> },
    { id: "results", title: "Results", body: [<ResultsTable key="table" />, <Ratios key="ratios" />] },
    claims && { id: "claims", title: "Claims", body: <Claims /> },
    { id: "distributions", title: "Distributions", body: <Distributions /> },
    (tables("samples") || tables("queues")) && {
      id: "time",
      title: "Over time",
      body: ofRuns(
        head,
        sameCases(
          head,
          having(head, (run) => Boolean(run.tables.samples || run.tables.queues)),
        ),
        (runs) => <TimeView source={source} head={head} runs={runs} />,
      ),
    },
    head.runs.some((run) => run.networks.length > 0) && {
      id: "fabric",
      title: "Fabric",
      body: ofRuns(
        head,
        having(head, (run) => run.networks.length > 0).map((run) => [run]),
        ([run = 0]) => <FabricView source={source} head={head} run={run} />,
      ),
    },
    drawableAxes(head).length > 0 && { id: "dependence", title: "Axes", body: <Axes /> },
  ];
  return all.filter((section): section is Section => section !== false);
}
