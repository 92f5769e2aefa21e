/** The whole run in one strip, and the range that the panels show: drag it, or drag its ends. */
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { resolvedColour } from "../data/colour";
import { decimate, Points, type Trace, trace } from "./decimate";
import { RIGHT, Y_AXIS } from "./plot";
import { stretch } from "./Readout";
import { KEYS, key, type TimeRange } from "./range";
import { PS } from "./traces";

const HEIGHT = 36;
/** How close to an end of the window a pointer must be to grab it, in pixels. */
const GRIP = 8;

export interface OverviewLine {
  colour: string;
  trace: Trace;
}

export interface OverviewProps {
  lines: readonly OverviewLine[];
  range: TimeRange;
  version: number;
}

type Hold = { kind: "move" | "from" | "to" | "new"; at: number };

export function Overview({ lines, range, version }: OverviewProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const brush = useRef<HTMLDivElement>(null);
  const frame = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (canvas.current) draw(canvas.current, lines, range.whole);
  }, [lines, range, version]);
  useEffect(() => {
    const place = () => {
      const own = frame.current;
      if (!own) return;
      const [first, last] = range.whole;
      own.style.left = `${((range.from - first) / (last - first)) * 100}%`;
      own.style.width = `${(range.span / (last - first)) * 100}%`;
      brush.current?.setAttribute("aria-valuenow", String(range.from));
      brush.current?.setAttribute("aria-valuetext", stretch(range));
      own.classList.toggle("is-whole", range.isWhole);
    };
    place();
    return range.listen(place);
  }, [range]);

  const hold = useRef<Hold | null>(null);
  const at = (event: PointerEvent) => {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    const [first, last] = range.whole;
    return {
      at: first + ((event.clientX - box.left) / box.width) * (last - first),
      second: (last - first) / box.width,
    };
  };
  const down = (event: PointerEvent) => {
    (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
    const { at: now, second } = at(event);
    const near = (end: number) => Math.abs(now - end) < GRIP * second;
    let kind: Hold["kind"] = "new";
    if (!range.isWhole && near(range.from)) kind = "from";
    else if (!range.isWhole && near(range.to)) kind = "to";
    else if (!range.isWhole && now > range.from && now < range.to) kind = "move";
    hold.current = { kind, at: now };
  };
  const move = (event: PointerEvent) => {
    const held = hold.current;
    if (!held) return;
    const { at: now, second } = at(event);
    if (held.kind === "from") range.set(Math.min(now, range.to), range.to);
    else if (held.kind === "to") range.set(range.from, Math.max(now, range.from));
    else if (held.kind === "new") {
      if (Math.abs(now - held.at) > 3 * second) range.set(held.at, now);
    } else {
      range.set(range.from + now - held.at, range.to + now - held.at);
      held.at = now;
    }
  };
  return (
    <div
      class="time-overview"
      style={{ marginLeft: `${Y_AXIS}px`, marginRight: `${RIGHT}px`, height: `${HEIGHT}px` }}
    >
      <canvas ref={canvas} role="img" aria-label="The whole time" />
      <div
        class="time-brush"
        ref={brush}
        role="slider"
        aria-label={`The time range that the panels show. ${KEYS}`}
        aria-valuemin={range.whole[0]}
        aria-valuemax={range.whole[1]}
        aria-valuenow={range.from}
        tabIndex={0}
        onPointerDown={down}
        onPointerMove={move}
        onPointerUp={() => {
          hold.current = null;
        }}
        onDblClick={() => range.reset()}
        onKeyDown={(event) => {
          if (key(range, event.key)) event.preventDefault();
        }}
      >
        <div ref={frame} class="time-window" />
      </div>
    </div>
  );
}

function draw(
  canvas: HTMLCanvasElement,
  lines: readonly OverviewLine[],
  whole: readonly [number, number],
): void {
  const ratio = window.devicePixelRatio || 1;
  const [width, height] = [Math.round(canvas.clientWidth * ratio), HEIGHT * ratio];
  Object.assign(canvas, { width, height });
  const ctx = canvas.getContext("2d");
  if (!ctx || width === 0) return;
  const drawn = lines.map((line) => {
    const points = new Points();
    decimate(line.trace, whole[0] / PS, whole[1] / PS, width, points);
    return { points, colour: resolvedColour(line.colour, canvas) };
  });
  const most = Math.max(...drawn.map(({ points }) => points.most));
  ctx.lineWidth = ratio;
  ctx.globalAlpha = 0.55;
  for (const { points, colour } of drawn) {
    ctx.strokeStyle = colour;
    ctx.beginPath();
    trace(points, 0, (y) => height - 2 - (y / (most > 0 ? most : 1)) * (height - 5), ctx);
    ctx.stroke();
  }
}
