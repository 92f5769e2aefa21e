/** Chooses the flow whose path is shown. */
import { useMemo, useState } from "preact/hooks";
import { matches } from "../time/series";
import type { FlowItem, Ways } from "./paths";

const LISTED = 60;

export interface FlowPickerProps {
  items: readonly FlowItem[];
  /** For a clicked host. */
  search: string;
  onSearch: (search: string) => void;
  chosen: FlowItem | null;
  onChoose: (item: FlowItem | null) => void;
  ways: Ways | null;
  colourOf: (subflow: number) => string;
}

export function FlowPicker({ items, search, onSearch, chosen, onChoose, ways, colourOf }: FlowPickerProps) {
  const [open, setOpen] = useState(false);
  const found = useMemo(() => items.filter((item) => matches(item.name, search)), [items, search]);
  return (
    <div class="fabric-flows">
      <label>
        Path of a flow
        <input
          type="search"
          placeholder={`Search ${items.length} flows …`}
          value={search}
          onFocus={() => setOpen(true)}
          onInput={(event) => {
            onSearch(event.currentTarget.value);
            setOpen(true);
          }}
          onKeyDown={(event) => event.key === "Escape" && setOpen(false)}
        />
      </label>
      {chosen && (
        <button type="button" class="quiet" onClick={() => onChoose(null)}>
          Show all links again
        </button>
      )}
      {(open || search !== "") && !chosen && (
        <ul class="fabric-found" aria-label="Flows">
          {found.slice(0, LISTED).map((item) => (
            <li key={item.key}>
              <button
                type="button"
                onClick={() => {
                  onChoose(item);
                  setOpen(false);
                }}
              >
                {item.name}
              </button>
            </li>
          ))}
          <li class="note" role="status">
            {found.length === 0 && "No flow matches these words."}
            {found.length > LISTED && `The first ${LISTED} of ${found.length}.`}
          </li>
        </ul>
      )}
      {chosen && (
        <p class="fabric-ways" role="status">
          <strong>{chosen.name}</strong>{" "}
          {ways?.state === "known" &&
            ways.subflows.map(({ subflow, ports }) => (
              <span key={subflow}>
                <i style={{ background: colourOf(subflow) }} /> subflow {subflow}, {ports.length} links
              </span>
            ))}
          {ways?.state === "known" && ways.unknown > 0 && ` The paths of ${ways.unknown} more are not known.`}
          {ways?.state === "unknown" && ways.why}
        </p>
      )}
    </div>
  );
}
