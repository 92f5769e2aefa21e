/** The data behind a figure, for its table, its CSV file and the tests of the page. */

export type Cell = string | number | boolean | null;

export interface Rows {
  /** Names with units, like those of metrics: `goodput_bps`. */
  columns: string[];
  rows: Cell[][];
  /** What was left out or condensed, in a sentence. */
  note?: string;
}

function field(cell: Cell): string {
  if (cell === null || (typeof cell === "number" && Number.isNaN(cell))) return "";
  const text = String(cell);
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** RFC 4180. */
export function csv(data: Rows): string {
  return [data.columns, ...data.rows].map((row) => `${row.map(field).join(",")}\r\n`).join("");
}

declare global {
  interface Window {
    /** The drawn data by the figure's id, for scripts and tests. */
    tresse: { figures: Record<string, Rows> };
  }
}

/** Tells scripts what figure `id` shows; the rows are made on request. */
export function publish(id: string, rows: () => Rows): () => void {
  window.tresse ??= { figures: {} };
  Object.defineProperty(window.tresse.figures, id, { get: rows, configurable: true, enumerable: true });
  return () => {
    delete window.tresse.figures[id];
  };
}
