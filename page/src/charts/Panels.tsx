/** Small multiples: panels next to each other, as many in a row as fit. */
import type { ComponentChildren } from "preact";
import { useWidth } from "./Lazy";

export interface PanelsProps {
  names: string[];
  /** The minimum width at which a panel is readable. */
  least?: number;
  /** The width beyond which a panel looks empty; undefined: no limit. */
  most?: number;
  /** The label of the vertical axes, once above all panels. */
  yLabel?: string;
  draw: (place: number, size: { width: number; height: number; first: boolean }) => ComponentChildren;
  /** For a single panel. */
  height?: number;
}

const GAP = 22;

export function Panels({ names, least = 250, most, yLabel, draw, height = 340 }: PanelsProps) {
  const [host, width] = useWidth<HTMLDivElement>();
  const fit = Math.max(1, Math.floor((width + GAP) / (least + GAP)));
  const rows = Math.ceil(names.length / fit);
  const columns = Math.max(1, Math.ceil(names.length / Math.max(1, rows)));
  const own = Math.min(most ?? width, Math.floor((width - GAP * (columns - 1)) / columns));
  const high = names.length > 1 ? Math.round(Math.max(210, Math.min(height * 0.8, own * 0.72))) : height;
  const size = { width: own, height: width < 500 ? Math.min(high, 280) : high };
  return (
    <div ref={host}>
      {yLabel && <p class="y-label">{yLabel}</p>}
      {width > 0 && (
        <div
          class="panels"
          style={{
            gridTemplateColumns: `repeat(${columns}, minmax(0, ${most ? `${own}px` : "1fr"}))`,
            columnGap: `${GAP}px`,
          }}
        >
          {names.map((name, place) => (
            <div class="panel" key={name}>
              {name && <p class="panel-title">{name}</p>}
              {draw(place, { ...size, first: place % columns === 0 })}
            </div>
          ))}
        </div>
      )}
    </div>
  );
}
