/** The settings of an experiment, one line each. */
import type { Setting } from "./contract";

/** Whether it is a table: keys with values. */
export function isTable(value: Setting | undefined): value is { [key: string]: Setting } {
  return typeof value === "object" && !Array.isArray(value);
}

/** All keys with their values as an experiment's file has them; of several tables with one name each has its number. */
export function settings(keys: Record<string, Setting>): Map<string, string> {
  return new Map(
    Object.entries(keys).flatMap(([key, value]): [string, string][] => {
      if (isTable(value)) return below(key, value);
      if (Array.isArray(value) && value.length > 0 && value.every(isTable)) {
        return value.flatMap((own, n) => (isTable(own) ? below(`${key} ${n + 1}`, own) : []));
      }
      return [[key, written(value)]];
    }),
  );
}

function below(key: string, table: Record<string, Setting>): [string, string][] {
  return [...settings(table)].map(([own, value]) => [`${key}.${own}`, value]);
}

function written(value: Setting): string {
  return Array.isArray(value) ? `[${value.map(written).join(", ")}]` : JSON.stringify(value);
}
