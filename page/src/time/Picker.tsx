/** Chooses some of many by name: a search, and a list of the matches. */
import { useId, useMemo, useState } from "preact/hooks";
import { matches } from "./series";

/** The most entries to list: longer lists are searched. */
const LISTED = 100;

export interface PickerProps {
  label: string;
  items: readonly { key: string; name: string }[];
  chosen: readonly string[];
  onChange: (keys: string[]) => void;
  /** The default choice. */
  defaults: { label: string; keys: () => string[] };
}

export function Picker({ label, items, chosen, onChange, defaults }: PickerProps) {
  const [search, setSearch] = useState("");
  const id = useId();
  const found = useMemo(() => items.filter((item) => matches(item.name, search)), [items, search]);
  const on = new Set(chosen);
  const toggle = (key: string) => {
    const next = new Set(on);
    if (!next.delete(key)) next.add(key);
    // In the order of the list, so that colours do not depend on the order of clicks.
    onChange(items.map((item) => item.key).filter((one) => next.has(one)));
  };
  return (
    <details
      class="time-picker"
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        event.currentTarget.open = false;
        event.currentTarget.querySelector("summary")?.focus();
      }}
    >
      <summary>
        {label}: {chosen.length} of {items.length}
      </summary>
      <div class="time-choices">
        <input
          type="search"
          placeholder={`Search ${items.length} …`}
          aria-label={`Search ${label.toLowerCase()}`}
          value={search}
          onInput={(event) => setSearch(event.currentTarget.value)}
        />
        <div class="time-choice-buttons">
          <button type="button" class="quiet" onClick={() => onChange(defaults.keys())}>
            {defaults.label}
          </button>
          <button
            type="button"
            class="quiet"
            disabled={found.length > LISTED}
            onClick={() => onChange(found.map((item) => item.key))}
          >
            {search ? "Only found" : "All"}
          </button>
          <button type="button" class="quiet" onClick={() => onChange([])}>
            None
          </button>
        </div>
        <ul>
          {found.slice(0, LISTED).map((item) => (
            <li key={item.key}>
              <label for={`${id}-${item.key}`}>
                <input
                  type="checkbox"
                  id={`${id}-${item.key}`}
                  checked={on.has(item.key)}
                  onChange={() => toggle(item.key)}
                />
                {item.name}
              </label>
            </li>
          ))}
        </ul>
        <p class="note" role="status">
          {found.length > LISTED
            ? `The first ${LISTED} of ${found.length}: search for others.`
            : found.length === 0
              ? "No name matches these words."
              : ""}
        </p>
      </div>
    </details>
  );
}
