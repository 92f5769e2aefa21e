/** Selects which of several runs is shown, and which others are overlaid. */
import type { PageHead } from "../data/contract";
import { runName } from "./runs";
import type { Tables } from "./sides";

export interface RunSelectsProps {
  head: PageHead;
  /** The shown run. */
  run: number;
  others: readonly Tables[];
  onRun: (run: number) => void;
  /** The other runs that are not overlaid. */
  aside: readonly number[];
  onAside: (runs: number[]) => void;
}

export function RunSelects({ head, run, others, onRun, aside, onAside }: RunSelectsProps) {
  if (others.length === 0) return null;
  const rest = others.map((one) => one.run);
  const lay = (other: number, on: boolean) =>
    onAside(on ? aside.filter((one) => one !== other) : [...aside, other]);
  return (
    <>
      <label>
        Run
        <select value={String(run)} onChange={(event) => onRun(Number(event.currentTarget.value))}>
          {[run, ...rest]
            .sort((a, b) => a - b)
            .map((one) => (
              <option key={one} value={String(one)}>
                {runName(head, one)}
              </option>
            ))}
        </select>
      </label>
      {rest.map((other) => (
        <label key={other}>
          <input
            type="checkbox"
            checked={!aside.includes(other)}
            onChange={(event) => lay(other, event.currentTarget.checked)}
          />{" "}
          Lay {runName(head, other)} over it
        </label>
      ))}
    </>
  );
}
