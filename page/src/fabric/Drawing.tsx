/** The network on a canvas, with zooming, panning and pointing. */
import { select } from "d3-selection";
import { type D3ZoomEvent, type ZoomBehavior, zoom, zoomIdentity } from "d3-zoom";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { resolvedColour } from "../data/colour";
import { CanvasBrush } from "./brush";
import type { Hit, Look, Scene, View } from "./scene";

export interface DrawingProps {
  scene: Scene;
  look: Omit<Look, "theme" | "hovered" | "ways"> & {
    ways: readonly { ports: readonly number[]; colour: string }[];
  };
  label: string;
  /** The width of the figure, in pixels. */
  width: number;
  /** Changes with the theme. */
  theme: number;
  onPick: (hit: Hit | null) => void;
  /** The text next to the pointer. */
  tip: (hit: Hit) => preact.ComponentChildren;
}

export function themeOf(element: Element): Look["theme"] {
  const of = (name: string) => resolvedColour(`var(--${name})`, element);
  return {
    text: of("text"),
    muted: of("muted"),
    line: of("line"),
    surface: of("surface"),
    subtle: of("subtle"),
    accent: of("accent"),
  };
}

/** How the layout fits the width; a layout wider than high keeps its height on a narrow screen. */
export function fitted(scene: Scene, width: number): { scale: number; height: number } {
  const scale = width / scene.layout.width;
  return { scale, height: Math.round(Math.max(scene.layout.height * Math.max(scale, 0.55), 200)) };
}

export function Drawing({ scene, look, label, width, theme, onPick, tip }: DrawingProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const view = useRef<View>({ k: 1, x: 0, y: 0 });
  const behaviour = useRef<ZoomBehavior<HTMLCanvasElement, unknown> | null>(null);
  const [hovered, setHovered] = useState<{ hit: Hit; x: number; y: number } | null>(null);
  const { scale, height } = fitted(scene, width);
  const latest = useRef<() => void>(() => {});
  latest.current = () => {
    const own = canvas.current;
    if (own)
      draw(own, scene, placed(view.current, scene, scale, height), look, hovered?.hit ?? null, width, height);
  };
  useLayoutEffect(() => latest.current(), [scene, look, hovered, width, theme]);

  useEffect(() => {
    const own = canvas.current;
    if (!own) return;
    let asked = 0;
    const made = zoom<HTMLCanvasElement, unknown>()
      .scaleExtent([1, 60])
      .translateExtent([
        [0, 0],
        [width, height],
      ])
      .extent([
        [0, 0],
        [width, height],
      ])
      // A plain wheel and one finger scroll the page.
      .filter((event: MouseEvent | WheelEvent | TouchEvent) => {
        if (event instanceof WheelEvent) return event.ctrlKey || event.metaKey;
        if ("touches" in event) return event.touches.length > 1;
        return event.button === 0;
      })
      .on("zoom", (event: D3ZoomEvent<HTMLCanvasElement, unknown>) => {
        view.current = event.transform;
        asked ||= requestAnimationFrame(() => {
          asked = 0;
          latest.current();
        });
      });
    behaviour.current = made;
    select(own).call(made).call(made.transform, zoomIdentity);
    return () => {
      cancelAnimationFrame(asked);
      select(own).on(".zoom", null);
    };
  }, [scene, width, height]);

  const by = (factor: number) => {
    if (canvas.current && behaviour.current) behaviour.current.scaleBy(select(canvas.current), factor);
  };
  const reset = () => {
    if (canvas.current) behaviour.current?.transform(select(canvas.current), zoomIdentity);
  };
  const pan = (x: number, y: number) => {
    if (canvas.current)
      behaviour.current?.translateBy(select(canvas.current), x / view.current.k, y / view.current.k);
  };
  const keys: Record<string, () => void> = {
    "+": () => by(1.5),
    "=": () => by(1.5),
    "-": () => by(1 / 1.5),
    "0": reset,
    ArrowLeft: () => pan(60, 0),
    ArrowRight: () => pan(-60, 0),
    ArrowUp: () => pan(0, 60),
    ArrowDown: () => pan(0, -60),
  };
  const hitAt = (event: PointerEvent | MouseEvent) => {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const hit = scene.hit(x, y, placed(view.current, scene, scale, height));
    return hit && { hit, x, y };
  };
  return (
    <div class="fabric-stage" style={{ height: `${height}px` }}>
      <canvas
        ref={canvas}
        tabIndex={0}
        role="img"
        aria-label={`${label}. Arrow keys pan, plus and minus zoom, 0 shows all. The table of links below has the same.`}
        style={{ width: `${width}px`, height: `${height}px`, cursor: hovered ? "pointer" : "grab" }}
        onPointerMove={(event) => event.buttons === 0 && setHovered(hitAt(event))}
        onPointerLeave={() => setHovered(null)}
        onClick={(event) => onPick(hitAt(event)?.hit ?? null)}
        onKeyDown={(event) => {
          const does = keys[event.key];
          if (!does || event.ctrlKey || event.metaKey) return;
          does();
          event.preventDefault();
        }}
      />
      <div class="fabric-zoom" data-no-print data-no-export>
        <button type="button" aria-label="Zoom in" onClick={() => by(1.5)}>
          +
        </button>
        <button type="button" aria-label="Zoom out" onClick={() => by(1 / 1.5)}>
          −
        </button>
        <button type="button" aria-label="Show all" onClick={reset}>
          ⤢
        </button>
      </div>
      {hovered && (
        <div
          class="tip"
          style={{
            top: `${hovered.y + 14}px`,
            ...(hovered.x > width / 2
              ? { right: `${width - hovered.x + 10}px` }
              : { left: `${hovered.x + 14}px` }),
          }}
        >
          {tip(hovered.hit)}
        </div>
      )}
    </div>
  );
}

/** The view in the units of the layout; a layout lower than the figure is centred in it. */
export function placed(view: View, scene: Scene, scale: number, height: number): View {
  const slack = Math.max(0, height - scene.layout.height * scale) / 2;
  return { k: view.k * scale, x: view.x, y: view.y + slack * view.k };
}

function draw(
  canvas: HTMLCanvasElement,
  scene: Scene,
  view: View,
  look: DrawingProps["look"],
  hovered: Hit | null,
  width: number,
  height: number,
): void {
  const ratio = window.devicePixelRatio || 1;
  const [wide, high] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== wide || canvas.height !== high) Object.assign(canvas, { width: wide, height: high });
  const ctx = canvas.getContext("2d");
  if (!ctx) return;
  ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
  ctx.clearRect(0, 0, width, height);
  const ways = look.ways.map((way) => ({ ...way, colour: resolvedColour(way.colour, canvas) }));
  const brush = new CanvasBrush(ctx, getComputedStyle(canvas).fontFamily);
  scene.paint(brush, view, { ...look, ways, hovered, theme: themeOf(canvas) }, width, height);
}
