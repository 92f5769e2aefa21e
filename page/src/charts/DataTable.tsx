/** The rows behind a figure. */
import { useState } from "preact/hooks";
import { formatted, unitKey } from "../data/format";
import type { Cell, Rows } from "./rows";
import { Scroll } from "./Scroll";

/** Tables with more rows than this are shown in parts. */
const PART = 200;

function shown(column: string, cell: Cell): string {
  if (cell === null) return "–";
  if (typeof cell !== "number") return String(cell);
  return unitKey(column) === "" && Number.isInteger(cell) ? String(cell) : formatted(column, cell, 5);
}

export function DataTable({ data, caption }: { data: Rows; caption: string }) {
  const [upTo, setUpTo] = useState(PART);
  const { columns, rows, note } = data;
  const numeric = columns.map((_, i) => rows.some((row) => typeof row[i] === "number"));
  return (
    <>
      <Scroll label={`Table: ${caption}`}>
        <table class="data">
          <caption class="visually-hidden">{caption}</caption>
          <thead>
            <tr>
              {columns.map((column, i) => (
                <th key={column} scope="col" class={numeric[i] ? "n" : undefined}>
                  {column}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, upTo).map((row, r) => (
              <tr key={r}>
                {row.map((cell, i) => (
                  <td
                    key={columns[i]}
                    class={numeric[i] ? "n" : undefined}
                    title={typeof cell === "number" ? String(cell) : undefined}
                  >
                    {shown(columns[i] ?? "", cell)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
      <p class="note">
        {rows.length > upTo && (
          <>
            {upTo} of {rows.length} rows.{" "}
            <button type="button" class="quiet" onClick={() => setUpTo(upTo + 1000)}>
              Show more
            </button>{" "}
          </>
        )}
        {note}
      </p>
    </>
  );
}
