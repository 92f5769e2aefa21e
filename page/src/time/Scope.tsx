/** Selects the case, seed and round of the run. */
import { useState } from "preact/hooks";
import type { RunHead } from "../data/contract";
import { choices, type Scope } from "./series";

/** The choices, given the earlier choices. */
export interface Offered {
  cases: number[];
  seeds: number[];
  rounds: number[];
}

/** The closest scope with series: the wanted one, or the first seed and round of its case. */
export function settled(series: readonly Scope[], wanted: Scope): Scope {
  const cases = choices(series, "case");
  const caseOf = cases.includes(wanted.case) ? wanted.case : (cases[0] ?? 0);
  const ofCase = series.filter((one) => one.case === caseOf);
  const seeds = choices(ofCase, "seed");
  const seed = seeds.includes(wanted.seed) ? wanted.seed : (seeds[0] ?? 0);
  const rounds = choices(
    ofCase.filter((one) => one.seed === seed),
    "round",
  );
  return { case: caseOf, seed, round: rounds.includes(wanted.round) ? wanted.round : (rounds[0] ?? 0) };
}

export function offeredBy(series: readonly Scope[], scope: Scope): Offered {
  const ofCase = series.filter((one) => one.case === scope.case);
  return {
    cases: choices(series, "case"),
    seeds: choices(ofCase, "seed"),
    rounds: choices(
      ofCase.filter((one) => one.seed === scope.seed),
      "round",
    ),
  };
}

export function useScope(series: readonly Scope[]): [Scope, (scope: Scope) => void, Offered] {
  const [scope, setScope] = useState(() => settled(series, { case: -1, seed: -1, round: -1 }));
  const offered = offeredBy(series, scope);
  return [scope, (next) => setScope(settled(series, next)), offered];
}

export interface ScopeSelectsProps {
  head: RunHead;
  scope: Scope;
  offered: Offered;
  onChange: (scope: Scope) => void;
}

export function ScopeSelects({ head, scope, offered, onChange }: ScopeSelectsProps) {
  const part = (name: string, key: keyof Scope, all: number[], text: (value: number) => string) =>
    all.length > 1 && (
      <label>
        {name}
        <select
          value={String(scope[key])}
          onChange={(event) => onChange({ ...scope, [key]: Number(event.currentTarget.value) })}
        >
          {all.map((value) => (
            <option key={value} value={String(value)}>
              {text(value)}
            </option>
          ))}
        </select>
      </label>
    );
  return (
    <>
      {part("Case", "case", offered.cases, (value) => head.cases[value]?.label ?? `case ${value}`)}
      {part("Seed", "seed", offered.seeds, String)}
      {part("Round", "round", offered.rounds, String)}
    </>
  );
}
