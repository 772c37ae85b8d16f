import { MrlmError, type TrajectoryGroup } from "@mrlm/spec";
import { assertScored } from "../evaluation/assert-scored.ts";
import { evaluate, evaluationRow } from "../evaluation/evaluate.ts";
import type { PreparedStage } from "../prepare/prepare-stage.ts";
import { addSeconds, appendMetrics, publishPolicies, type RunContext } from "./run-context.ts";
import { runSampling } from "../prepare/rollout-sampling.ts";
import { goalAccuracy } from "../prepare/stage-goal.ts";
import type { PlayingWeights } from "../play/take-player.ts";

/** Evaluates the policy on held-out tasks. The evaluation remains due if the run is asked to stop before its end. */
export async function evaluatePolicy(context: RunContext): Promise<void> {
  const { prepared, state, rollouts, drain, stop, onEvent } = context;
  const { config, evaluation } = prepared;
  if (evaluation.length === 0 || drain.aborted) return;
  const began = performance.now();
  const weights = await publishPolicies(context);
  const label = evaluationLabel(context);
  const played: PlayedEvaluation = new Map();
  try {
    const results = await evaluate({
      rollouts,
      environments: evaluation,
      ...runSampling(config),
      samples: config.eval.samples,
      signal: AbortSignal.any([drain, stop]),
      onEpisodes: (kind, group) => addGroup(played, kind, group),
      onProgress: (done, total) => onEvent({ kind: "progress", done, total }),
    });
    if (config.output.trajectories) await recordEpisodes(context, played, weights);
    const seconds = (performance.now() - began) / 1000;
    state.evaluations.push({ step: state.step, label, results });
    state.isEvaluationDue = false;
    addSeconds(context, "evaluation", seconds);
    for (const result of results)
      await appendMetrics(context, {
        kind: "evaluation",
        step: state.step,
        stage: label,
        ...evaluationRow(result),
        seconds: { evaluation: seconds },
      });
    onEvent({ kind: "evaluation", step: state.step, label, results, seconds });
    if (label === "start" && !config.eval.may_fail) assertScored(results);
  } catch (error) {
    if (stop.aborted || !(drain.aborted && MrlmError.hasCode(error, "CANCELLED"))) throw error;
  }
}

/** Returns `start`, or the name of the stage that has just ended or is in progress. */
function evaluationLabel({ prepared: { stages }, state }: RunContext): string {
  if (state.step === 0) return "start";
  const stage = state.iteration === 0 ? stages[state.stage - 1] : stages[state.stage];
  return stage?.name ?? "start";
}

/** Groups of an evaluation by environment, then by label. */
type PlayedEvaluation = Map<string, Map<string, TrajectoryGroup[]>>;

function addGroup(played: PlayedEvaluation, label: string, group: TrajectoryGroup): void {
  const environment = group.trajectories[0]?.environment ?? "";
  const labels = played.get(environment) ?? new Map<string, TrajectoryGroup[]>();
  const groups = labels.get(label) ?? [];
  groups.push(group);
  played.set(environment, labels.set(label, groups));
}

/** Records the groups of an evaluation in the episode store. */
async function recordEpisodes(
  { episodes, state }: RunContext,
  played: PlayedEvaluation,
  weights: PlayingWeights,
): Promise<void> {
  for (const [place, [environment, labels]] of [...played].entries())
    for (const [stage, groups] of labels)
      await episodes.record({ purpose: "eval", stage, runStep: state.step, place, environment, ...weights, groups });
}

/** Measures the greedy accuracy on training tasks and compares it with the goal of the stage. */
export async function hasReachedGoal(
  context: RunContext,
  { name, iterations }: PreparedStage,
  goal: NonNullable<PreparedStage["goal"]>,
): Promise<boolean> {
  const { prepared, state, rollouts, stop, onEvent } = context;
  const { iteration, step } = state;
  const isLast = iteration >= iterations;
  const began = performance.now();
  await publishPolicies(context);
  const results = await evaluate({
    rollouts,
    environments: goal.environments,
    ...runSampling(prepared.config),
    samples: 0,
    signal: stop,
    onProgress: (done, total) => onEvent({ kind: "progress", done, total }),
  });
  const accuracy = goalAccuracy(results) ?? null;
  const seconds = (performance.now() - began) / 1000;
  addSeconds(context, "evaluation", seconds);
  await appendMetrics(context, {
    kind: "goal",
    step,
    stage: name,
    accuracy,
    wanted: goal.accuracy,
    seconds: { evaluation: seconds },
  });
  const isReached = accuracy !== null && accuracy >= goal.accuracy;
  const found = `greedy accuracy ${accuracy?.toFixed(3) ?? "unknown"} on training tasks after ${iteration} iterations`;
  if (isReached && !isLast) onEvent({ kind: "notice", text: `${name} ends: ${found} (until ${goal.accuracy}).` });
  if (!isReached && isLast)
    onEvent({ kind: "notice", text: `${name} ends without reaching its goal: ${found} (until ${goal.accuracy}).` });
  return isReached;
}
