/** The data behind a figure, as its table, its CSV file and the tests of the page read them. */

export type Cell = string | number | boolean | null;

export interface Rows {
  /** Names with their units, as metrics have them: `goodput_bps`. */
  columns: string[];
  rows: Cell[][];
  /** What was left out or condensed, a sentence. */
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
    /** What the page drew, by the figure's id: for scripts and tests. */
    tresse: { figures: Record<string, Rows> };
  }
}

/** Tells scripts what figure `id` shows; the rows are made when they are asked for. */
export function publish(id: string, rows: () => Rows): () => void {
  window.tresse ??= { figures: {} };
  Object.defineProperty(window.tresse.figures, id, { get: rows, configurable: true, enumerable: true });
  return () => {
    delete window.tresse.figures[id];
  };
}
