import { type JsonObject, type ModelId, MrlmError, type PolicyId } from "@mrlm/spec";
import { z } from "zod";
import type { ResolvedConfig } from "../config/resolve-config.ts";
import { describeChange, diffConfigs } from "./config-diff.ts";
import type { PreparedRun } from "../prepare/prepare-run.ts";
import { type Extension, extensionOf, learningSettings } from "./resume-compatibility.ts";
import { curriculumState } from "../play/curriculum/curriculum.ts";
import type { StagePlayState } from "../play/stage-play.ts";
import type { EvaluationPoint } from "../evaluation/evaluate.ts";
import type { PublishedWeights } from "../models/engine-views.ts";

/** Environments and algorithms that the names of a configuration resolved to, with their versions. */
export interface Identities {
  readonly environments: readonly string[];
  readonly algorithms: readonly string[];
  /** SHA-256 of the files from which each environment makes its tasks, by file name. */
  readonly dataFiles: readonly Readonly<Record<string, string>>[];
}

/** Returns the identities of the installed plugins and data files of a run. */
export function identitiesOf({ environments, stages }: PreparedRun): Identities {
  return {
    environments: environments.map(({ ref }) => ref.id),
    algorithms: stages.map(({ learners }) => learners.map(({ definition }) => definition.id).join("+")),
    dataFiles: environments.map(({ dataFiles = {} }) => dataFiles),
  };
}

/** Progress of a run. With the engine's models it is everything that a checkpoint needs for a bit-identical continuation. */
export interface CheckpointState {
  /** Index of the current or next stage. */
  stage: number;
  /** Completed iterations of that stage. */
  iteration: number;
  /** Completed iterations of the run. */
  step: number;
  /** An evaluation is due before the next iteration. */
  isEvaluationDue: boolean;
  /** Weights of each policy that the sampler has; `null` while the policy has newer ones. */
  published: Record<PolicyId, PublishedWeights | null>;
  /** Token budget of models that are later created from directories, if memory requires a lower one than their default; else `null`. */
  microBatchTokens: number | null;
  /** Directories of the frozen models that play, by their ids in the engine. */
  frozen: Readonly<Record<ModelId, string>>;
  /** Versions of the copies of each policy that the engine holds, ascending. */
  past: Record<PolicyId, readonly number[]>;
  /** State of the running algorithms by policy; `null` between stages. */
  algorithms: Readonly<Record<PolicyId, JsonObject>> | null;
  /** Positions of the random streams of the stage's learners, by policy. */
  random: Readonly<Record<PolicyId, JsonObject>>;
  /** Progress of the stage's play, by `STAGE/POLICIES`. */
  learners: Readonly<Record<string, StagePlayState>>;
  /** SHA-256 of each data file that the stage has read, by path. */
  data: Record<string, string>;
  /** State of the last stage at its end, so that it can be extended. */
  ended: {
    readonly iteration: number;
    readonly algorithms: Readonly<Record<PolicyId, JsonObject>>;
    readonly random: Readonly<Record<PolicyId, JsonObject>>;
    readonly learners: Readonly<Record<string, StagePlayState>>;
    readonly data: Readonly<Record<string, string>>;
  } | null;
  seconds: Record<string, number>;
  trainingSeconds: number;
  evaluations: EvaluationPoint[];
}

/** Version of the state's format. Raise it with each change of `CheckpointState`. */
const FORMAT_VERSION = 8;

const jsonObject = z.record(z.string(), z.json());
const byPolicy = z.record(z.string(), jsonObject);
const counts = z.array(z.int().nonnegative());
const learners = z.record(
  z.string(),
  z.object({
    takes: z.int().nonnegative(),
    tasks: z.object({ drawn: counts, positions: counts, curriculum: curriculumState.optional() }).nullable(),
    ahead: z
      .array(z.object({ versions: z.record(z.string(), z.int().nonnegative()), checksum: z.string() }))
      .optional(),
    opened: z.int().nonnegative().optional(),
    waiting: z
      .array(
        z.object({
          number: z.int().positive(),
          environment: z.int().nonnegative(),
          task: z.string(),
          step: z.int().positive(),
        }),
      )
      .optional(),
  }),
);

