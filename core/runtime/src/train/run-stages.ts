import { finishedModel } from "../run/finished-model.ts";
import type { PreparedStage } from "../prepare/prepare-stage.ts";
import { releaseStageModels, type RunContext } from "./run-context.ts";
import type { RunSummary } from "./run-events.ts";
import { runStage } from "./stage-run.ts";

/** Runs the remaining stages, with the evaluations before, between and after them, and exports the trained model. */
export async function runStages(context: RunContext, resumedAt: number | undefined): Promise<RunSummary> {
  const { prepared, run, state, episodes, duties, drain, onEvent } = context;
  const { stages } = prepared;
  onEvent({
    kind: "start",
    directory: run.path,
    stages: stages.map(({ name, iterations }) => ({ name, iterations })),
    resumedAt,
  });
  for (;;) {
    if (state.isEvaluationDue) await duties.evaluate(context);
    if (drain.aborted) return summaryOf(context, "stopped");
    if (state.stage >= stages.length) break;
    await runStage(context, stages[state.stage] as PreparedStage);
  }
  // Records of the last evaluation may still be on their way.
  await episodes.flush();
  await duties.export(context);
  await releaseStageModels(context);
  return summaryOf(context, "finished");
}

function summaryOf({ prepared, run, state }: RunContext, status: RunSummary["status"]): RunSummary {
  const { step, evaluations, seconds, trainingSeconds } = state;
  return {
    status,
    directory: run.path,
    steps: step,
    evaluations,
    seconds,
    trainingSeconds,
    model: status === "finished" ? finishedModel(run, prepared.config) : undefined,
  };
}
