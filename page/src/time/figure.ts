/** A declared figure over time: the lines and cases in each panel. */
import { COLOURS } from "../data/colour";
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
  /** The scheme, with its subflows, if nothing else distinguishes its case from the others of the panel. */
  scheme: string;
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

/** The axes in which cases differ. */
function varying(cases: readonly CaseHead[]): string[] {
  const axes = Object.keys(cases[0]?.case ?? {});
  return axes.filter((axis) => new Set(cases.map((one) => String(one.case[axis]))).size > 1);
}

const isOfScheme = (axis: string) => axis === "scheme" || axis === "subflows";

/** A case by the axes in which it differs from others; empty if in none. */
function titleBy(one: CaseHead, axes: readonly string[]): string {
  const withSubflows = axes.includes("subflows");
  const parts = axes
    .filter((axis) => axis !== "subflows" || !axes.includes("scheme"))
    .map((axis) => {
      if (axis === "scheme") return withSubflows ? one.scheme : String(one.case.scheme);
      const value = String(one.case[axis]);
      return axis === "pattern" || axis === "variant" ? value : `${axis} = ${value}`;
    });
  return parts.join(" · ");
}

/** A label without the words that all cases (or those in `among`) have in common: `beta-4` for `beta-4-1 shift`. */
export function caseTitles(
  cases: readonly CaseHead[],
  places: readonly number[],
  among: readonly CaseHead[] = places.flatMap((place) => cases[place] ?? []),
): Map<number, string> {
  const vary = varying(among);
  return new Map(
    places.map((place) => {
      const one = cases[place];
      return [place, one ? titleBy(one, vary) || one.label : ""];
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
  /** Whether each case has its own panel; null: only if colours cannot tell the lines of one panel apart. */
  apart?: boolean | null;
}

/** A line, and its place in the figure. */
interface Found extends FigureLine {
  one: CaseHead;
  /** What it is in the divisions of the samples. */
  words: Words;
}

/** The lines of all runs. If a case lacks a seed or round, its first one is used. */
function linesOf({ figure, runs, chosen }: FigureInput, among: readonly CaseHead[]): Found[] {
  const y = figure.y ?? "goodput_bps";
  const isFlow = !isTimeMetric(y) || METRICS[y].of === "flows";
  // Names from a run that lacks subflows would say less: the first run's names are used for all.
  const names = new Map<string, string>();
  return runs.flatMap(({ run, cases, subflows, ports, nameOf }) => {
    const places = casesOf(cases, figure);
    const titles = caseTitles(cases, places, among);
    return places.flatMap((place) => {
      const one = cases[place] as CaseHead;
      const of = titles.get(place) ?? one.label;
      const ofPlace = (isFlow ? subflows : ports).filter((series) => series.case === place);
      const scope = settled(ofPlace, { case: place, ...chosen });
      const [own, ownPorts] = [subflows.filter(inScope(scope)), ports.filter(inScope(scope))];
      return candidates(figure, one, own, ownPorts, nameOf, isFlow).map(({ line, words }) => {
        const key = JSON.stringify([of, line.entity?.key ?? line.name]);
        const name = names.get(key) ?? line.name;
        names.set(key, name);
        return { ...line, name, run, scope, of, scheme: "", one, words };
      });
    });
  });
}

/**
 * The panels of a figure. Without `panels`, schemes share one, and each value of other axes has its own; but if
 * colours cannot tell so many lines apart, each case has its own.
 */
export function figurePanels(input: FigureInput): FigurePanel[] {
  const { figure, runs, apart = null } = input;
  const among = runs.flatMap(({ cases }) => casesOf(cases, figure).flatMap((place) => cases[place] ?? []));
  const lines = linesOf(input, among);
  const beside = varying(lines.map(({ one }) => one)).filter((axis) => !isOfScheme(axis));
  const isOneCase = new Set(lines.map(({ of }) => of)).size < 2;
  const together = grouped(lines, ({ one, of }) => (isOneCase ? of : titleBy(one, beside)));
  const most = Math.max(0, ...[...together.values()].map(mostInRun));
  const titleOf = ({ words, one }: Found) => words[figure.panels ?? ""] ?? ofCase(one, figure.panels ?? "");
  const panels =
    figure.panels !== undefined
      ? grouped(lines, titleOf)
      : (apart ?? most > COLOURS)
        ? grouped(lines, ({ of }) => of)
        : together;
  return [...panels].map(([title, own]) => ({ title, lines: named(own) }));
}

/** Whether cases share a panel that could have one each. */
export function isShared(panels: readonly FigurePanel[]): boolean {
  return panels.some(({ lines }) => new Set(lines.map(({ of }) => of)).size > 1);
}

function grouped(lines: readonly Found[], titleOf: (line: Found) => string): Map<string, Found[]> {
  const panels = new Map<string, Found[]>();
  for (const line of lines) panels.set(titleOf(line), [...(panels.get(titleOf(line)) ?? []), line]);
  return panels;
}

/** How many lines a run has: the same line of several runs has one colour. */
function mostInRun(lines: readonly Found[]): number {
  const counts = new Map<number, number>();
  for (const { run } of lines) counts.set(run, (counts.get(run) ?? 0) + 1);
  return Math.max(0, ...counts.values());
}

/** The lines of a panel, with what distinguishes their cases from each other in their names. */
function named(lines: readonly Found[]): FigureLine[] {
  const vary = varying(lines.map(({ one }) => one));
  return lines.map(({ one, words: _, ...line }) => {
    const own = titleBy(one, vary);
    const longer = own.startsWith(line.name) ? own : `${own} · ${line.name}`;
    const name = line.name.startsWith(own) ? line.name : longer;
    const scheme = name === one.scheme || (own !== "" && vary.every(isOfScheme)) ? one.scheme : "";
    return { ...line, name, scheme };
  });
}
