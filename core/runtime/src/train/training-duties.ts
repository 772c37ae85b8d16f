import { identitiesOf, saveState } from "../resume/checkpoint-state.ts";
import { addSeconds, exportPolicies, type RunContext, type RunDuties } from "./run-context.ts";
import { evaluatePolicy, hasReachedGoal } from "./run-evaluation.ts";

/** Duties of `mrlm train`. */
export const TRAINING_DUTIES: RunDuties = {
  plays: true,
  evaluate: evaluatePolicy,
  hasReachedGoal,
  checkpoint: writeCheckpoint,
  export: (context) => exportPolicies(context, context.run.path),
};

/** Writes a checkpoint of the engine's models and of the run's state, after the rows and episodes up to it are on the disk. */
async function writeCheckpoint(context: RunContext): Promise<void> {
  const { run, state, engine, prepared, episodes, onEvent } = context;
  const { checkpoint, output, store: retention } = prepared.config;
  const began = performance.now();
  await episodes.flush();
  run.metrics.flush();
  const { step, stage } = state;
  const path = await run.checkpoints.write(
    { step, stage },
    checkpoint.keep,
    saveState(state, prepared.config, identitiesOf(prepared)),
    {
      engine: (directory) => engine.save(directory),
      models: (directory) => exportPolicies(context, directory),
    },
  );
  // A run that goes back to its oldest checkpoint takes the batches after it again.
  const kept = run.checkpoints.oldestStep() ?? 0;
  await episodes.prune(kept + 1 - (output.trajectories ? retention.keep_tokens : 0));
  const seconds = (performance.now() - began) / 1000;
  addSeconds(context, "checkpoint", seconds);
  onEvent({ kind: "checkpoint", step, path, seconds });
}
