/** A drawing of Observable Plot, and the item that a pointer or the arrow keys select. */
import * as Plot from "@observablehq/plot";
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Axis } from "./axes";

export interface PointedAt {
  /** The position of the cross-hair, in pixels of the drawing; undefined: none. */
  x?: number | undefined;
  y?: number | undefined;
  tip: ComponentChildren;
}

export type Scales = (name: "x" | "y") => { apply(value: number): number; invert(pixel: number): number };

export interface PlotBoxProps {
  options: Plot.PlotOptions;
  label: string;
  /** The item at a point of the drawing. */
  hover?: (scales: Scales, x: number, y: number) => PointedAt | null;
}

type Drawn = (SVGSVGElement | HTMLElement) & Plot.Plot;

export function PlotBox({ options, label, hover }: PlotBoxProps) {
  const host = useRef<HTMLDivElement>(null);
  const plot = useRef<Drawn | null>(null);
  const [at, setAt] = useState<{ px: number; py: number } | null>(null);
  useLayoutEffect(() => {
    const drawn = Plot.plot({ className: "plot", ...options }) as Drawn;
    drawn.setAttribute("role", "img");
    drawn.setAttribute("aria-label", label);
    plot.current = drawn;
    host.current?.replaceChildren(drawn);
    return () => drawn.remove();
  }, [options, label]);

  const pointed = at && hover && plot.current ? hover(scalesOf(plot.current), at.px, at.py) : null;
  const [width, height] = [options.width ?? 0, options.height ?? 0];
  const move = (event: PointerEvent) => {
    const box = host.current?.getBoundingClientRect();
    if (box) setAt({ px: event.clientX - box.left, py: event.clientY - box.top });
  };
  const key = (event: KeyboardEvent) => {
    const steps: Record<string, [number, number]> = {
      ArrowLeft: [-6, 0],
      ArrowRight: [6, 0],
      ArrowUp: [0, -6],
      ArrowDown: [0, 6],
    };
    if (event.key === "Escape") setAt(null);
    const step = steps[event.key];
    if (!step) return;
    event.preventDefault();
    const from = at ?? { px: width / 2, py: height / 2 };
    setAt({
      px: Math.max(0, Math.min(width, from.px + step[0])),
      py: Math.max(0, Math.min(height, from.py + step[1])),
    });
  };
  const pointing = hover && {
    tabIndex: 0,
    onPointerMove: move,
    onPointerDown: move,
    onPointerLeave: () => setAt(null),
    onBlur: () => setAt(null),
    onKeyDown: key,
  };
  return (
    <div class="plot-box" {...pointing}>
      <div ref={host} />
      {pointed && (
        <div data-no-export aria-live="polite">
          {pointed.x !== undefined && <span class="cross-x" style={{ left: `${pointed.x}px` }} />}
          {pointed.y !== undefined && <span class="cross-y" style={{ top: `${pointed.y}px` }} />}
          <div class="tip" style={tipPlace(at?.px ?? 0, at?.py ?? 0, width, height)}>
            {pointed.tip}
          </div>
        </div>
      )}
    </div>
  );
}

function scalesOf(plot: Drawn): Scales {
  return (name) => {
    const scale = plot.scale(name);
    return {
      apply: (value) => Number(scale?.apply(value)),
      invert: (pixel) => Number(scale?.invert?.(pixel)),
    };
  };
}

function tipPlace(x: number, y: number, width: number, height: number): Record<string, string> {
  const place: Record<string, string> = {};
  if (x > width / 2) place.right = `${width - x + 14}px`;
  else place.left = `${x + 14}px`;
  if (y > height / 2) place.bottom = `${height - y + 10}px`;
  else place.top = `${y + 10}px`;
  return place;
}

/**
 * The marks of an axis, in the page's style: labels without ticks, a fine grid. Labels are given as text:
 * with a `tickFormat`, Plot omits labels of logarithmic axes that it considers too dense.
 */
export function axisMarks(x: Axis | null, y: Axis | null, hideY = false): Plot.Markish[] {
  const marks: Plot.Markish[] = [];
  const plain = { tickSize: 0, fill: "var(--muted)", fontVariant: "tabular-nums" };
  if (y) {
    marks.push(Plot.gridY(y.ticks, { stroke: "var(--grid)", strokeOpacity: 1 }));
    if (!hideY) marks.push(Plot.axisY(y.ticks, { ...plain, text: y.format, label: null }));
  }
  if (x) {
    marks.push(Plot.gridX(x.ticks, { stroke: "var(--grid)", strokeOpacity: 1 }));
    marks.push(
      Plot.axisX(x.ticks, {
        ...plain,
        text: x.format,
        label: x.label,
        labelAnchor: "center",
        labelArrow: "none",
      }),
    );
  }
  return marks;
}

/** The scale options of an axis. */
export function scaleOptions(axis: Axis): Plot.ScaleOptions {
  return { type: axis.log ? "log" : "linear", domain: axis.domain, clamp: false, label: null };
}
