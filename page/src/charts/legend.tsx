/** The meaning of the colours, dashes and markers of a figure. */
import {
  symbol as d3symbol,
  symbolCircle,
  symbolCross,
  symbolDiamond,
  symbolDiamond2,
  symbolSquare,
  symbolStar,
  symbolTimes,
  symbolTriangle,
  symbolWye,
} from "d3-shape";
import type { Style } from "../data/colour";

export interface LegendItem {
  label: string;
  colour: string;
  /** Of a line; undefined: no line. */
  dash?: string;
  /** Of a marker; undefined: none. */
  symbol?: Style["symbol"] | "diamond" | "tick" | "rect";
  hollow?: boolean;
  opacity?: number;
}

const SHAPES = {
  circle: symbolCircle,
  square: symbolSquare,
  triangle: symbolTriangle,
  diamond: symbolDiamond,
  diamond2: symbolDiamond2,
  star: symbolStar,
  wye: symbolWye,
  cross: symbolCross,
  times: symbolTimes,
} as const;

const STROKED = new Set(["times"]);
export const KEY_WIDTH = 26;

/** The path of a marker around the origin. */
export function markerPath(symbol: keyof typeof SHAPES, size = 40): string {
  return d3symbol(SHAPES[symbol], size)() ?? "";
}

/** The key of one item, 26 by 12. */
export function Key({ item }: { item: LegendItem }) {
  const { colour, dash, symbol, hollow, opacity } = item;
  const shape = symbol && symbol !== "tick" && symbol !== "rect" ? symbol : undefined;
  const stroked = hollow || (shape !== undefined && STROKED.has(shape));
  return (
    <svg
      class="key"
      width={KEY_WIDTH}
      height="12"
      viewBox={`0 0 ${KEY_WIDTH} 12`}
      aria-hidden="true"
      opacity={opacity}
    >
      {dash !== undefined && (
        <line
          x1="1"
          x2={KEY_WIDTH - 1}
          y1="6"
          y2="6"
          stroke={colour}
          stroke-width="2"
          stroke-dasharray={dash}
        />
      )}
      {symbol === "tick" && <line x1="7" x2={KEY_WIDTH - 7} y1="6" y2="6" stroke={colour} stroke-width="2" />}
      {symbol === "rect" && <rect x="7" y="1" width="12" height="10" rx="1.5" fill={colour} />}
      {shape && (
        <path
          d={markerPath(shape)}
          transform={`translate(${KEY_WIDTH / 2},6)`}
          fill={stroked ? "var(--surface)" : colour}
          stroke={stroked ? colour : "none"}
          stroke-width="1.6"
        />
      )}
    </svg>
  );
}

export function Legend({ items }: { items: LegendItem[] }) {
  if (items.length === 0) return null;
  return (
    <ul class="legend" aria-label="Legend">
      {items.map((item) => (
        <li key={item.label}>
          <Key item={item} />
          <span>{item.label}</span>
        </li>
      ))}
    </ul>
  );
}
