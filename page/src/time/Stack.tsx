/** Panels above each other (or side by side) that show the same time range and share a pointer. */
import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Key } from "../charts/legend";
import { formatted, type Scale } from "../data/format";
import { valueAt } from "./decimate";
import { type PanelSpec, TimePanel } from "./plot";
import { shown } from "./Readout";
import { type Instant, KEYS, key, type TimeRange } from "./range";
import { MOST_LINES } from "./series";
import { METRICS, PS } from "./traces";

/** Counts changes of the theme, which a canvas does not follow automatically. */
export function useThemeVersion(): number {
  const [version, setVersion] = useState(0);
  useEffect(() => {
    const changed = () => setVersion((before) => before + 1);
    window.addEventListener("tresse:theme", changed);
    return () => window.removeEventListener("tresse:theme", changed);
  }, []);
  return version;
}

export interface PanelProps {
  spec: PanelSpec;
  title: string;
  range: TimeRange;
  instant: Instant;
  highlit: string | null;
  theme: number;
  /** Whether the values under the pointer are next to it; otherwise they are in a legend. */
  readout?: boolean;
}

export function Panel({ spec, title, range, instant, highlit, theme, readout }: PanelProps) {
  const host = useRef<HTMLDivElement>(null);
  const panel = useRef<TimePanel | null>(null);
  const [scale, setScale] = useState<Scale | null>(null);
  const latest = useRef(spec);
  latest.current = spec;
  // Options that uPlot cannot change later require a new plot.
  useLayoutEffect(() => {
    const own = host.current;
    if (!own) return;
    const made = new TimePanel(own, latest.current, range, instant, setScale);
    panel.current = made;
    const observer = new ResizeObserver(() => made.resize(own.clientWidth));
    observer.observe(own);
    return () => {
      observer.disconnect();
      made.destroy();
      panel.current = null;
    };
  }, [range, instant, spec.metric, spec.height, spec.xAxis, spec.log]);
  useEffect(() => panel.current?.update(spec), [spec]);
  useEffect(() => panel.current?.highlight(highlit), [highlit]);
  useLayoutEffect(() => panel.current?.redraw(), [theme]);
  const unit = METRICS[spec.metric].percent ? "" : scale?.unit;
  const lines = spec.lines.filter((line) => line.role !== "raw").length;
  return (
    <div class="time-panel">
      <p class="panel-title">
        {title}
        {unit && <span class="time-unit"> {unit}</span>}
      </p>
      <div
        ref={host}
        class="time-plot"
        role="application"
        aria-label={`${title} over time: ${lines} lines. ${KEYS}`}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: keys pan and zoom it
        tabIndex={0}
        onKeyDown={(event) => {
          if (event.ctrlKey || event.metaKey || event.altKey) return;
          if (key(range, event.key)) event.preventDefault();
        }}
      />
      {readout && <Tip spec={spec} host={host} instant={instant} />}
    </div>
  );
}

/** About how wide it is, in pixels. */
const TIP = 280;

/** The values of all lines at the pointer, the greatest first. */
function Tip({
  spec,
  host,
  instant,
}: {
  spec: PanelSpec;
  host: RefObject<HTMLDivElement>;
  instant: Instant;
}) {
  const [at, setAt] = useState<{ time: number; left: number } | null>(null);
  useEffect(() => {
    const own = host.current;
    if (!own) return;
    let asked = 0;
    const look = () => {
      asked = 0;
      const over = own.querySelector<HTMLElement>(".u-over");
      const here = instant.at !== null && over?.matches(":hover");
      const hair = own.querySelector(".u-cursor-x")?.getBoundingClientRect();
      setAt(
        here && hair ? { time: instant.at ?? 0, left: hair.left - own.getBoundingClientRect().left } : null,
      );
    };
    const stop = instant.listen(() => {
      asked ||= requestAnimationFrame(look);
    });
    return () => {
      cancelAnimationFrame(asked);
      stop();
    };
  }, [host, instant]);
  if (!at) return null;
  const values = spec.lines
    .filter((line) => line.role !== "raw")
    .map((line) => ({ line, value: valueAt(line.trace, at.time / PS) }))
    .filter(({ value }) => !Number.isNaN(value))
    .sort((a, b) => b.value - a.value);
  // To the left of the pointer where there is no room to the right of it in the window.
  const right = (host.current?.getBoundingClientRect().left ?? 0) + at.left > window.innerWidth - TIP;
  const place = right
    ? { right: `${(host.current?.clientWidth ?? 0) - at.left + 12}px` }
    : { left: `${at.left + 12}px` };
  return (
    <div class="tip" style={{ top: "2rem", ...place }} aria-hidden="true">
      <div class="tip-head">{formatted("at_s", at.time, 5)}</div>
      <table>
        <tbody>
          {values.slice(0, MOST_LINES).map(({ line, value }) => (
            <tr key={line.name}>
              <td>
                <Key item={{ label: line.name, colour: line.colour, dash: line.dash }} />
              </td>
              <td>{line.name}</td>
              <td class="n">{shown(spec.metric, value)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
