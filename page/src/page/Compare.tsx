/** Two runs case by case, and the differences in their settings. */
import { useMemo, useState } from "preact/hooks";
import { save } from "../charts/export";
import { csv } from "../charts/rows";
import { Scroll } from "../charts/Scroll";
import { runLetter } from "../charts/series";
import { differences, differentSettings } from "../data/diff";
import { capitalised, named, percent, scaled, scaleOf } from "../data/format";
import { measured } from "../data/results";
import { allColumns, columnTitle, defaultColumns } from "./columns";
import { intervals, usePage } from "./context";
import { Select } from "./controls";

export function Compare() {
  const { head } = usePage();
  return (
    <>
      <p class="note">
        Figures above show all runs at once:{" "}
        {head.runs.map((run, i) => `${runLetter(i)} is ${run.id}`).join(", ")}.
      </p>
      <Differences />
      <Settings />
    </>
  );
}

function Differences() {
  const { head, runs } = usePage();
  const rows = useMemo(() => measured(head, runs, []), [head]);
  const [first = "goodput_mean_bps"] = defaultColumns(head, rows);
  const [metric, setMetric] = useState(first);
  const [by, setBy] = useState("");
  const [other, setOther] = useState("1");
  const b = Number(other);
  const all = useMemo(() => differences(head, 0, b, metric, by ? [by] : []), [head, b, metric, by]);
  const scale = scaleOf(
    metric,
    all.flatMap((one) => [one.a, one.b]),
  );
  const unit = scale.unit ? ` (${scale.unit})` : "";
  const parts = ["group", "distance", "size", "layer"].filter(
    (part) => measured(head, runs, [part]).length > 0,
  );
  const file = () => {
    const columns = [
      "case",
      "part",
      `a_${metric}`,
      "ci95_a",
      `b_${metric}`,
      "ci95_b",
      "difference",
      "ci95_difference",
    ];
    save(
      `differences-${metric}.csv`,
      csv({
        columns,
        rows: all.map((one) => [
          one.one.label,
          one.part,
          one.a,
          one.ciA,
          one.b,
          one.ciB,
          one.b - one.a,
          one.ci95,
        ]),
      }),
      "text/csv",
    );
  };
  return (
    <section aria-labelledby="differences-title">
      <h3 id="differences-title" class="part-title">
        {capitalised(named(metric))}: {runLetter(b)} less A
      </h3>
      <div class="frame-controls" data-no-print>
        <Select
          label="Metric"
          value={metric}
          choices={allColumns(head, rows).map((value) => ({ value, label: columnTitle(value) }))}
          choose={setMetric}
        />
        <Select
          label="Rows"
          value={by}
          choices={[
            { value: "", label: "Cases" },
            ...parts.map((value) => ({ value, label: `by ${value}` })),
          ]}
          choose={setBy}
        />
        {head.runs.length > 2 && (
          <Select
            label="Run"
            value={other}
            choices={head.runs
              .slice(1)
              .map((run, i) => ({ value: String(i + 1), label: `${runLetter(i + 1)}: ${run.id}` }))}
            choose={setOther}
          />
        )}
        <button type="button" class="quiet" onClick={file}>
          CSV
        </button>
      </div>
      {all.length === 0 ? (
        <p class="message">The runs have no case in common that has this metric.</p>
      ) : (
        <Scroll label="Differences">
          <table class="wide">
            <thead>
              <tr>
                <th scope="col">Case</th>
                {by && <th scope="col">Part</th>}
                <th scope="col" class="n">
                  A{unit}
                </th>
                <th scope="col" class="n">
                  {runLetter(b)}
                </th>
                <th scope="col" class="n">
                  Difference
                </th>
                <th scope="col" class="n">
                  ±95 %
                </th>
                <th scope="col" class="n">
                  Relative
                </th>
                <th scope="col">Beyond chance</th>
              </tr>
            </thead>
            <tbody>
              {all.map((one) => {
                const difference = one.b - one.a;
                const sure = one.ci95 === null ? null : Math.abs(difference) > one.ci95;
                return (
                  <tr key={`${one.one.label} ${one.part}`}>
                    <td>{one.one.label}</td>
                    {by && <td>{one.part}</td>}
                    <td class="n">{scaled(one.a, scale)}</td>
                    <td class="n">{scaled(one.b, scale)}</td>
                    <td class="n">{scaled(difference, scale)}</td>
                    <td class="n aside">{one.ci95 === null ? "" : scaled(one.ci95, scale)}</td>
                    <td class="n">{one.a === 0 ? "–" : percent(difference / one.a)}</td>
                    <td>
                      {difference === 0 ? "the same" : sure === null ? "not known" : sure ? "yes" : "no"}
                    </td>
                  </tr>
                );
              })}
            </tbody>
          </table>
        </Scroll>
      )}
      <p class="note">
        ±95 %: half of the difference’s interval, √(a² + b²) of both half widths ({intervals(head)}); the runs
        count as independent. Beyond chance: the difference is larger than that.
      </p>
    </section>
  );
}

function Settings() {
  const { head } = usePage();
  const all = useMemo(() => differentSettings(head), [head]);
  return (
    <section aria-labelledby="settings-title">
      <h3 id="settings-title" class="part-title">
        Settings that differ
      </h3>
      {all.length === 0 ? (
        <p class="message">None: the runs are of the same experiment.</p>
      ) : (
        <Scroll label="Settings that differ">
          <table class="wide settings">
            <thead>
              <tr>
                <th scope="col">Key</th>
                {head.runs.map((run, i) => (
                  <th key={run.id} scope="col">
                    {runLetter(i)}: {run.id}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {all.map(({ key, values }) => (
                <tr key={key}>
                  <th scope="row">
                    <code>{key}</code>
                  </th>
                  {values.map((value, i) => (
                    <td key={head.runs[i]?.id}>
                      {value === null ? <span class="muted">–</span> : <code>{value}</code>}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </Scroll>
      )}
    </section>
  );
}
