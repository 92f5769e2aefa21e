/** The links as a table, the greatest first: the access to them without a pointer. */
import { useState } from "preact/hooks";
import type { Network } from "../data/contract";
import { formatted } from "../data/format";
import { portName } from "../time/model";
import { matches } from "../time/series";
import { layerOf } from "./Details";
import { type Shown, valueText } from "./model";
import { LINK_METRICS, type Totals } from "./values";

const PART = 15;

export interface LinkTableProps {
  network: Network;
  shown: Shown;
  totals: readonly (Totals | null)[];
  selected: number | null;
  onPick: (port: number) => void;
}

export function LinkTable({ network, shown, totals, selected, onPick }: LinkTableProps) {
  const [search, setSearch] = useState("");
  const [upTo, setUpTo] = useState(PART);
  const found: number[] = [];
  for (let i = shown.order.length - 1; i >= 0; i--) {
    const port = shown.order[i] ?? 0;
    if (search === "" || matches(`${portName(network, port, "")} ${layerOf(network, port)}`, search))
      found.push(port);
  }
  const title = LINK_METRICS[shown.metric].title;
  return (
    <details class="fabric-links">
      <summary>Links by {title.toLowerCase()}</summary>
      <input
        type="search"
        placeholder={`Search ${network.ports.from.length} ports …`}
        aria-label="Search links"
        value={search}
        onInput={(event) => setSearch(event.currentTarget.value)}
      />
      <div class="scroll">
        <table>
          <thead>
            <tr>
              <th scope="col">Port</th>
              <th scope="col">Layer</th>
              {["Rate", title, "Carried", "Drops", "Lost", "Marks"].map((words, i) => (
                <th key={String(i)} scope="col" class="n">
                  {words}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {found.slice(0, upTo).map((port) => (
              <tr key={port} aria-selected={port === selected}>
                <th scope="row">
                  <button type="button" class="fabric-link" onClick={() => onPick(port)}>
                    {portName(network, port, layerOf(network, port))}
                  </button>
                </th>
                <td>{layerOf(network, port)}</td>
                <td class="n">{formatted("rate_bps", network.ports.rate_bps[port])}</td>
                <td class="n">{valueText(shown.metric, shown.values[port] ?? Number.NaN)}</td>
                <td class="n">{formatted("carried_bytes", totals[port]?.carried_bytes)}</td>
                <td class="n">{formatted("", totals[port]?.drops)}</td>
                <td class="n">{formatted("", totals[port]?.lost)}</td>
                <td class="n">{formatted("", totals[port]?.marks)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p class="note" role="status">
        {Math.min(upTo, found.length)} of {found.length} ports.{" "}
        {found.length > upTo && (
          <button type="button" class="quiet" onClick={() => setUpTo(upTo + 100)}>
            Show more
          </button>
        )}
      </p>
    </details>
  );
}
