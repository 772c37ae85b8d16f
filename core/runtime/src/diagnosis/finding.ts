import type { IterationRecord, RunRecord, StageRecord } from "./run-record.ts";

/** Something that a run's record shows. */
export interface Finding {
  /** Names the rule; docs/guides/diagnosis.md has a section for it. */
  readonly rule: string;
  /** `problem`: it probably keeps the run from learning; `hint`: worth a look. */
  readonly severity: "problem" | "hint";
  /** What looks wrong, with the numbers. */
  readonly what: string;
  /** What to try. */
  readonly advice: string;
  readonly stage?: string;
}

/** Problems first, else in their order. */
export function byProblem(findings: readonly Finding[]): Finding[] {
  return [
    ...findings.filter(({ severity }) => severity === "problem"),
    ...findings.filter(({ severity }) => severity === "hint"),
  ];
}

/** Looks at one stage; nothing where all is well or the stage says nothing of it. */
export type StageRule = (stage: StageRecord, run: RunRecord) => Finding | undefined;

/** Values of a metric over the iterations that have it. */
export function series(iterations: readonly IterationRecord[], name: string): number[] {
  return iterations.flatMap(({ metrics }) => metrics[name] ?? []);
}

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** The middle value; the upper one of two. */
export function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN;
}

/** The first and the last quarter of a series, of at least three values each; `undefined` for shorter ones. */
export function ends(values: readonly number[]): { readonly first: number[]; readonly last: number[] } | undefined {
  const length = Math.max(3, Math.floor(values.length / 4));
  return values.length < 2 * length ? undefined : { first: values.slice(0, length), last: values.slice(-length) };
}

/** The last quarter, of at least three values or all there are. */
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
