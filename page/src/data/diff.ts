/** The differences of two runs: settings, and results case by case. */
import type { CaseHead, PageHead } from "./contract";
import { type Measured, measured, metricOf, partName } from "./results";
import { settings } from "./settings";

/** A setting of the resolved experiments; null: missing. */
export interface SettingDifference {
  key: string;
  values: (string | null)[];
}

export function differentSettings(head: PageHead): SettingDifference[] {
  const all = head.runs.map((run) => settings(run.experiment.keys));
  const keys = new Set(all.flatMap((own) => [...own.keys()]));
  return [...keys]
    .map((key) => ({ key, values: all.map((own) => own.get(key) ?? null) }))
    .filter(({ values }) => new Set(values).size > 1);
}

export interface Difference {
  one: CaseHead;
  part: string | null;
  metric: string;
  a: number;
  b: number;
  ciA: number | null;
  ciB: number | null;
  /** Half the width of the difference's interval, if both have one: they are independent. */
  ci95: number | null;
}

/** The axes by which cases of two runs are matched: those that both have. */
function keyOf(one: CaseHead, axes: string[]): string {
  return axes.map((axis) => String(one.case[axis])).join("\u0000");
}

/** Run `b` minus run `a`, for the cases that both have. */
export function differences(
  head: PageHead,
  a: number,
  b: number,
  metric: string,
  by: string[],
): Difference[] {
  const [left, right] = [measured(head, [a], by), measured(head, [b], by)];
  const axesOf = (rows: Measured[]) => new Set(rows.flatMap((row) => Object.keys(row.one.case)));
  const theirs = axesOf(right);
  const axes = [...axesOf(left)].filter((axis) => theirs.has(axis));
  const key = (row: Measured) => `${keyOf(row.one, axes)}\u0001${partName(row)}`;
  const found = new Map(right.map((row) => [key(row), row]));
  return left.flatMap((row) => {
    const other = found.get(key(row));
    const [own, their] = [metricOf(row, metric), other ? metricOf(other, metric) : null];
    if (!other || own === null || their === null) return [];
    const [ciA, ciB] = [row.ci95[metric] ?? null, other.ci95[metric] ?? null];
    const ci95 = ciA === null || ciB === null ? null : Math.hypot(ciA, ciB);
    return [{ one: row.one, part: partName(row) || null, metric, a: own, b: their, ciA, ciB, ci95 }];
  });
}