const savedState = z.object({
  formatVersion: z.literal(FORMAT_VERSION),
  learning: jsonObject,
  identities: z.object({
    environments: z.array(z.string()),
    algorithms: z.array(z.string()),
    dataFiles: z.array(z.record(z.string(), z.string())),
  }),
  stage: z.int().nonnegative(),
  iteration: z.int().nonnegative(),
  step: z.int().nonnegative(),
  isEvaluationDue: z.boolean(),
  published: z.record(z.string(), z.object({ version: z.int().nonnegative(), checksum: z.string() }).nullable()),
  microBatchTokens: z.int().positive().nullable(),
  frozen: z.record(z.string(), z.string()),
  past: z.record(z.string(), counts),
  algorithms: byPolicy.nullable(),
  random: byPolicy,
  learners,
  data: z.record(z.string(), z.string()),
  ended: z
    .object({
      iteration: z.int().nonnegative(),
      algorithms: byPolicy,
      random: byPolicy,
      learners,
      data: z.record(z.string(), z.string()),
    })
    .nullable(),
  seconds: z.record(z.string(), z.number()),
  trainingSeconds: z.number(),
  evaluations: z.array(z.custom<EvaluationPoint>((value) => typeof value === "object" && value !== null)),
});

export function initialState(): CheckpointState {
  return {
    stage: 0,
    iteration: 0,
    step: 0,
    isEvaluationDue: true,
    published: {},
    microBatchTokens: null,
    frozen: {},
    past: {},
    algorithms: null,
    random: {},
    learners: {},
    data: {},
    ended: null,
    seconds: {},
    trainingSeconds: 0,
    evaluations: [],
  };
}

export function saveState(state: CheckpointState, config: ResolvedConfig, identities: Identities): JsonObject {
  return JSON.parse(
    JSON.stringify({ formatVersion: FORMAT_VERSION, learning: learningSettings(config), identities, ...state }),
  ) as JsonObject;
}

/**
 * Restores a state from `saveState`. Throws CHECKPOINT_MISMATCH, with each field, if the configuration or the installed plugins would change what is learnt.
 * Reopens a finished run if its last stage is now longer.
 * @param identities omitted if they are not known yet
 */
export function loadState(
  path: string,
  saved: JsonObject,
  config: ResolvedConfig,
  identities?: Identities,
): { readonly state: CheckpointState; readonly extension: Extension } {
  if (saved["formatVersion"] !== FORMAT_VERSION)
    throw new MrlmError(
      "CHECKPOINT_MISMATCH",
      `Checkpoint ${path} is of format ${String(saved["formatVersion"])}, and this mrlm reads ${FORMAT_VERSION}.`,
      {
        hint: "Resume with the version of mrlm that wrote it, which run.json names.",
      },
    );
  const parsed = savedState.safeParse(saved);
  if (!parsed.success)
    throw new MrlmError(
      "CHECKPOINT_INCOMPLETE",
      `The state of checkpoint ${path} is not of a form that this mrlm reads: ${z.prettifyError(parsed.error)}`,
    );
  const { formatVersion: _, learning, identities: before, ...state } = parsed.data;
  const { ended } = state;
  const firstOpen =
    ended === null
      ? { stage: state.stage, iteration: state.iteration }
      : { stage: state.stage - 1, iteration: ended.iteration };
  const extension = extensionOf(path, learning, learningSettings(config), firstOpen);
  if (identities !== undefined) assertSameData(path, before, identities);
  const others =
    identities === undefined
      ? []
      : diffConfigs(before as unknown as JsonObject, commonPart(identities, before) as unknown as JsonObject);
  if (others.length > 0)
    throw new MrlmError(
      "CHECKPOINT_MISMATCH",
      `Checkpoint ${path} was written with other plugins. ${others.map(describeChange).join("; ")}.`,
      {
        hint: "A name without a version means the newest that is installed. Install those that the run was begun with, or name them with their versions in config.yaml of the run.",
      },
    );
  const isReopened = ended !== null && extension.changed.some(({ stage }) => stage === firstOpen.stage);
  return { state: isReopened ? { ...state, ...ended, stage: firstOpen.stage, ended: null } : state, extension };
}

/** Returns the part of the identities that both sides have: added stages cannot be compared. */
function commonPart(now: Identities, before: Identities): Identities {
  return {
    environments: now.environments,
    algorithms: now.algorithms.slice(0, before.algorithms.length),
    dataFiles: before.dataFiles,
  };
}

/** Throws CHECKPOINT_MISMATCH if a data file of an environment has changed: the resumed run would have other tasks. */
function assertSameData(path: string, before: Identities, now: Identities): void {
  const changed = before.environments.flatMap((id, i) =>
    diffConfigs(before.dataFiles[i], now.dataFiles[i]).map((change) => `${id}: ${describeChange(change)}`),
  );
  if (changed.length === 0) return;
  throw new MrlmError(
    "CHECKPOINT_MISMATCH",
    `Data files of environments have changed since checkpoint ${path} was written (SHA-256 before and now). ${changed.join("; ")}.`,
    {
      hint: "Put the files back as they were, or start a new run.",
    },
  );
}
