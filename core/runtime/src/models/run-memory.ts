import { defined, type ModelId, type PolicyId } from "@mrlm/spec";
import type { CreateModelOptions, MemoryEstimate, MemoryWorkload, Trainer } from "@mrlm/spec/host";
import { trainedPolicies } from "../config/policies.ts";
import type { ResolvedConfig } from "../config/resolve-config.ts";
import { pastOptions, pastPools } from "../players/past-pools.ts";
import { environmentsOf, frozenModels, frozenOptions } from "../players/frozen-models.ts";
import { policyOptions } from "../prepare/model-source.ts";
import type { PreparedRun } from "../prepare/prepare-run.ts";
import type { PreparedLearner, PreparedStage } from "../prepare/prepare-stage.ts";
import { ownSuffix, referenceOptions } from "./reference-model.ts";

/** Memory estimate of the stage that needs most. */
export interface RunMemory extends MemoryEstimate {
  readonly stage: string;
  /** Whether the configuration states the length of the longest sequence (`sampling.max_sequence_tokens`); else it is assumed. */
  readonly isLengthStated: boolean;
  /** Whether the token budget must be lower than the configured one. */
  readonly isLowered: boolean;
}

/** Assumed length of the longest sequence if the configuration does not limit it: this multiple of the largest answer, and at least this many tokens. */
const ASSUMED_ANSWERS = 4;
const ASSUMED_TOKENS = 1024;

/**
 * Estimates the memory of each stage. Returns the stage with the smallest token budget and, among equals, the largest memory.
 * @param assumedDevices default: the devices of the engine
 */
export async function estimateRun(
  engine: Trainer,
  prepared: PreparedRun,
  assumedDevices?: MemoryWorkload["assumedDevices"],
): Promise<RunMemory> {
  const { sampling, stages } = prepared.config;
  const stated = sampling.max_sequence_tokens;
  const answer = Math.max(
    sampling.max_tokens,
    ...stages.map((stage) => stage.sampling.max_tokens),
    ...prepared.stages.flatMap(({ learners }) => learners.map((learner) => learner.sampling.maxTokens)),
  );
  const estimates: RunMemory[] = [];
  for (const [index, stage] of prepared.stages.entries()) {
    const estimate = await engine.estimateMemory({
      models: stageModels(prepared, stage, index),
      sampledModels: sampledModels(prepared),
      concurrency: sequencesAtOnce(prepared, stage),
      sequenceTokens: stated ?? Math.max(ASSUMED_TOKENS, ASSUMED_ANSWERS * answer),
      unitSequences: Math.max(
        ...stage.learners.map(({ definition, options }) => definition.memory?.(options).unitSequences ?? 1),
      ),
      ...defined({ assumedDevices }),
    });
    const isLowered = estimate.microBatchTokens < estimate.wantedTokens;
    const microBatchTokens = isLowered ? roundedBudget(estimate) : estimate.microBatchTokens;
    estimates.push({
      ...estimate,
      microBatchTokens,
      stage: stage.name,
      isLengthStated: stated !== undefined,
      isLowered,
    });
  }
  return estimates.toSorted((a, b) => allowance(a) - allowance(b) || b.wantedBytes - a.wantedBytes)[0] as RunMemory;
}

/**
 * Rounds a token budget down to a power of two, but to at least one sequence. Free memory varies, and each different budget changes the last bits.
 */
function roundedBudget({ microBatchTokens, leastTokens }: MemoryEstimate): number {
  return microBatchTokens === 0 ? 0 : Math.max(leastTokens, 2 ** Math.floor(Math.log2(microBatchTokens)));
}

/** Returns the largest token budget that a stage permits. */
function allowance({ microBatchTokens, isLowered }: RunMemory): number {
  return isLowered ? microBatchTokens : Number.MAX_SAFE_INTEGER;
}

/** Returns the largest number of sequences that are sampled at the same time in a stage and its evaluations. An episode samples one turn at a time. */
function sequencesAtOnce({ config, evaluation }: PreparedRun, { learners, goal }: PreparedStage): number {
  const { sampling, play, eval: evaluations } = config;
  // Asynchronous play begins a group as soon as there is room for it.
  const batches = learners.flatMap(({ plan }) =>
    plan === undefined ? [] : play.mode === "async" ? Infinity : plan.groups * plan.groupSize,
  );
  const measured = evaluation.map(({ tasks }) => tasks.length * Math.max(1, evaluations.samples));
  const goals = (goal?.environments ?? []).map(({ tasks }) => tasks.length);
  return Math.min(sampling.concurrency, Math.max(1, ...batches, ...measured, ...goals));
}

/** Returns the models that exist at the same time in a stage. Policies and the frozen models that play or score stay; the others are released at its end. */
export function stageModels(
  { config, stages, rewardModels = [] }: PreparedRun,
  { learners }: PreparedStage,
  index: number,
): CreateModelOptions[] {
  const policies = trainedPolicies(config).map(({ policy }) => ({
    ...policyOptions(config, policy),
    ...(needsValueHead(stages, policy) ? { valueHead: true } : {}),
  }));
  const frozen = frozenModels(environmentsOf(config)).map((each) => frozenOptions(each, config));
  return [
    ...policies,
    ...frozen,
    ...pastCopies(config),
    ...rewardModels,
    ...learners.flatMap((learner) => learnerModels(config, learner, index)),
  ];
}

/** Returns the models that play, which have a sampler each. */
function sampledModels({ config }: PreparedRun): ModelId[] {
  const policies = trainedPolicies(config).map(({ policy }) => policy);
  const frozen = frozenModels(environmentsOf(config)).map((each) => frozenOptions(each, config));
  return [...policies, ...[...frozen, ...pastCopies(config)].map(({ model }) => model)];
}

/** Returns as many copies of earlier versions as the run keeps at most. */
function pastCopies(config: ResolvedConfig): CreateModelOptions[] {
  return pastPools(config).flatMap(({ policy, keep }) =>
    Array.from({ length: keep }, (_, version) => pastOptions(policy, version)),
  );
}

/** Returns the models that a learner creates. */
function learnerModels(
  config: ResolvedConfig,
  { policy, definition, options }: PreparedLearner,
  index: number,
): CreateModelOptions[] {
  const { reference = false, critic } = definition.memory?.(options) ?? {};
  const models: CreateModelOptions[] = [];
  if (critic !== undefined) {
    const source =
      critic === "copy" ? ({ kind: "copy", of: policy } as const) : ({ kind: "directory", path: critic.path } as const);
    const model = `critic${ownSuffix(config, policy)}`;
    models.push({ model, role: "critic", source, trainable: true, valueHead: true });
  }
  if (reference) models.push(referenceOptions(config, index, policy));
  return models;
}

/** Whether an algorithm of some stage needs a value head of a policy. */
export function needsValueHead(stages: readonly PreparedStage[], policy: PolicyId): boolean {
  return stages
    .flatMap(({ learners }) => learners)
    .some((each) => each.policy === policy && each.definition.needsValueHead?.(each.options) === true);
}
