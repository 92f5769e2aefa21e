/** The network of a run: how busy its links were, and the paths of flows. */
import { useMemo, useState } from "preact/hooks";
import { Frame } from "../charts/Frame";
import { Message, useLoaded, useWidth } from "../charts/Lazy";
import { styleAt } from "../data/colour";
import type { Network, PageHead, RunHead } from "../data/contract";
import type { Source } from "../data/load";
import type { TableData } from "../data/table";
import { networkOf } from "../time/model";
import { ScopeSelects, useScope } from "../time/Scope";
import { useThemeVersion } from "../time/Stack";
import {
  inScope,
  type PortSeries,
  portSeries,
  type Scope,
  type SubflowSeries,
  subflowSeries,
} from "../time/series";
import { LinkDetail, LinkTip, NodeTip } from "./Details";
import { Drawing, fitted, placed } from "./Drawing";
import { fabricRows, fabricSvg } from "./export";
import { FlowPicker } from "./FlowPicker";
import { Layers } from "./Layers";
import { LinkTable } from "./LinkTable";
import { layoutOf } from "./layout";
import { metricIn, mostText, shownOf } from "./model";
import { type FlowItem, flowItems, hostName, hostOf, waysOf } from "./paths";
import { colourOf, endOf, gradient } from "./scale";
import { type Hit, Scene } from "./scene";
import { Timeline } from "./Timeline";
import { Intervals, LINK_METRICS, type LinkMetric, totalsOf } from "./values";
import "./fabric.css";

export interface FabricViewProps {
  source: Source;
  head: PageHead;
  run: number;
}

interface Tables {
  links: TableData | null;
  flows: TableData | null;
  subflows: SubflowSeries[] | null;
  ports: PortSeries[];
  queues: TableData | null;
}

async function tablesOf(source: Source, run: number): Promise<Tables> {
  const [links, flows, subflows, ports, queues] = await Promise.all(
    ["links", "flows", "subflows", "ports", "queues"].map((name) => source.table(run, name)),
  );
  return {
    links: links ?? null,
    flows: flows ?? null,
    subflows: subflows ? subflowSeries(subflows) : null,
    ports: ports && queues ? portSeries(ports) : [],
    queues: queues ?? null,
  };
}

/** Every case and seed that has links, as scopes of a round 0; rounds are those of the queues. */
function scopesOf({ links, ports }: Tables): Scope[] {
  if (ports.length > 0) return ports;
  const found = new Map<string, Scope>();
  if (!links) return [];
  const [caseOf, seed] = [links.number("case"), links.number("seed")];
  for (let row = 0; row < links.rows; row++) {
    found.set(`${caseOf[row]} ${seed[row]}`, { case: caseOf[row] ?? 0, seed: seed[row] ?? 0, round: 0 });
  }
  return [...found.values()];
}

export function FabricView({ source, head, run }: FabricViewProps) {
  const tables = useLoaded(() => tablesOf(source, run), [source, run]);
  const own = head.runs[run];
  if (!own || tables.state === "loading") return <p class="loading">Reading the network …</p>;
  if (tables.state === "failed") return <Message error={tables.error} what="Network" />;
  if (own.networks.length === 0) return <p class="message">The network of this run is not known.</p>;
  return <Scoped source={source} own={own} run={run} tables={tables.value} />;
}

interface ScopedProps {
  source: Source;
  own: RunHead;
  run: number;
  tables: Tables;
}

function Scoped({ source, own, run, tables }: ScopedProps) {
  const scopes = useMemo(() => scopesOf(tables), [tables]);
  const [scope, setScope, offered] = useScope(scopes);
  const number = networkOf(own, scope.case);
  const network = useLoaded(
    () => (number < 0 ? Promise.reject(new Error("this case has none")) : source.network(run, number)),
    [source, run, number],
  );
  if (network.state === "loading") return <p class="loading">Reading the network …</p>;
  if (network.state === "failed") return <Message error={network.error} what="Network" />;
  const selects = <ScopeSelects head={own} scope={scope} offered={offered} onChange={setScope} />;
  return (
    <Fabric own={own} run={run} tables={tables} network={network.value} scope={scope} selects={selects} />
  );
}

interface FabricProps {
  own: RunHead;
  run: number;
  tables: Tables;
  network: Network;
  scope: Scope;
  selects: preact.ComponentChildren;
}

