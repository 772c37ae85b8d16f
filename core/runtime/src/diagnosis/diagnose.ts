import type { Finding, StageRule } from "./finding.ts";
import { failedEpisodes, truncation, unscoredEpisodes, versionLag } from "./rules/episodes.ts";
import { evaluationDrop } from "./rules/evaluation.ts";
import { explainedVariance, gradientSpikes, learningStopped, skippedSteps } from "./rules/optimiser.ts";
import { clipFraction, entropyCollapse, klBlowUp, samplerMismatch } from "./rules/policy.ts";
import { componentDivergence } from "./rules/reward-hacking.ts";
import { fallingReward, flatReward, groupsWithoutSignal } from "./rules/signal.ts";
import { environmentBound, wireBound } from "./rules/time.ts";
import type { RunRecord } from "./run-record.ts";

/** In the order in which their findings are worth looking at. */
export const STAGE_RULES: readonly StageRule[] = [
  failedEpisodes, unscoredEpisodes, groupsWithoutSignal, learningStopped, truncation, samplerMismatch, skippedSteps, gradientSpikes,
  clipFraction, klBlowUp, entropyCollapse, explainedVariance, fallingReward, flatReward, componentDivergence, versionLag, environmentBound, wireBound,
];

/** Everything that looks wrong with a run, problems first. */
export function diagnose(run: RunRecord): Finding[] {
  const found = run.stages.flatMap((stage) =>
    STAGE_RULES.flatMap((rule): Finding[] => {
      const finding = rule(stage, run);
      return finding === undefined ? [] : [{ ...finding, stage: stage.name }];
    }),
  );
  const all = [...found, ...evaluationDrop(run)];
  return [...all.filter(({ severity }) => severity === "problem"), ...all.filter(({ severity }) => severity === "hint")];
}
