/** The claims of a paper, and whether they hold here. */
import { useState } from "preact/hooks";
import { runLetter } from "../charts/series";
import type { Claim, Verdict } from "../data/contract";
import { number } from "../data/format";
import { usePage } from "./context";

type Filter = "all" | Verdict | "unexpected";

const WORDS: Record<Verdict, string> = {
  holds: "holds",
  "does not hold": "does not hold",
  inconclusive: "inconclusive",
};

const CLASS: Record<Verdict, string> = { holds: "good", "does not hold": "bad", inconclusive: "unsure" };

export function VerdictMark({ verdict }: { verdict: Verdict }) {
  return (
    <span class={`verdict ${CLASS[verdict]}`}>
      <svg width="14" height="14" viewBox="0 0 14 14" aria-hidden="true">
        {verdict === "holds" && <path d="M2.5 7.5l3 3 6-7" />}
        {verdict === "does not hold" && <path d="M3 3l8 8M11 3l-8 8" />}
        {verdict === "inconclusive" && <path d="M2 8.5c1.7-3 3.3-3 5-1.5s3.3 1.500 5-1.500" />}
      </svg>
      {WORDS[verdict]}
    </span>
  );
}

export function Claims() {
  const { head } = usePage();
  const [filter, setFilter] = useState<Filter>("all");
  const own = head.runs.flatMap((run, place) => run.report.claims.map((claim) => ({ claim, place })));
  // Rows for the same claim of several runs are next to each other.
  const ids = [...new Set(own.map(({ claim }) => claim.id))];
  const all = ids.flatMap((id) => own.filter(({ claim }) => claim.id === id));
  if (all.length === 0) return null;
  const is = (claim: Claim, which: Filter) =>
    which === "all" || (which === "unexpected" ? claim.verdict !== claim.expected : claim.verdict === which);
  const filters: [Filter, string][] = [
    ["all", "All"],
    ["holds", "Hold"],
    ["does not hold", "Do not hold"],
    ["inconclusive", "Inconclusive"],
    ["unexpected", "Not as expected"],
  ];
  const shown = all.filter(({ claim }) => is(claim, filter));
  return (
    <div class="claims">
      <fieldset class="filters" data-no-print>
        <legend class="visually-hidden">Which claims</legend>
        {filters.map(([which, name]) => {
          const n = all.filter(({ claim }) => is(claim, which)).length;
          if (n === 0) return null;
          return (
            <button
              key={which}
              type="button"
              class="pill"
              aria-pressed={filter === which}
              onClick={() => setFilter(which)}
            >
              {name} <span class="n">{n}</span>
            </button>
          );
        })}
      </fieldset>
      <ul class="claim-list">
        {shown.map(({ claim, place }) => (
          <li key={`${place} ${claim.id}`} id={place === 0 ? `claim-${claim.id}` : undefined}>
            <One claim={claim} run={head.runs.length > 1 ? runLetter(place) : null} />
          </li>
        ))}
      </ul>
    </div>
  );
}

function One({ claim, run }: { claim: Claim; run: string | null }) {
  const { cases } = claim;
  const facts: [string, string][] = [
    ["Metric", claim.metric],
    ["Of", claim.of ?? ""],
    ["Expected", claim.expected === claim.verdict ? "" : WORDS[claim.expected]],
    ["Why it is expected", claim.expected === "holds" ? "" : (claim.because ?? "")],
    ["Why", claim.why ?? ""],
    ["Reading", claim.reading_of ? `another reading of ${claim.reading_of}` : ""],
    ["Contradicts", claim.contradicts ?? ""],
    ["Does not hold in", cases?.do_not_hold?.join(", ") ?? ""],
    ["Inconclusive in", cases?.inconclusive?.join(", ") ?? ""],
    ["Id", claim.id],
  ];
  return (
    <>
      <VerdictMark verdict={claim.verdict} />
      <div class="claim">
        <p>
          {run && <span class="letter">{run}</span>}
          {claim.text}
          {claim.verdict !== claim.expected && <em class="expected"> expected: {WORDS[claim.expected]}</em>}
        </p>
        <details>
          <summary>
            {claim.source}
            {claim.because && claim.verdict !== "holds" ? ": why" : ""}
          </summary>
          <dl class="facts narrow">
            {facts
              .filter(([, value]) => value !== "")
              .map(([name, value]) => (
                <div key={name}>
                  <dt>{name}</dt>
                  <dd>{value}</dd>
                </div>
              ))}
          </dl>
        </details>
      </div>
      <span class="claim-value">
        {claim.value !== null && <>{number(claim.value, 3)}</>}
        {claim.ci95 !== null && <span class="muted"> ± {number(claim.ci95, 2)}</span>}
        {cases && cases.of > 1 && (
          <span class="muted">
            {claim.value !== null && <br />}
            {cases.hold} of {cases.of} cases
          </span>
        )}
      </span>
    </>
  );
}
