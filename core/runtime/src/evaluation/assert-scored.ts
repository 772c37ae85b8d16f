import { isErrorCode, MrlmError } from "@mrlm/spec";
import { codeOf, failureAdvice } from "./failure-advice.ts";
import type { EvaluationResult } from "./evaluate.ts";

/** Whether no episode had an agent of the measured role: one with many agents, none of which another agent called. Such a result has no numbers and no fault. */
export function isWithoutAgents({ greedy, sampled }: EvaluationResult): boolean {
  const played = [greedy, ...(sampled === undefined ? [] : [sampled])];
  return sum(played, "scored") + sum(played, "unscored") === 0 && sum(played, "failed") < sum(played, "episodes");
}

/** Throws the first episode's error if no episode of an environment could be scored: training could not learn from it either. */
export function assertScored(results: readonly EvaluationResult[]): void {
  for (const { environment, greedy, sampled } of results.filter((result) => !isWithoutAgents(result))) {
    const played = [greedy, ...(sampled === undefined ? [] : [sampled])];
    const [episodes, failed, scored] = [sum(played, "episodes"), sum(played, "failed"), sum(played, "scored")];
    if (episodes === 0 || scored > 0) continue;
    const first =
      played.map(({ firstError }) => firstError).find(Boolean) ??
      played.map(({ firstUnscored }) => firstUnscored).find(Boolean) ??
      "";
    const code = codeOf(first);
    throw new MrlmError(
      isErrorCode(code) ? code : "ENVIRONMENT_FAILED",
      `No episode of the evaluation at the start could be scored in ${environment}: ${failed} of ${episodes} failed, ${episodes - failed} had no score. The first: ${first}`,
      {
        hint: failureAdvice(code, "Correct the environment, or set `eval: { may_fail: true }` to train anyway."),
        isRetryable: false,
      },
    );
  }
}

function sum(
  summaries: readonly EvaluationResult["greedy"][],
  field: "episodes" | "failed" | "scored" | "unscored",
): number {
  return summaries.reduce((total, summary) => total + summary[field], 0);
}
