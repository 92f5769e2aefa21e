/** The layers of a network: how busy their ports are, and what they dropped and marked. */

import type { Network } from "../data/contract";
import { formatted } from "../data/format";
import { type Shown, valueText } from "./model";
import { colourOf } from "./scale";
import { histogram, LINK_METRICS, type Totals } from "./values";

const BINS = 20;
const WIDTH = 160;
const HEIGHT = 34;

export interface LayersProps {
  network: Network;
  shown: Shown;
  totals: readonly (Totals | null)[];
  dark: boolean;
}

export function Layers({ network, shown, totals, dark }: LayersProps) {
  const title = LINK_METRICS[shown.metric].title;
  const rows = network.layers.map((name, layer) => {
    const ports = network.ports.layer.flatMap((of, port) => (of === layer ? [port] : []));
    const values = ports
      .map((port) => shown.values[port] ?? Number.NaN)
      .filter((value) => !Number.isNaN(value));
    values.sort((a, b) => a - b);
    const sum = (key: "drops" | "lost" | "marks") =>
      ports.reduce((all, port) => all + (totals[port]?.[key] ?? 0), 0);
    return { name, ports: ports.length, values, drops: sum("drops"), lost: sum("lost"), marks: sum("marks") };
  });
  return (
    <div class="scroll fabric-layers">
      <table>
        <thead>
          <tr>
            <th scope="col">Layer</th>
            <th scope="col" class="n">
              Ports
            </th>
            <th scope="col">{title} of its ports</th>
            {["Least", "Median", "Most", "Drops", "Lost", "Marks"].map((words) => (
              <th key={words} scope="col" class="n">
                {words}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ name, ports, values, drops, lost, marks }) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td class="n">{ports}</td>
              <td>
                <Histogram
                  counts={histogram(values, shown.most, BINS)}
                  dark={dark}
                  words={`${name}: ${title}`}
                />
              </td>
              {[values[0], values[(values.length - 1) >> 1], values[values.length - 1]].map((value, i) => (
                <td key={String(i)} class="n">
                  {valueText(shown.metric, value ?? Number.NaN)}
                </td>
              ))}
              {[drops, lost, marks].map((value, i) => (
                <td key={String(i)} class="n">
                  {formatted("", value)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Histogram({ counts, dark, words }: { counts: readonly number[]; dark: boolean; words: string }) {
  const most = counts.reduce((a, b) => Math.max(a, b), 1);
  const wide = WIDTH / counts.length;
  return (
    <svg width={WIDTH} height={HEIGHT} role="img" aria-label={`${words}: how many ports have how much`}>
      <line x1="0" x2={WIDTH} y1={HEIGHT - 0.5} y2={HEIGHT - 0.5} stroke="var(--line-strong)" />
      {counts.map((count, bin) => {
        const high = (count / most) * (HEIGHT - 3);
        return (
          count > 0 && (
            <rect
              key={String(bin)}
              x={bin * wide + 0.5}
              y={HEIGHT - 1 - Math.max(1.5, high)}
              width={wide - 1}
              height={Math.max(1.5, high)}
              fill={colourOf(Math.max(0.12, (bin + 0.5) / counts.length), dark)}
            />
          )
        );
      })}
    </svg>
  );
}
