/** The page of the runs that it contains, or of those that `tresse view` serves. */
import { useEffect, useMemo, useState } from "preact/hooks";
import { Message, useLoaded } from "../charts/Lazy";
import { isEmbedded, pageSource, type Source, servedSource } from "../data/load";
import { Gone } from "../view/Gone";
import { useLivePage } from "../view/live";
import { RunsView } from "../view/RunsView";
import { RunPage } from "./RunPage";

export function App() {
  const source = useMemo(() => (isEmbedded() ? pageSource() : null), []);
  return source ? <Opened source={source} /> : <Served />;
}

/** The runs in an address such as `#/run?run=a&run=b`; null: the list. */
function chosenRuns(hash: string): string[] | null {
  const query = /^#\/run\?(.*?)(#.*)?$/.exec(hash)?.[1];
  const runs = query === undefined ? [] : new URLSearchParams(query).getAll("run");
  return runs.length > 0 ? runs : null;
}

function Served() {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const moved = () => {
      // Links to sections do not change the run.
      if (location.hash === "" || location.hash.startsWith("#/")) setHash(location.hash);
    };
    window.addEventListener("hashchange", moved);
    return () => window.removeEventListener("hashchange", moved);
  }, []);
  const runs = chosenRuns(hash);
  if (!runs) return <RunsView />;
  return <ServedRuns key={hash} runs={runs} />;
}

function ServedRuns({ runs }: { runs: string[] }) {
  const live = useLivePage(runs, true);
  const source = useMemo(() => servedSource(runs), [runs.join("\n"), live.version]);
  return (
    <>
      <Gone page={live} />
      <Opened source={source} />
    </>
  );
}

function Opened({ source }: { source: Source }) {
  // A page that is read again stays unchanged until the new one has arrived: source and head change together.
  const opened = useLoaded(async () => ({ source, head: await source.head() }), [source]);
  if (opened.state === "loading") return <p class="loading">Opening …</p>;
  if (opened.state === "failed") return <Message error={opened.error} />;
  return <RunPage {...opened.value} />;
}
