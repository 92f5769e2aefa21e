/** A declared figure over time: the lines and cases in each panel. */
import type { CaseHead, Figure } from "../data/contract";
import { settled } from "./Scope";
import {
  type Entity,
  entities,
  inScope,
  type Level,
  natural,
  type PortSeries,
  type Scope,
  type SubflowSeries,
} from "./series";
import { METRICS, type TimeMetric } from "./traces";

/** A line of a figure, before it has values. */
export interface FigureLine {
  name: string;
  /** The index of its run in the page. */
  run: number;
  /** The part of the run that it shows. */
  scope: Scope;
  /** The title of its case. */
  of: string;
  entity?: Entity;
  /** Ports whose values are averaged. */
  ports?: PortSeries[];
}

export interface FigurePanel {
  title: string;
  lines: FigureLine[];
}

export interface Chosen {
  seed: number;
  round: number;
}

export function isTimeMetric(name: string): name is TimeMetric {
  return name in METRICS;
}

/** A dimension of a case, in words: the scheme with its number of subflows, other axes unchanged. */
function ofCase(one: CaseHead, dimension: string): string {
  return dimension === "scheme" ? one.scheme : String(one.case[dimension] ?? "");
}

/** Whether a figure selects a value; `xmp` also selects `xmp-2`. */
function wanted(figure: Figure, dimension: string, ...values: string[]): boolean {
  const where = figure.where?.[dimension];
  if (where === undefined) return true;
  const all = (Array.isArray(where) ? where : [where]).map(String);
  return values.some((value) => all.includes(value));
}

/** The cases of a figure, by index. */
export function casesOf(cases: readonly CaseHead[], figure: Figure): number[] {
  return cases.flatMap((one, place) =>
    Object.keys(one.case).every((axis) =>
      wanted(figure, axis, ofCase(one, axis), String(one.case[axis] ?? "")),
    )
      ? [place]
      : [],
  );
}

/** A label without the words that all cases (or those in `among`) have in common: `beta-4` for `beta-4-1 shift`. */
export function caseTitles(
  cases: readonly CaseHead[],
  places: readonly number[],
  among: readonly CaseHead[] = places.flatMap((place) => cases[place] ?? []),
): Map<number, string> {
  const axes = Object.keys(among[0]?.case ?? {});
  const vary = axes.filter((axis) => new Set(among.map((one) => String(one.case[axis]))).size > 1);
  return new Map(
    places.map((place) => {
      const one = cases[place];
      if (!one) return [place, ""];
      if (vary.length === 0) return [place, one.label];
      const withSubflows = vary.includes("subflows");
      const parts = vary
        .filter((axis) => axis !== "subflows" || !vary.includes("scheme"))
        .map((axis) => {
          if (axis === "scheme") return withSubflows ? one.scheme : String(one.case.scheme);
          const value = String(one.case[axis]);
          return axis === "pattern" || axis === "variant" ? value : `${axis} = ${value}`;
        });
      return [place, parts.join(" · ")];
    }),
  );
}

function flowLinesOf(figure: Figure, members: readonly SubflowSeries[]): { entity: Entity; words: Words }[] {
  const series = figure.series ?? "subflow";
  const level: Level = series === "subflow" || series === "flow" ? series : "group";
  const here = members.filter(
    (one) =>
      wanted(figure, "group", one.group) &&
      wanted(figure, "flow", String(one.flow)) &&
      wanted(figure, "subflow", String(one.subflow)),
  );
  const all = entities(here, level);
  if (series === "subflow" || series === "flow" || series === "group") {
    return all.map((entity) => ({ entity, words: { group: entity.members[0]?.group ?? "" } }));
  }
  // A series by an axis of the cases: the whole case is one line.
  return here.length > 0 ? [{ entity: { key: "", name: "", members: [...here] }, words: {} }] : [];
}

type Words = Record<string, string>;

interface Candidate {
  line: Pick<FigureLine, "name" | "entity" | "ports">;
  words: Words;
}

function candidates(
  figure: Figure,
  one: CaseHead,
  subflows: readonly SubflowSeries[],
  ports: readonly PortSeries[],
  nameOf: (port: PortSeries) => string,
  isFlow: boolean,
): Candidate[] {
  if (isFlow) {
    return flowLinesOf(figure, subflows).map(({ entity, words }) => ({
      line: { name: entity.name || ofCase(one, figure.series ?? ""), entity },
      words,
    }));
  }
  const here = ports.filter(
    (port) => wanted(figure, "layer", port.layer) && wanted(figure, "port", String(port.port), nameOf(port)),
  );
  if (figure.series !== "layer") {
    const found = here.map((port) => ({ port, name: nameOf(port) })).sort((a, b) => natural(a.name, b.name));
    return found.map(({ port, name }) => ({
      line: { name, ports: [port] },
      words: { layer: port.layer, port: name },
    }));
  }
  const layers = [...new Set(here.map((port) => port.layer))];
  return layers.map((layer) => ({
    line: { name: layer, ports: here.filter((port) => port.layer === layer) },
    words: { layer },
  }));
}

/** The data of a run for a figure. */
export interface FigureRun {
  run: number;
  cases: readonly CaseHead[];
  subflows: readonly SubflowSeries[];
  ports: readonly PortSeries[];
  nameOf: (port: PortSeries) => string;
}

export interface FigureInput {
  figure: Figure;
  runs: readonly FigureRun[];
  chosen: Chosen;
}

/** The panels of a figure, with the lines of all runs. If a case lacks a seed or round, its first one is used. */
export function figurePanels({ figure, runs, chosen }: FigureInput): FigurePanel[] {
  const y = figure.y ?? "goodput_bps";
  const isFlow = !isTimeMetric(y) || METRICS[y].of === "flows";
  const among = runs.flatMap(({ cases }) => casesOf(cases, figure).flatMap((place) => cases[place] ?? []));
  const panels = new Map<string, FigurePanel>();
  // Names from a run that lacks subflows would say less: the first run's names are used for all.
  const names = new Map<string, string>();
  for (const { run, cases, subflows, ports, nameOf } of runs) {
    const places = casesOf(cases, figure);
    const titles = caseTitles(cases, places, among);
    for (const place of places) {
      const one = cases[place] as CaseHead;
      const of = titles.get(place) ?? one.label;
      const ofPlace = (isFlow ? subflows : ports).filter((series) => series.case === place);
      const scope = settled(ofPlace, { case: place, ...chosen });
      const [own, ownPorts] = [subflows.filter(inScope(scope)), ports.filter(inScope(scope))];
      for (const { line, words } of candidates(figure, one, own, ownPorts, nameOf, isFlow)) {
        const title = figure.panels ? (words[figure.panels] ?? ofCase(one, figure.panels)) : of;
        const known = panels.get(title) ?? { title, lines: [] };
        const key = JSON.stringify([of, line.entity?.key ?? line.name]);
        const name = names.get(key) ?? line.name;
        names.set(key, name);
        known.lines.push({ ...line, name, run, scope, of });
        panels.set(title, known);
      }
    }
  }
  for (const panel of panels.values()) {
    // Two cases in one panel: a name includes its case, unless it already does.
    if (new Set(panel.lines.map((line) => line.of)).size < 2) continue;
    for (const line of panel.lines) {
      if (line.name !== line.of && !line.name.startsWith(line.of))
        line.name = line.name ? `${line.of} · ${line.name}` : line.of;
    }
  }
  return [...panels.values()];
}
