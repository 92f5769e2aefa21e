/** Error bars. */
import * as Plot from "@observablehq/plot";
import type { Axis } from "./axes";

export interface IntervalsOf<M> {
  /** The place on the other axis. */
  at: (mark: M) => number | string | null;
  value: (mark: M) => number;
  /** Half the width; null: none. */
  half: (mark: M) => number | null;
}

export interface IntervalStyle<M> {
  stroke: string | ((mark: M) => string);
  strokeWidth: number;
  strokeOpacity?: number;
  /** How far below its place it is drawn, in pixels. */
  dy?: number;
}

/** The ends of an interval on an axis; `isOpen` if its lower end is nowhere on a logarithmic one. Null: none is drawn. */
export function endsOf(value: number, half: number | null, axis: Axis) {
  if (half === null || half <= 0 || (axis.log && value <= 0)) return null;
  const isOpen = axis.log && value <= half;
  return { low: isOpen ? axis.domain[0] : value - half, high: value + half, isOpen };
}

/** What a caption says of arrows; empty if there are none. */
export function arrowWords(marks: { value: number; ci95: number | null }[], log: boolean): string {
  const isOpen = log && marks.some(({ value, ci95 }) => ci95 !== null && value > 0 && value <= ci95);
  return isOpen ? "An arrow: the interval reaches zero." : "";
}

/** Bars along an axis, `y` for upright ones. On a logarithmic one, a bar that reaches zero ends in an arrow. */
export function intervalMarks<M>(
  marks: M[],
  of: IntervalsOf<M>,
  axis: Axis,
  along: "x" | "y",
  style: IntervalStyle<M>,
): Plot.Markish[] {
  const ends = (mark: M) => endsOf(of.value(mark), of.half(mark), axis);
  const low = (mark: M) => ends(mark)?.low ?? null;
  const high = (mark: M) => ends(mark)?.high ?? null;
  const own = marks.filter((mark) => ends(mark) !== null);
  const open = own.filter((mark) => ends(mark)?.isOpen);
  const arrow = { fill: style.stroke, symbol: "triangle" as const, r: 3.5, className: "to-zero" };
  if (along === "y") {
    return [
      Plot.ruleX(own, { x: of.at, y1: low, y2: high, ...style, clip: true }),
      Plot.dot(open, { x: of.at, y: low, ...arrow, rotate: 180, dy: -3 }),
    ];
  }
  return [
    Plot.ruleY(own, { y: of.at, x1: low, x2: high, ...style, clip: true }),
    Plot.dot(open, { y: of.at, x: low, ...arrow, rotate: -90, dx: 3, dy: style.dy ?? 0 }),
  ];
}