function Fabric({ own, run, tables, network, scope, selects }: FabricProps) {
  const [wanted, setWanted] = useState<LinkMetric>("utilisation");
  const [chosenInterval, setInterval] = useState<number | null>(null);
  const [selected, setSelected] = useState<number | null>(null);
  const [flow, setFlow] = useState<FlowItem | null>(null);
  const [search, setSearch] = useState("");
  const [place, width] = useWidth<HTMLDivElement>();
  const theme = useThemeVersion();
  const dark = document.documentElement.dataset.theme === "dark";

  const scene = useMemo(() => new Scene(network, layoutOf(network)), [network]);
  const totals = useMemo(
    () => totalsOf(tables.links, scope, network.ports.from.length),
    [tables, scope.case, scope.seed, network],
  );
  const series = useMemo(() => tables.ports.filter(inScope(scope)), [tables, scope]);
  const intervals = useMemo(
    () => (tables.queues && series.length > 0 ? new Intervals(tables.queues, series, network) : null),
    [tables, series, network],
  );
  const longest = useMemo(() => {
    const waiting = tables.queues?.number("waiting_pkts");
    let most = 0;
    for (const one of series) {
      if ((network.nodes.level[network.ports.from[one.port] ?? 0] ?? 0) === 0) continue;
      for (let row = one.offset; row < one.offset + one.rows; row++)
        most = Math.max(most, waiting?.[row] ?? 0);
    }
    return endOf(most);
  }, [tables, series, network]);
  const interval =
    intervals && chosenInterval !== null ? Math.min(chosenInterval, intervals.count - 1) : null;
  const metric = metricIn(wanted, interval);
  const shown = useMemo(
    () => shownOf(network, metric, totals, intervals, interval, longest),
    [network, metric, totals, intervals, interval, longest],
  );
  const items = useMemo(
    () => (tables.flows ? flowItems(tables.flows, scope, network) : []),
    [tables, scope.case, scope.seed, network],
  );
  const ways = useMemo(
    () => flow && waysOf(flow, scope, tables.subflows, network),
    [flow, scope.case, scope.seed, tables, network],
  );
  const look = useMemo(
    () => ({
      shares: shown.shares,
      order: shown.order,
      colourOf: (share: number) => colourOf(share, dark),
      ways:
        ways?.state === "known"
          ? ways.subflows.map(({ subflow, ports }) => ({ ports, colour: styleAt(subflow).colour }))
          : [],
      selected,
    }),
    [shown, ways, selected, dark],
  );
  const pick = (hit: Hit | null) => {
    if (hit?.kind === "port") setSelected(hit.port);
    else if (hit?.kind === "node") {
      const host = hostOf(network, hit.node);
      if (host === null) return;
      setFlow(null);
      setSearch(hostName(network, host));
    }
  };
  const label = own.cases[scope.case]?.label ?? "";
  const title = `Fabric: ${label}`;
  const when = interval === null ? "the whole run" : "one interval";
  const caption = [
    `${own.report.experiment}, ${label}, seed ${scope.seed}.`,
    `Each link has two lines, one for each direction, drawn on that direction’s right. ${LINK_METRICS[metric].title} in ${when}`,
    metric === "utilisation" && interval === null
      ? "is the data that a port admitted, headers included, over the data that its link could carry."
      : `of each port${metric === "utilisation" ? ": the share of time in which it was sending" : ""}.`,
    interval !== null ? (own.tables.queues?.thinned ?? "") : "",
  ]
    .filter((part) => part !== "")
    .join(" ");
  const options = (Object.keys(LINK_METRICS) as LinkMetric[]).filter((one) =>
    LINK_METRICS[one].needs === "queues" ? intervals !== null : tables.links !== null,
  );
  const known = tables.links !== null || intervals !== null;
  return (
    <Frame
      id={`fabric-${run}`}
      title={title}
      caption={known ? caption : `${caption} The run has measured nothing of its links yet.`}
      controls={
        <>
          {selects}
          <label>
            Colour
            <select
              value={wanted}
              onChange={(event) => {
                const next = event.currentTarget.value as LinkMetric;
                setWanted(next);
                if (LINK_METRICS[next].needs === "queues") setInterval(interval ?? 0);
                else if (next !== "utilisation") setInterval(null);
              }}
            >
              {options.map((one) => (
                <option key={one} value={one}>
                  {LINK_METRICS[one].title.toLowerCase()}
                </option>
              ))}
            </select>
          </label>
          {items.length > 0 && (
            <FlowPicker
              items={items}
              search={search}
              onSearch={setSearch}
              chosen={flow}
              onChoose={(item) => {
                setFlow(item);
                setSearch("");
              }}
              ways={ways}
              colourOf={(subflow) => styleAt(subflow).colour}
            />
          )}
        </>
      }
      rows={() => fabricRows(network, shown, totals)}
      svg={async () => {
        const { scale, height } = fitted(scene, 1100);
        return fabricSvg(scene, look, placed({ k: 1, x: 0, y: 0 }, scene, scale, height), {
          width: 1100,
          height,
          title,
          caption,
          least: "0",
          most: mostText(shown),
          metric: LINK_METRICS[metric].title,
        });
      }}
    >
      <div class="fabric-scale">
        <span>{LINK_METRICS[metric].title}</span>
        <span class="muted">0</span>
        <i style={{ background: gradient(dark) }} />
        <span class="muted">{mostText(shown)}</span>
      </div>
      <div ref={place}>
        {width > 0 && (
          <Drawing
            scene={scene}
            look={look}
            width={width}
            theme={theme}
            label={`${title}: ${network.nodes.name.length} nodes, ${network.ports.from.length} ports`}
            onPick={pick}
            tip={(hit) =>
              hit.kind === "port" ? (
                <LinkTip network={network} port={hit.port} shown={shown} totals={totals} />
              ) : (
                <NodeTip network={network} node={hit.node} shown={shown} />
              )
            }
          />
        )}
      </div>
      {intervals && (
        <Timeline
          intervals={intervals}
          interval={interval}
          onChange={(next) => {
            setInterval(next);
            if (next === null && wanted === "queue") setWanted("utilisation");
          }}
        />
      )}
      {selected !== null && (
        <LinkDetail
          network={network}
          port={selected}
          totals={totals}
          queues={tables.queues}
          series={series}
          theme={theme}
          longest={own.tables.queues?.thinned !== undefined}
          onClose={() => setSelected(null)}
        />
      )}
      {known && <Layers network={network} shown={shown} totals={totals} dark={dark} />}
      {known && (
        <LinkTable network={network} shown={shown} totals={totals} selected={selected} onPick={setSelected} />
      )}
    </Frame>
  );
}
