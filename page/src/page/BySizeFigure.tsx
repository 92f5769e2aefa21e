/** The cost for flows of each size. */
import { useState } from "preact/hooks";
import { BySize, bySizeRows } from "../charts/BySize";
import { Frame } from "../charts/Frame";
import { useLoaded } from "../charts/Lazy";
import { legendOf, looks } from "../charts/series";
import { slowdownsBySize } from "../data/bins";
import { unnamedAxes } from "../data/cases";
import { BETWEEN } from "../data/select";
import { ofHowMany, usePage, whichRuns } from "./context";
import { Select } from "./controls";
import { Pending } from "./DeclaredFigure";

type Quantity = "slowdown_ratio" | "fct_s";

export function BySizeFigure() {
  const { source, head, runs } = usePage();
  const [quantity, setQuantity] = useState<Quantity>("slowdown_ratio");
  const [high, setHigh] = useState("99");
  const dims = unnamedAxes(head.runs, ["scheme"], undefined);
  const loaded = useLoaded(
    () => slowdownsBySize(source, head, runs, dims, quantity),
    [source, head, quantity],
  );
  const bins = loaded.state === "ready" ? loaded.value : [];
  if (loaded.state === "ready" && bins.length === 0) return null;
  const series = [...new Set(bins.map((bin) => bin.series))];
  const panels = [...new Set(bins.map((bin) => bin.panel))];
  const look = looks(head, "scheme", series);
  const name = quantity === "fct_s" ? "Flow completion time" : "FCT slowdown";
  return (
    <Frame
      id="page-by-size"
      title={`${name} against flow size`}
      legend={legendOf(head, series, runs, look, { kind: "line" })}
      controls={
        <>
          <Select
            label="Quantity"
            value={quantity}
            choices={[
              { value: "slowdown_ratio", label: "Slowdown" },
              { value: "fct_s", label: "FCT" },
            ]}
            choose={(next) => setQuantity(next as Quantity)}
          />
          <Select
            label="Percentile"
            value={high}
            choices={["95", "99"].map((value) => ({ value, label: `${value}th` }))}
            choose={setHigh}
          />
        </>
      }
      caption={
        <>
          Four size bins per decade, or each size if there are few; a point is at the middle of its bin.
          Hollow: fewer than 100 flows. Slowdown is the FCT over the flow’s FCT on an empty network.{" "}
          {ofHowMany(
            bins.reduce((sum, bin) => sum + bin.of.count, 0),
            "flows",
          )}
          . {whichRuns(head)}.
        </>
      }
      rows={() => bySizeRows(bins, quantity, look, dims.join(BETWEEN) || "panel")}
    >
      {loaded.state !== "ready" ? (
        <Pending of={loaded} />
      ) : (
        <BySize {...{ quantity, bins, panels, look }} high={Number(high)} />
      )}
    </Frame>
  );
}
