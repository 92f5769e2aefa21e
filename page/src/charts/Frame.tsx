/** The frame of every figure: title, drawing, caption, files, and the table behind it. */
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { DataTable } from "./DataTable";
import { png, save, standalone, xml } from "./export";
import { Legend, type LegendItem } from "./legend";
import { csv, publish, type Rows } from "./rows";

export interface FrameProps {
  /** Unique in the page: the name of its files, and of `window.tresse.figures`. */
  id: string;
  title: string;
  /** As in a paper: the content, the run, profile and seeds, the meaning of intervals, and the number of flows. */
  caption?: ComponentChildren;
  /** The key of the series, above the drawing. */
  legend?: LegendItem[];
  /** Controls for the drawing, selects and toggles, above it; neither in files nor on paper. */
  controls?: ComponentChildren;
  /** The data behind the drawing, in full precision. */
  rows: () => Rows;
  /** Default: the `<svg>` elements and words inside. A drawing on a canvas has to provide this. */
  svg?: () => Promise<SVGSVGElement>;
  /** Default: made from the SVG. */
  png?: () => Promise<Blob>;
  children: ComponentChildren;
}

export function Frame(props: FrameProps) {
  const { id, title, caption, legend, controls, rows, children } = props;
  // Experiments name their figures: an element of the page may have the same name.
  const element = `figure-${id}`;
  const drawing = useRef<HTMLDivElement>(null);
  const [open, setOpen] = useState(false);
  const [failed, setFailed] = useState<string | null>(null);
  const latest = useRef(rows);
  latest.current = rows;
  useEffect(() => publish(id, () => latest.current()), [id]);

  const svg = async () => {
    if (props.svg) return await props.svg();
    if (!drawing.current) throw new Error("it is not drawn yet");
    const words = document.getElementById(`${element}-caption`)?.textContent ?? "";
    return standalone(drawing.current, title, words);
  };
  const files: [string, string, () => Promise<void>][] = [
    ["SVG", "drawing", async () => save(`${id}.svg`, xml(await svg()), "image/svg+xml")],
    ["PNG", "picture", async () => save(`${id}.png`, await (props.png ?? (async () => png(await svg())))())],
    ["CSV", "data", async () => save(`${id}.csv`, csv(rows()), "text/csv")],
  ];
  const run = (name: string, make: () => Promise<void>) => {
    setFailed(null);
    make().catch((cause: unknown) => {
      setFailed(`The ${name} file could not be made: ${cause instanceof Error ? cause.message : cause}`);
    });
  };
  return (
    <figure class="frame" id={element} aria-labelledby={`${element}-title`}>
      <header class="frame-head">
        <h3 id={`${element}-title`}>{title}</h3>
        <div class="frame-files" data-no-print>
          {files.map(([name, what, make]) => (
            <button
              type="button"
              class="quiet"
              onClick={() => run(name, make)}
              aria-label={`${name}: ${what} of ${title}`}
            >
              {name}
            </button>
          ))}
          <button
            type="button"
            class="quiet"
            aria-expanded={open}
            aria-controls={`${element}-table`}
            aria-label={`Table of ${title}`}
            onClick={() => setOpen(!open)}
          >
            Table
          </button>
        </div>
      </header>
      {controls && (
        <div class="frame-controls" data-no-print>
          {controls}
        </div>
      )}
      <div class="drawing" ref={drawing}>
        {legend && <Legend items={legend} />}
        {children}
      </div>
      {failed && <p class="message error">{failed}</p>}
      {caption && (
        <figcaption id={`${element}-caption`} class="caption">
          {caption}
        </figcaption>
      )}
      {open && (
        <div id={`${element}-table`} class="frame-table" data-no-print>
          <DataTable data={rows()} caption={title} />
        </div>
      )}
    </figure>
  );
}
