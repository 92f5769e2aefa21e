/**
 * How series are distinguished: by a colour, and by a dash or a marker for readers who cannot distinguish
 * colours or print in grey.
 */
import type { PageHead } from "./contract";

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

/** A style for each name, by its place in the list. */
export function stylesOf(names: Iterable<string>): Map<string, Style> {
  return new Map([...new Set(names)].map((name, place) => [name, styleAt(place)]));
}

/** A style for each scheme of the page: the same in every figure. */
export function schemeStyles(head: PageHead): Map<string, Style> {
  return stylesOf(head.runs.flatMap((run) => run.cases.map((one) => one.scheme)));
}

/** A colour of the style sheet in the form for a canvas: the current value of `colour` at `element`. */
export function resolvedColour(colour: string, element: Element = document.documentElement): string {
  const name = /^var\((--[\w-]+)\)$/.exec(colour)?.[1];
  return name ? getComputedStyle(element).getPropertyValue(name).trim() : colour;
}
