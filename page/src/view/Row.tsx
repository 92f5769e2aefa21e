/** One run of the list. */
import { Component } from "preact";
import type { RunSummary } from "../data/contract";
import { elapsed, formatted, hopsIn, NOT_YET, named, percent } from "../data/format";
import { pageOf, STATES, timeOf } from "./list";

export interface RowProps {
  run: RunSummary;
  chosen: boolean;
  onChoose: (id: string, chosen: boolean) => void;
}

const DAY = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric" });
const HOUR = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });

function When({ run }: { run: RunSummary }) {
  const time = timeOf(run);
  if (Number.isNaN(time)) return <>–</>;
  return (
    <time dateTime={run.date} title={run.date}>
      {DAY.format(time)} <span class="muted">{HOUR.format(time)}</span>
    </time>
  );
}

function Progress({ run }: { run: RunSummary }) {
  const { progress } = run;
  if (run.state !== "under-way" || !progress) return null;
  const { done_ratio: done, left_s: left, elapsed_s: since } = progress;
  const words = left !== null ? `${elapsed(Math.max(0, left))} left` : `${elapsed(since)} so far`;
  return (
    <div class="runs-progress">
      <progress {...(done === null ? {} : { value: done, max: 1 })} aria-label={`${run.id}: ${words}`} />
      <span>
        {done !== null && `${percent(done, 0)}, `}
        {words}
      </span>
      {progress.packet_hops > 0 && <div>{hopsIn(progress.packet_hops, since)}</div>}
    </div>
  );
}

/** Of a run in progress: what it does not have, it will have. */
function None({ run }: { run: RunSummary }) {
  return <span class="muted">{run.state === "under-way" ? NOT_YET : "–"}</span>;
}

/** A bar for each case, relative to the greatest of them; the values are in its title. */
function Headline({ run }: { run: RunSummary }) {
  const { headline } = run;
  if (!headline || headline.values.length === 0) return <None run={run} />;
  const most = headline.values.reduce((greatest, { value }) => Math.max(greatest, value), 0);
  const words = headline.values.map(({ label, value }) => `${label}: ${formatted(headline.metric, value)}`);
  const [first] = headline.values;
  return (
    <div class="runs-headline" title={`${named(headline.metric)}\n${words.join("\n")}`}>
      <svg width="64" height="20" role="img" aria-label={`${named(headline.metric)}: ${words.join("; ")}`}>
        {headline.values.map(({ label, value }, i) => {
          const high = 20 / headline.values.length;
          const wide = most > 0 ? Math.max(1, (value / most) * 64) : 1;
          return (
            <rect
              key={`${i} ${label}`}
              y={i * high}
              height={Math.max(1, high - (high > 4 ? 1.5 : 0.5))}
              width={wide}
              fill="var(--accent)"
              opacity="0.75"
            />
          );
        })}
      </svg>
      <span>
        {formatted(headline.metric, first?.value, 3)} <small class="muted">{named(headline.metric)}</small>
      </span>
    </div>
  );
}

function Claims({ run }: { run: RunSummary }) {
  const { hold, fail, inconclusive } = run.claims;
  if (hold + fail + inconclusive === 0) return <None run={run} />;
  return (
    <span class="runs-claims">
      {hold > 0 && <span class="is-good">{hold} hold</span>}
      {fail > 0 && (
        <span class="is-bad">
          {fail} {fail === 1 ? "does" : "do"} not
        </span>
      )}
      {inconclusive > 0 && <span class="is-unsure">{inconclusive} inconclusive</span>}
    </span>
  );
}

/**
 * Opens the run, wherever its row was clicked: links and boxes do what they say, and
 * selected text stays selected. By keys its link is opened.
 */
function openRun(event: MouseEvent, id: string) {
  const isOther = (event.target as Element).closest("a, .runs-choose") !== null;
  const isModified = event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey;
  if (isOther || isModified || getSelection()?.isCollapsed === false) return;
  location.hash = pageOf([id]);
}

function RowOf({ run, chosen, onChoose }: RowProps) {
  return (
    <tr class={chosen ? "is-chosen" : undefined} onClick={(event) => openRun(event, run.id)}>
      <td class="runs-choose">
        <input
          type="checkbox"
          aria-label={`Compare ${run.id}`}
          checked={chosen}
          disabled={run.error !== undefined}
          onChange={(event) => onChoose(run.id, event.currentTarget.checked)}
        />
      </td>
      <th scope="row">
        <a href={pageOf([run.id])}>{run.experiment || run.id}</a>
        <div class="runs-title">{run.error ? <span class="is-bad">{run.error}</span> : run.title}</div>
        <div class="runs-id">
          {run.id}
          {run.twin && (
            <>
              {" · "}
              <a href={pageOf(run.twin)}>both of the twin</a>
            </>
          )}
        </div>
      </th>
      <td>
        <div class="runs-schemes">
          {run.schemes.length === 0 && <None run={run} />}
          {run.schemes.map((scheme, i) => (
            <span key={scheme}>
              {scheme}
              {i + 1 < run.schemes.length && ", "}
            </span>
          ))}
        </div>
        {!run.error && (
          <small class="muted">
            {run.profile}, seed {run.seed}
            {run.replications > 1 && `, ${run.replications} replications`}
          </small>
        )}
      </td>
      <td>
        <span class={`runs-state is-${run.state}`}>{STATES[run.state] ?? run.state}</span>
        <Progress run={run} />
      </td>
      <td>
        <When run={run} />
      </td>
      <td class="n">{run.error ? "–" : elapsed(run.progress?.elapsed_s ?? run.wall_s)}</td>
      <td class="n runs-cases">{run.cases === 0 ? <None run={run} /> : run.cases}</td>
      <td>
        <Headline run={run} />
      </td>
      <td>
        <Claims run={run} />
      </td>
    </tr>
  );
}

/** With hundreds of rows, unchanged ones are not rendered again when the list is updated. */
export class Row extends Component<RowProps> {
  override shouldComponentUpdate(next: RowProps): boolean {
    const { run, chosen, onChoose } = this.props;
    if (chosen !== next.chosen || onChoose !== next.onChoose) return true;
    return run !== next.run && JSON.stringify(run) !== JSON.stringify(next.run);
  }

  override render() {
    return <RowOf {...this.props} />;
  }
}
