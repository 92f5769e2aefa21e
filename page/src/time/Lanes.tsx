/** A lane for each line: when its subflows existed, and where they were marked, lost packets or waited for timeouts. */
import { useLayoutEffect, useRef } from "preact/hooks";
import { resolvedColour } from "../data/colour";
import { gestures } from "./gestures";
import { RIGHT, Y_AXIS } from "./plot";
import type { Instant, TimeRange } from "./range";
import { GONE, type Happened, type Lane, MARKED, RESENT, WAITED } from "./stretch";

const LANE = 13;

export interface LanesProps {
  lanes: Lane[];
  happened: Happened;
  range: TimeRange;
  instant: Instant;
  highlit: string | null;
  /** Changes when the theme or the width does. */
  version: number;
}

export function Lanes({ lanes, happened, range, instant, highlit, version }: LanesProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const line = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const own = canvas.current;
    if (!own) return;
    let asked = 0;
    const paint = () => {
      asked = 0;
      draw(own, lanes, happened, range, highlit);
    };
    const ask = () => {
      asked ||= requestAnimationFrame(paint);
    };
    paint();
    const point = () => {
      if (!line.current) return;
      const { at } = instant;
      line.current.hidden = at === null;
      const x = (((at ?? 0) - range.from) / range.span) * own.clientWidth;
      line.current.style.transform = `translateX(${x}px)`;
    };
    const stops = [range.listen(ask), instant.listen(point), gestures(own, range)];
    const move = (event: PointerEvent) => {
      const box = own.getBoundingClientRect();
      instant.set(range.from + ((event.clientX - box.left) / box.width) * range.span);
    };
    const leave = () => instant.set(null);
    own.addEventListener("pointermove", move);
    own.addEventListener("pointerleave", leave);
    return () => {
      cancelAnimationFrame(asked);
      own.removeEventListener("pointermove", move);
      own.removeEventListener("pointerleave", leave);
      for (const stop of stops) stop();
    };
  }, [lanes, happened, range, instant, highlit, version]);
  return (
    <div
      class="time-lanes"
      aria-hidden="true"
      style={{ paddingLeft: `${Y_AXIS}px`, paddingRight: `${RIGHT}px` }}
    >
      <canvas ref={canvas} style={{ height: `${lanes.length * LANE}px` }} />
      <div ref={line} class="time-hair" style={{ left: `${Y_AXIS}px` }} hidden />
    </div>
  );
}

function draw(
  canvas: HTMLCanvasElement,
  lanes: Lane[],
  happened: Happened,
  range: TimeRange,
  highlit: string | null,
): void {
  const ratio = window.devicePixelRatio || 1;
  const width = Math.round(canvas.clientWidth * ratio);
  const height = Math.round(lanes.length * LANE * ratio);
  if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
  const ctx = canvas.getContext("2d");
  if (!ctx || width === 0) return;
  ctx.clearRect(0, 0, width, height);
  const colours = [
    "",
    "",
    resolvedColour("var(--time-marked)", canvas),
    resolvedColour("var(--time-resent)", canvas),
    resolvedColour("var(--time-waited)", canvas),
  ];
  const columns = new Uint8Array(width);
  lanes.forEach((lane, i) => {
    happened.columns(lane.members, range.from, range.to, columns);
    const own = resolvedColour(lane.colour, canvas);
    const faded = highlit !== null && highlit !== lane.key ? 0.3 : 1;
    const [top, high] = [(i * LANE + 2) * ratio, (LANE - 4) * ratio];
    for (let x = 0; x < width; ) {
      const level = columns[x] as number;
      let stop = x + 1;
      while (stop < width && columns[stop] === level) stop++;
      if (level !== GONE) {
        ctx.globalAlpha = 0.32 * faded;
        ctx.fillStyle = own;
        ctx.fillRect(x, top, stop - x, high);
      }
      if (level >= MARKED) {
        ctx.globalAlpha = faded;
        ctx.fillStyle = colours[level] ?? "";
        // The worse, the taller, so that shape shows it in addition to colour.
        const share = level === MARKED ? 0.35 : level === RESENT ? 0.65 : 1;
        ctx.fillRect(x, top + high * (1 - share), Math.max(stop - x, ratio), high * share);
      }
      x = stop;
    }
  });
  ctx.globalAlpha = 1;
}

/** The meaning of the ticks of lanes. */
export function LaneKey({ counts }: { counts: boolean }) {
  const items: [string, number, string][] = [
    ["var(--time-resent)", RESENT, counts ? "retransmissions or fast recovery" : "fast recovery"],
    ["var(--time-waited)", WAITED, counts ? "timeout or loss recovery" : "loss recovery"],
  ];
  if (counts) items.unshift(["var(--time-marked)", MARKED, "ECN marks"]);
  return (
    <ul class="time-key" aria-label="Marks in the lanes">
      {items.map(([colour, level, words]) => (
        <li key={words}>
          <i
            style={{ background: colour, height: `${level === MARKED ? 4 : level === RESENT ? 7 : 10}px` }}
          />
          {words}
        </li>
      ))}
    </ul>
  );
}
