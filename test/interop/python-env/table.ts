import type { MeasuredSet } from "./measure-task-set.ts";
export function tableOf(version: string, sets: readonly MeasuredSet[]): string {
  return `${version} ${sets.length}\n`;
}
