/**
 * How series are distinguished: by a colour, and by a dash or a marker for readers who cannot distinguish
 * colours or print in grey.
 */
import type { PageHead } from "./contract";
import { PLACES } from "./schemes";

export interface Style {
  /** A CSS colour that follows the theme: `var(--series-0)`. */
  colour: string;
  /** For lines: as in SVG, empty for a solid one. */
  dash: string;
  /** Whether the colour has been used before: then the dash is needed too. */
  again: boolean;
  /** For points: a symbol of d3 and Observable Plot. */
  symbol: "circle" | "square" | "triangle" | "diamond2" | "star" | "wye" | "cross" | "times";
}

/** Colours of the style sheet, `--series-0` and so on. */
export const COLOURS = 8;
export const DASHES = ["", "7 3", "2 2.5", "9 3 2 3", "12 4", "4 2", "1 3", "9 2 2 2 2 2"] as const;
const SYMBOLS = ["circle", "square", "triangle", "diamond2", "star", "wye", "cross", "times"] as const;

/** The style of the series at a place of a list; after eight colours they repeat with other dashes and markers. */
export function styleAt(place: number): Style {
  const again = Math.floor(place / COLOURS);
  return {
    colour: `var(--series-${place % COLOURS})`,
    again: again > 0,
    dash: DASHES[(place + again) % DASHES.length] ?? "",
    symbol: SYMBOLS[(place + again) % SYMBOLS.length] ?? "circle",
  };
}

/**
 * The place of each name of a list, as in `python/tresse/plot/palette.py`. Schemes of the built-in experiments have
 * their own ones, so that they look the same in all figures, as long as no other of the list has the same colour. The
 * others have the first ones that are free: colours repeat, with other markers, only if there are more names than
 * colours.
 */
export function placesOf(names: Iterable<string>): Map<string, number> {
  const places = new Map<string, number>();
  const taken = new Set<number>();
  const colours = new Set<number>();
  const take = (name: string, place: number) => {
    places.set(name, place);
    taken.add(place);
    colours.add(place % COLOURS);
  };
  const all = [...new Set(names)];
  for (const name of all) {
    const own = ownPlace(name);
    if (own !== undefined && !colours.has(own % COLOURS)) take(name, own);
  }
  for (const name of all) {
    if (places.has(name)) continue;
    const own = ownPlace(name);
    let place = 0;
    if (colours.size < COLOURS) while (colours.has(place)) place++;
    else if (own !== undefined && !taken.has(own)) place = own;
    else while (taken.has(place)) place++;
    take(name, place);
  }
  return new Map(all.map((name) => [name, places.get(name) ?? 0]));
}

/** The place of a scheme of the built-in experiments; without its subflows, that of the first one of this name. */
function ownPlace(name: string): number | undefined {
  const exact = PLACES.get(name);
  if (exact !== undefined) return exact;
  for (const [scheme, place] of PLACES) if (scheme.replace(/-\d+$/, "") === name) return place;
  return undefined;
}

/** A style for each name, by its place. */
export function stylesOf(names: Iterable<string>): Map<string, Style> {
  return new Map([...placesOf(names)].map(([name, place]) => [name, styleAt(place)]));
}

/**
 * A style for each scheme of the page, by its label and by its name alone: the same in every figure. A name has the
 * style of its first label.
 */
export function schemeStyles(head: PageHead): Map<string, Style> {
  const cases = head.runs.flatMap((run) => run.cases);
  const styles = stylesOf(cases.map((one) => one.scheme));
  for (const one of cases) {
    const [name, style] = [String(one.case.scheme), styles.get(one.scheme)];
    if (style && !styles.has(name)) styles.set(name, style);
  }
  return styles;
}

/** A colour of the style sheet in the form for a canvas: the current value of `colour` at `element`. */
export function resolvedColour(colour: string, element: Element = document.documentElement): string {
  const name = /^var\((--[\w-]+)\)$/.exec(colour)?.[1];
  return name ? getComputedStyle(element).getPropertyValue(name).trim() : colour;
}
