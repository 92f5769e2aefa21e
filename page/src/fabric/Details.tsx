/** Details about a link, a node or a layer. */
import { useMemo } from "preact/hooks";
import type { Network } from "../data/contract";
import { formatted } from "../data/format";
import type { TableData } from "../data/table";
import { lineStyle, PORT_METRICS, panelLines, portLines, portName } from "../time/model";
import { Readout } from "../time/Readout";
import { Instant, TimeRange } from "../time/range";
import { Panel } from "../time/Stack";
import type { PortSeries } from "../time/series";
import { METRICS, PS, spanOf } from "../time/traces";
import { type Shown, valueText } from "./model";
import { LINK_METRICS, type Totals } from "./values";

export function layerOf(network: Network, port: number): string {
  return network.layers[network.ports.layer[port] ?? -1] ?? "";
}

/** Both directions of a link: the selected one first. */
export function directions(network: Network, port: number): number[] {
  const twin = network.ports.twin[port];
  return twin === undefined || twin === port || twin < 0 ? [port] : [port, twin];
}

export function LinkTip({
  network,
  port,
  shown,
  totals,
}: {
  network: Network;
  port: number;
  shown: Shown;
  totals: readonly (Totals | null)[];
}) {
  const both = directions(network, port);
  const { rate_bps, delay_ps, queue, mark } = network.ports;
  const marks = mark[port] && mark[port] !== "unlimited" ? `, marks from ${mark[port]}` : "";
  return (
    <>
      <div class="tip-head">{layerOf(network, port)}</div>
      <div>
        {formatted("rate_bps", rate_bps[port])}, {formatted("delay_ps", delay_ps[port])}, queue {queue[port]}
        {marks}
      </div>
      <table>
        <thead>
          <tr>
            <td />
            <td class="n">{LINK_METRICS[shown.metric].title.toLowerCase()}</td>
            <td class="n">marks</td>
            <td class="n">drops</td>
          </tr>
        </thead>
        <tbody>
          {both.map((one) => (
            <tr key={one}>
              <td>{portName(network, one, layerOf(network, one))}</td>
              <td class="n">{valueText(shown.metric, shown.values[one] ?? Number.NaN)}</td>
              <td class="n">{formatted("", totals[one]?.marks)}</td>
              <td class="n">{formatted("", totals[one]?.drops)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

export function NodeTip({ network, node, shown }: { network: Network; node: number; shown: Shown }) {
  const out = network.ports.from.flatMap((from, port) => (from === node ? [port] : []));
  const values = out.map((port) => shown.values[port] ?? Number.NaN).filter((value) => !Number.isNaN(value));
  const most = values.reduce((a, b) => Math.max(a, b), 0);
  const host = network.nodes.level[node] === 0;
  const where =
    host && new Set(network.nodes.pod).size > 1
      ? `, pod ${network.nodes.pod[node]}, rack ${network.nodes.rack[node]}`
      : "";
  return (
    <>
      <div class="tip-head">{network.nodes.name[node]}</div>
      <div>
        {out.length} {out.length === 1 ? "port" : "ports"}
        {where}
      </div>
      <div>
        {LINK_METRICS[shown.metric].title} of its ports: at most {valueText(shown.metric, most)}
      </div>
      {host && <div class="muted">Click for its flows</div>}
    </>
  );
}

export interface LinkDetailProps {
  network: Network;
  port: number;
  totals: readonly (Totals | null)[];
  queues: TableData | null;
  series: readonly PortSeries[];
  theme: number;
  /** Whether a row of the queues represents several intervals. */
  longest: boolean;
  onClose: () => void;
}

/** Totals of both directions, and their values over time. */
export function LinkDetail({
  network,
  port,
  totals,
  queues,
  series,
  theme,
  longest,
  onClose,
}: LinkDetailProps) {
  const both = directions(network, port);
  const { rate_bps, delay_ps, queue, mark } = network.ports;
  return (
    <section class="fabric-detail" aria-label="The chosen link">
      <header>
        <h4>
          {portName(network, port, "").replace(" → ", " ⇄ ")}
          <span class="muted"> {layerOf(network, port)}</span>
        </h4>
        <button type="button" class="quiet" onClick={onClose}>
          Close
        </button>
      </header>
      <div class="scroll">
        <table>
          <thead>
            <tr>
              <th scope="col">Direction</th>
              {["Rate", "Delay", "Queue", "Mark", "Carried", "Utilisation", "Drops", "Lost", "Marks"].map(
                (words) => (
                  <th key={words} scope="col" class="n">
                    {words}
                  </th>
                ),
              )}
            </tr>
          </thead>
          <tbody>
            {both.map((one) => (
              <tr key={one}>
                <th scope="row">{portName(network, one, "")}</th>
                <td class="n">{formatted("rate_bps", rate_bps[one])}</td>
                <td class="n">{formatted("delay_ps", delay_ps[one])}</td>
                <td class="n">{queue[one]}</td>
                <td class="n">{mark[one]}</td>
                <td class="n">{formatted("carried_bytes", totals[one]?.carried_bytes)}</td>
                <td class="n">{valueText("utilisation", totals[one]?.utilisation_ratio ?? Number.NaN)}</td>
                <td class="n">{formatted("", totals[one]?.drops)}</td>
                <td class="n">{formatted("", totals[one]?.lost)}</td>
                <td class="n">{formatted("", totals[one]?.marks)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {queues && (
        <LinkTime
          network={network}
          both={both}
          queues={queues}
          series={series}
          theme={theme}
          longest={longest}
        />
      )}
    </section>
  );
}

function LinkTime({
  network,
  both,
  queues,
  series,
  theme,
  longest,
}: {
  network: Network;
  both: readonly number[];
  queues: TableData;
  series: readonly PortSeries[];
  theme: number;
  longest: boolean;
}) {
  const instant = useMemo(() => new Instant(), []);
  const range = useMemo(() => {
    const [from, to] = spanOf(queues, series) ?? [0, 1 / PS];
    return new TimeRange([from * PS, to * PS]);
  }, [queues, series]);
  const key = both.join(" ");
  const lines = useMemo(() => {
    const own = both.flatMap((port) => series.filter((one) => one.port === port));
    return portLines(queues, own, network, range.whole).map((line, i) => ({ ...line, ...lineStyle(i) }));
  }, [queues, series, network, range, key]);
  const specs = useMemo(
    () =>
      PORT_METRICS.map((metric, i) => ({
        key: metric,
        metric,
        lines: panelLines(lines, i),
        marks: [],
        height: 110,
        xAxis: i === PORT_METRICS.length - 1,
      })),
    [lines],
  );
  if (lines.length === 0) return <p class="note">Neither direction sent or held anything in this round.</p>;
  return (
    <>
      <Readout
        what="Ports"
        lines={lines}
        metrics={PORT_METRICS}
        range={range}
        instant={instant}
        onHighlight={() => {}}
        longest={longest}
      />
      {specs.map((spec) => (
        <Panel
          key={spec.key}
          spec={spec}
          title={METRICS[spec.metric].title}
          range={range}
          instant={instant}
          highlit={null}
          theme={theme}
        />
      ))}
    </>
  );
}
