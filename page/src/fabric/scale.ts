/**
 * Colours of amounts: magma, whose steps look equally far apart even to readers who cannot distinguish red
 * from green. It begins near the background of each theme, so that idle parts fade into it.
 */
const LIGHT = [
  "#e4e2ea",
  "#fecd90",
  "#fe9f6d",
  "#f7705c",
  "#de4968",
  "#b73779",
  "#8c2981",
  "#641a80",
  "#3b0f70",
  "#180f3e",
];
const DARK = [
  "#2b2939",
  "#42207a",
  "#641a80",
  "#8c2981",
  "#b73779",
  "#de4968",
  "#f7705c",
  "#fe9f6d",
  "#fecf92",
  "#fcfdbf",
];

const TABLE = 256;
const made = new Map<string, string[]>();

function channels(hex: string): number[] {
  return [1, 3, 5].map((i) => Number.parseInt(hex.slice(i, i + 2), 16));
}

function table(stops: readonly string[]): string[] {
  return Array.from({ length: TABLE }, (_, i) => {
    const at = (i / (TABLE - 1)) * (stops.length - 1);
    const low = Math.min(stops.length - 2, Math.floor(at));
    const [a, b] = [channels(stops[low] ?? "#000000"), channels(stops[low + 1] ?? "#000000")];
    const mixed = a.map((value, c) => Math.round(value + ((b[c] ?? 0) - value) * (at - low)));
    return `rgb(${mixed.join(" ")})`;
  });
}

/** The colour of a share from 0 to 1; none for NaN. */
export function colourOf(share: number, dark: boolean): string {
  const key = dark ? "dark" : "light";
  const colours = made.get(key) ?? table(dark ? DARK : LIGHT);
  made.set(key, colours);
  const place = Number.isNaN(share) ? 0 : Math.round(Math.min(1, Math.max(0, share)) * (TABLE - 1));
  return colours[place] ?? "";
}

/** The scale as a CSS gradient, from the lowest to the highest. */
export function gradient(dark: boolean): string {
  const stops = Array.from({ length: 11 }, (_, i) => colourOf(i / 10, dark));
  return `linear-gradient(to right, ${stops.join(", ")})`;
}

/** The end of a metric's scale: 1, 2 or 5 times a power of ten, not below the greatest value. */
export function endOf(most: number): number {
  if (!(most > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(most));
  const times = [1, 2, 5, 10].find((one) => one * power >= most - 1e-12) ?? 10;
  return times * power;
}
