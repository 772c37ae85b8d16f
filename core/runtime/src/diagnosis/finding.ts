import type { IterationRecord, RunRecord, StageRecord } from "./run-record.ts";

/** Result of a diagnosis rule. */
export interface Finding {
  /** Name of the rule. docs/train/diagnosis.md has a section for it. */
  readonly rule: string;
  /** `problem`: it probably prevents learning; `hint`: it may matter. */
  readonly severity: "problem" | "hint";
  /** Description of the observation, with numbers. */
  readonly what: string;
  /** Changes to try. */
  readonly advice: string;
  readonly stage?: string;
}

/** Sorts findings: problems first, else in their order. */
export function byProblem(findings: readonly Finding[]): Finding[] {
  return [
    ...findings.filter(({ severity }) => severity === "problem"),
    ...findings.filter(({ severity }) => severity === "hint"),
  ];
}

/** Examines one stage. Returns `undefined` if it finds no fault or has too little data. */
export type StageRule = (stage: StageRecord, run: RunRecord) => Finding | undefined;

/** Returns the values of a metric over the iterations that have it. */
export function series(iterations: readonly IterationRecord[], name: string): number[] {
  return iterations.flatMap(({ metrics }) => metrics[name] ?? []);
}

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Returns the median; the upper one of two middle values. */
export function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN;
}

/** Returns the first and the last quarter of a series, with at least three values each; `undefined` for a shorter series. */
export function ends(values: readonly number[]): { readonly first: number[]; readonly last: number[] } | undefined {
  const length = Math.max(3, Math.floor(values.length / 4));
  return values.length < 2 * length ? undefined : { first: values.slice(0, length), last: values.slice(-length) };
}

/** Returns the last quarter of a series, with at least three values if it has so many. */
export function recent(values: readonly number[]): number[] {
  return values.slice(-Math.max(3, Math.floor(values.length / 4)));
}

/** Mean reward from which a task counts as solved. */
export const SOLVED = 0.99;

/** Whether the recent episodes are solved: then equal rewards and zero gradients are no problem. */
export function isSolved(iterations: readonly IterationRecord[]): boolean {
  return mean(recent(series(iterations, "reward/mean"))) >= SOLVED;
}

export function percent(share: number): string {
  return `${(100 * share).toFixed(share < 0.01 ? 1 : 0)} %`;
}

export function short(value: number): string {
  return Number(value.toPrecision(3)).toString();
}
