import { exportPolicies, type RunDuties } from "./run-context.ts";
import { evaluatePolicy, hasReachedGoal } from "./run-evaluation.ts";
import { writeCheckpoint } from "./write-checkpoint.ts";

/** Duties of `mrlm train`. */
export const TRAINING_DUTIES: RunDuties = {
  plays: true,
  evaluate: evaluatePolicy,
  hasReachedGoal,
  checkpoint: writeCheckpoint,
  export: (context) => exportPolicies(context, context.run.path),
};
