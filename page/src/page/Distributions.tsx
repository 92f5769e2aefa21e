/** Distributions of any quantity of the runs. */
import { useState } from "preact/hooks";
import { Boxes, boxRows } from "../charts/Boxes";
import { Cdf } from "../charts/Cdf";
import { cdfRows, percentileRows } from "../charts/cdfRows";
import { DataTable } from "../charts/DataTable";
import { Frame } from "../charts/Frame";
import { Lazy, useLoaded } from "../charts/Lazy";
import { legendOf, looks } from "../charts/series";
import { dimensionName, otherAxes, PARTS, placeNames, unnamedAxes } from "../data/cases";
import type { PageHead } from "../data/contract";
import { capitalised, named } from "../data/format";
import { QUANTITIES } from "../data/quantities";
import { BETWEEN, canDivide, distributions, type Panel } from "../data/select";
import { BySizeFigure } from "./BySizeFigure";
import { ofHowMany, usePage, whichRuns } from "./context";
import { Select, Toggle } from "./controls";
import { Pending } from "./DeclaredFigure";

/** The quantities of any of these runs. */
export function quantitiesOf(head: PageHead): string[] {
  return Object.keys(QUANTITIES).filter((name) =>
    head.runs.some((run) => run.tables[QUANTITIES[name]?.table ?? ""] !== undefined),
  );
}

/** The possible dimensions of panels: axes of the cases, parts of the rows. */
function divisions(head: PageHead, quantity: string): string[] {
  return [...otherAxes(head.runs), ...PARTS.filter((part) => canDivide(quantity, part))];
}

export function Distributions() {
  const { head } = usePage();
  const all = quantitiesOf(head);
  if (all.length === 0) return <p class="message">These runs have no tables to draw distributions of.</p>;
  const sizes = head.runs.some((run) => run.tables.flows);
  return (
    <>
      <Lazy what="Distributions" height={480}>
        {() => <Curves quantities={all} />}
      </Lazy>
      <Lazy what="Boxes" height={440}>
        {() => <BoxFigure quantities={all} />}
      </Lazy>
      {sizes && (
        <Lazy what="Slowdown by size" height={440}>
          {() => <BySizeFigure />}
        </Lazy>
      )}
    </>
  );
}

function quantityChoices(quantities: string[]) {
  return quantities.map((value) => ({ value, label: capitalised(named(value)) }));
}

/** The values of the chosen dimension and of the axes that would otherwise be mixed. */
function panelDimensions(head: PageHead, chosen: string, x?: string): string[] {
  const own = chosen === "" ? [] : [chosen];
  const dimensions = [...own, "scheme", ...(x ? [x] : [])];
  return [...own, ...unnamedAxes(head.runs, dimensions, undefined)];
}

function seriesIn(panels: Panel[]): string[] {
  return [...new Set(panels.flatMap(({ curves }) => curves.map((curve) => curve.series)))];
}

function total(panels: Panel[]): number {
  return panels.reduce((sum, panel) => sum + panel.curves.reduce((own, curve) => own + curve.of.count, 0), 0);
}

/** Whether a pattern has its own parts, which should not be mixed unless requested. */
function hasGroups(head: PageHead): boolean {
  return head.runs.some((run) => run.report.cases.some((one) => one.by.group !== undefined));
}

