/** Changes during a case: links that failed, came back, or changed their rate. */
import type { TableData } from "../data/table";
import type { Mark } from "./plot";
import type { Scope } from "./series";
import { PS } from "./traces";

/** The table `events`, which a run without changes does not have. Events are the same under every seed. */
export class EventsOf {
  constructor(readonly table: TableData | null) {}

  of(scope: Pick<Scope, "case">): Mark[] {
    if (!this.table) return [];
    const [caseOf, at] = ["case", "at_ps"].map((name) => this.table?.number(name));
    const { codes, words } = this.table.text("label");
    const found: Mark[] = [];
    for (let row = 0; row < this.table.rows; row++) {
      if (caseOf?.[row] !== scope.case) continue;
      found.push({ at: (at?.[row] ?? 0) * PS, label: words[codes[row] ?? -1] ?? "" });
    }
    return found.sort((a, b) => a.at - b.at);
  }
}

/** One mark for each instant, with all its events. */
export function marksOf(events: EventsOf, scope: Pick<Scope, "case">): Mark[] {
  const marks: Mark[] = [];
  for (const event of events.of(scope)) {
    const last = marks[marks.length - 1];
    if (last && last.at === event.at) last.label += `, ${event.label}`;
    else marks.push({ ...event });
  }
  return marks;
}
