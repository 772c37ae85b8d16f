import { createHash } from "node:crypto";
import { type JsonObject, type JsonValue, MrlmError } from "@mrlm/spec";
import { z } from "zod";
import type { ResolvedConfig } from "../config/resolved-config.ts";
import { canonicalJson } from "../names/canonical-json.ts";
import type { EvaluationPoint } from "./run-events.ts";

/** Where a run stands, beside the engine's models: all that a checkpoint needs for a bit-identical continuation. */
export interface RunState {
  /** Index of the stage that is under way or comes next. */
  stage: number;
  /** Iterations of that stage that are done. */
  iteration: number;
  /** Iterations of the whole run that are done. */
  step: number;
  /** An evaluation belongs here that has not been made yet. */
  isEvaluationDue: boolean;
  /** The sampler has the policy's present weights. */
  isPublished: boolean;
  /** What the algorithm under way said of itself; `null` between stages. */
  algorithm: JsonObject | null;
  /** Positions of the stage's random streams. */
  random: JsonObject;
  seconds: Record<string, number>;
  trainingSeconds: number;
  evaluations: EvaluationPoint[];
}

const jsonObject = z.record(z.string(), z.json());

const savedState = z.object({
  formatVersion: z.literal(1),
  learning: z.string(),
  stage: z.int().nonnegative(),
  iteration: z.int().nonnegative(),
  step: z.int().nonnegative(),
  isEvaluationDue: z.boolean(),
  isPublished: z.boolean(),
  algorithm: jsonObject.nullable(),
  random: jsonObject,
  seconds: z.record(z.string(), z.number()),
  trainingSeconds: z.number(),
  evaluations: z.array(z.custom<EvaluationPoint>((value) => typeof value === "object" && value !== null)),
});

export function initialState(): RunState {
  return {
    stage: 0,
    iteration: 0,
    step: 0,
    isEvaluationDue: true,
    isPublished: true,
    algorithm: null,
    random: {},
    seconds: {},
    trainingSeconds: 0,
    evaluations: [],
  };
}

export function saveState(state: RunState, config: ResolvedConfig): JsonObject {
  return JSON.parse(JSON.stringify({ formatVersion: 1, learning: learningDigest(config), ...state })) as JsonObject;
}

/** Reads what `saveState` wrote. Throws CHECKPOINT_MISMATCH when the configuration would have learnt something else. */
export function loadState(path: string, saved: JsonObject, config: ResolvedConfig): RunState {
  const parsed = savedState.safeParse(saved);
  if (!parsed.success)
    throw new MrlmError(
      "CHECKPOINT_INCOMPLETE",
      `The state of checkpoint ${path} is not of a form that this mrlm reads: ${z.prettifyError(parsed.error)}`,
    );
  const { formatVersion: _, learning, ...state } = parsed.data;
  if (learning !== learningDigest(config)) {
    throw new MrlmError(
      "CHECKPOINT_MISMATCH",
      `Checkpoint ${path} was written under another seed, model, environments, stages or sampling than this configuration has.`,
    );
  }
  return state;
}

/** Of everything in a configuration that decides what is learnt. */
function learningDigest(config: ResolvedConfig): string {
  const { seed, model, environments, stages, sampling } = config;
  const { concurrency: _, ...drawn } = sampling;
  const decisive = JSON.parse(JSON.stringify({ seed, model, environments, stages, sampling: drawn })) as JsonValue;
  return createHash("sha256").update(canonicalJson(decisive)).digest("hex");
}