function Curves({ quantities }: { quantities: string[] }) {
  const { source, head, runs } = usePage();
  const [quantity, setQuantity] = useState(quantities[0] ?? "goodput_bps");
  const [wanted, setWanted] = useState(hasGroups(head) ? "group" : "");
  const [form, setForm] = useState("cdf");
  const what = QUANTITIES[quantity];
  const [log, setLog] = useState(what?.log === true);
  const choices = divisions(head, quantity).filter((part) => !otherAxes(head.runs).includes(part));
  const chosen = choices.includes(wanted) ? wanted : "";
  const dims = panelDimensions(head, chosen);
  const loaded = useLoaded(
    () => distributions(source, head, runs, { quantity, series: "scheme", panels: dims }),
    [source, head, quantity, chosen],
  );
  const panels = loaded.state === "ready" ? loaded.value : [];
  const series = seriesIn(panels);
  const look = looks(head, "scheme", series);
  const names = dims.join(BETWEEN) || "panel";
  const tail = form === "tail";
  const choose = (next: string) => {
    setQuantity(next);
    setLog(QUANTITIES[next]?.log === true);
  };
  return (
    <Frame
      id="page-distribution"
      title={`${capitalised(named(quantity))} of ${what?.of}`}
      legend={legendOf(head, series, runs, look, { kind: "line" })}
      controls={
        <>
          <Select label="Quantity" value={quantity} choices={quantityChoices(quantities)} choose={choose} />
          <Select
            label="Panels by"
            value={chosen}
            choices={[
              { value: "", label: otherAxes(head.runs).map(dimensionName).join(", ") || "all together" },
              ...choices.map((value) => ({ value, label: dimensionName(value) })),
            ]}
            choose={setWanted}
          />
          <Select
            label="Form"
            value={form}
            choices={[
              { value: "cdf", label: "Cumulative share" },
              { value: "tail", label: "Tail (share above, log-log)" },
            ]}
            choose={setForm}
          />
          <Toggle label="Log axis" on={log || tail} set={setLog} disabled={tail} />
        </>
      }
      caption={
        <>
          Empirical distribution over {ofHowMany(total(panels), what?.of ?? "values")}
          {what?.note ? `; ${what.note}` : ""}.{" "}
          {tail ? "" : "Markers at the 10th, 50th and 90th percentile. "}
          {whichRuns(head)}.
        </>
      }
      rows={() => cdfRows(panels, quantity, look, names)}
    >
      {loaded.state !== "ready" ? (
        <Pending of={loaded} />
      ) : (
        <>
          <Cdf {...{ quantity, panels, look, log, tail }} of={what?.of ?? "values"} />
          <details class="percentiles" data-no-export>
            <summary>Percentiles</summary>
            <DataTable data={percentileRows(panels, quantity, look, names)} caption="Percentiles" />
          </details>
        </>
      )}
    </Frame>
  );
}

function BoxFigure({ quantities }: { quantities: string[] }) {
  const { source, head, runs } = usePage();
  const usable = quantities.filter((name) => divisions(head, name).length > 0);
  const [quantity, setQuantity] = useState(usable[0] ?? "");
  const [wanted, setWanted] = useState("");
  const [log, setLog] = useState(QUANTITIES[quantity]?.log === true);
  const choices = divisions(head, quantity);
  const preferred = ["distance", "size", "layer", "group"].find((part) => choices.includes(part));
  const x = choices.includes(wanted) ? wanted : (preferred ?? choices[0] ?? "scheme");
  const dims = panelDimensions(head, "", x);
  const loaded = useLoaded(
    () => distributions(source, head, runs, { quantity, series: "scheme", panels: dims, x }),
    [source, head, quantity, x],
  );
  if (usable.length === 0) return null;
  const panels = loaded.state === "ready" ? loaded.value : [];
  const series = seriesIn(panels);
  const look = looks(head, "scheme", series);
  const xs = [...new Set(panels.flatMap((panel) => panel.curves.map((curve) => curve.x)))];
  const what = QUANTITIES[quantity];
  const choose = (next: string) => {
    setQuantity(next);
    setLog(QUANTITIES[next]?.log === true);
  };
  return (
    <Frame
      id="page-boxes"
      title={`${capitalised(named(quantity))} by ${dimensionName(x)}`}
      legend={legendOf(head, series, runs, look, { kind: "area" })}
      controls={
        <>
          <Select label="Quantity" value={quantity} choices={quantityChoices(usable)} choose={choose} />
          <Select
            label="By"
            value={x}
            choices={choices.map((value) => ({ value, label: dimensionName(value) }))}
            choose={setWanted}
          />
          <Toggle label="Log axis" on={log} set={setLog} />
        </>
      }
      caption={
        <>
          Boxes reach from the 10th to the 90th percentile, with the median as a bar; whiskers from the least
          to the greatest value. Over {ofHowMany(total(panels), what?.of ?? "values")}
          {what?.note ? `; ${what.note}` : ""}. {whichRuns(head)}.
        </>
      }
      rows={() => boxRows(panels, quantity, { panel: dims.join(BETWEEN) || "panel", x }, look)}
    >
      {loaded.state !== "ready" ? (
        <Pending of={loaded} />
      ) : (
        <Boxes {...{ quantity, panels, xs, series, look, log }} xAxis={placeNames(x, xs)} />
      )}
    </Frame>
  );
}
