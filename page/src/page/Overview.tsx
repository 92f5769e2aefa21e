/** What was run, how it ended, and how to run it again. */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { runLetter } from "../charts/series";
import type { RunHead } from "../data/contract";
import { count, elapsed, hopsIn, NOT_YET, percent } from "../data/format";
import { seeds, usePage } from "./context";

export function Overview() {
  const { head } = usePage();
  return (
    <>
      {head.runs.map((run, place) => (
        <RunCard
          key={run.id}
          run={run}
          place={place}
          several={head.runs.length > 1}
          told={head.runs.slice(0, place).some((one) => one.experiment.about === run.experiment.about)}
        />
      ))}
    </>
  );
}

function RunCard(props: { run: RunHead; place: number; several: boolean; told: boolean }) {
  const { run, place, several, told } = props;
  const { report, experiment, host } = run;
  const settings = (report.changed ?? []).map(changedLine);
  const facts: [string, ComponentChildren][] = [
    ["Experiment", report.experiment],
    ["Hosts", report.testbed ? `real, --scale ${report.testbed.scale}` : ""],
    ["Profile", `${report.profile}, ${seeds(run)}`],
    ["Cases", casesLine(run)],
    ["Speed", speedLine(run)],
    ["Version", `${report.version}, model ${report.model_version}`],
    ["Digest", <code key="digest">{report.digest || (run.state === "under-way" ? NOT_YET : "–")}</code>],
    ["Machine", machine(host)],
    ["Started", host.started ? started(host.started) : ""],
    ["Changed", settings.length > 0 ? <code key="changed">{settings.join("; ")}</code> : ""],
  ];
  return (
    <article class="run">
      {several && (
        <h3 class="run-name">
          <span class="letter">{runLetter(place)}</span> {run.id}
        </h3>
      )}
      <State run={run} />
      {experiment.about && !told && <About text={experiment.about} />}
      <dl class="facts">
        {facts
          .filter(([, value]) => value !== "")
          .map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
      </dl>
      {!report.judged && settings.length > 0 && experiment.is_published !== false && (
        <p class="note">
          The published numbers and claims are for the unchanged experiment, so a changed run is not judged by
          them.
        </p>
      )}
      <Notes notes={report.notes ?? []} />
      <Command command={run.command} />
      <details class="source">
        <summary>The experiment as it was run (TOML)</summary>
        <pre class="toml">{run.experiment.resolved}</pre>
      </details>
    </article>
  );
}

/** What else is compared when schemes are, and what was read with a caveat. */
function Notes({ notes }: { notes: string[] }) {
  if (notes.length === 0) return null;
  return (
    <section class="notes">
      <h4>Before you compare</h4>
      <ul>
        {notes.map((note) => (
          <li key={note}>{note}</li>
        ))}
      </ul>
    </section>
  );
}

/** Words between backticks are names. */
function About({ text }: { text: string }) {
  const parts = text.replace(/\s+/g, " ").trim().split("`");
  return <p class="about">{parts.map((part, i) => (i % 2 === 1 ? <code key={part}>{part}</code> : part))}</p>;
}

function casesLine(run: RunHead): string {
  const complete = run.cases.filter((one) => one.result !== null).length;
  const all = run.cases.length;
  const flows = run.report.cases.reduce((sum, one) => sum + (one.metrics.flows ?? 0), 0);
  const cases = complete === all ? `${all}` : `${complete} of ${all} complete`;
  return flows > 0 ? `${cases}, ${count(flows)} flows` : cases;
}

/** Of a run in progress: as it is now. Its report has only complete cases. */
function speedLine({ state, progress, report }: RunHead): string {
  if (state !== "under-way") return hopsIn(report.packet_hops, report.wall_s);
  return progress && progress.packet_hops > 0 ? hopsIn(progress.packet_hops, progress.elapsed_s) : NOT_YET;
}

function machine(host: RunHead["host"]): string {
  const threads = host.threads ? `${host.threads} thread${host.threads === 1 ? "" : "s"}` : "";
  return [host.os, host.architecture, threads].filter(Boolean).join(", ");
}

function started(at: string): string {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return at;
  return `${date.toISOString().slice(0, 16).replace("T", " ")} UTC`;
}

function changedLine(changed: Record<string, unknown>): string {
  const text = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value ?? null));
  const was = changed.from === undefined ? "the default" : text(changed.from);
  return `${text(changed.key)} = ${text(changed.to)} (was ${was})`;
}

const STATES: Record<Exclude<RunHead["state"], "complete">, string> = {
  "under-way": "This run is in progress.",
  interrupted: "This run was interrupted: it has everything measured until then.",
  "gave-up": "This run gave up: flows waited forever.",
  killed:
    "This run was killed: its process is gone without reporting how it ended. It has everything written until then.",
};

/** How a run ended, unless it completed, and which parts of it cannot be read. */
function State({ run }: { run: RunHead }) {
  const { state, progress, problems, report } = run;
  const errors = [...problems, ...(report.errors ?? []), ...(report.too_wide ?? [])];
  return (
    <>
      {state !== "complete" && (
        <div class={`banner ${state}`} role="status">
          <p>
            <strong>{STATES[state]}</strong>
            {progress &&
              ` ${progress.replications_done} of ${progress.replications} replications have ended, after ${elapsed(progress.elapsed_s)}`}
            {progress?.left_s !== null &&
              progress?.left_s !== undefined &&
              `; about ${elapsed(progress.left_s)} are left`}
            {progress && "."}
          </p>
          {progress && progress.done_ratio !== null && (
            <div class="progress">
              <progress value={progress.done_ratio} max={1} aria-label="Done" />
              <span>{percent(progress.done_ratio, 0)}</span>
            </div>
          )}
        </div>
      )}
      {errors.length > 0 && (
        <ul class="banner problems" role="alert">
          {errors.map((problem) => (
            <li key={problem}>{problem}</li>
          ))}
        </ul>
      )}
    </>
  );
}

/** The command that repeats a run. */
function Command({ command }: { command: string }) {
  const [said, setSaid] = useState("");
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(command);
      setSaid("Copied");
    } catch {
      setSaid("Select the line and copy it");
    }
    setTimeout(() => setSaid(""), 2500);
  };
  return (
    <div class="command">
      <code>{command}</code>
      <button type="button" onClick={copy} data-no-print aria-label="Copy the command">
        {said || "Copy"}
      </button>
      <span class="visually-hidden" role="status">
        {said}
      </span>
    </div>
  );
}
