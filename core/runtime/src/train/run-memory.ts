import type { CreateModelOptions, Engine, MemoryEstimate } from "@mrlm/spec";
import { policyOptions } from "./model-source.ts";
import type { PreparedRun, PreparedStage } from "./prepare-run.ts";
import { referenceId, referenceKind } from "./stage-context.ts";

/** The estimate of the stage that takes most. */
export interface RunMemory extends MemoryEstimate {
  readonly stage: string;
  /** Longest sequence that was counted with, and whether the configuration says so (`sampling.max_sequence_tokens`). */
  readonly isLengthStated: boolean;
  /** Whether a lower token budget than the wanted one is needed. */
  readonly isLowered: boolean;
}

/** A sequence is taken to be no longer than this many of the largest answers where the configuration does not limit it, and at least this long. */
const ASSUMED_ANSWERS = 4;
const ASSUMED_TOKENS = 1024;

/** Asks the engine what each stage of a run would take: the one that leaves the smallest token budget, and among those the largest. */
export async function estimateRun(engine: Engine, prepared: PreparedRun): Promise<RunMemory> {
  const { sampling, stages } = prepared.config;
  const stated = sampling.max_sequence_tokens;
  const answer = Math.max(sampling.max_tokens, ...stages.map((stage) => stage.sampling.max_tokens));
  const estimates: RunMemory[] = [];
  for (const [index, stage] of prepared.stages.entries()) {
    const estimate = await engine.estimateMemory({
      models: stageModels(prepared, stage, index),
      sampledModel: "policy",
      concurrency: sampling.concurrency,
      sequenceTokens: stated ?? Math.max(ASSUMED_TOKENS, ASSUMED_ANSWERS * answer),
      unitSequences: stage.definition.memory?.(stage.options).unitSequences ?? 1,
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
 * A power of two, but at least one sequence: free memory differs a little from one moment to the next, and each other budget gives other last bits.
 */
function roundedBudget({ microBatchTokens, leastTokens }: MemoryEstimate): number {
  return microBatchTokens === 0 ? 0 : Math.max(leastTokens, 2 ** Math.floor(Math.log2(microBatchTokens)));
}

/** The token budget that a stage leaves to the run. */
function allowance({ microBatchTokens, isLowered }: RunMemory): number {
  return isLowered ? microBatchTokens : Number.MAX_SAFE_INTEGER;
}

/** What exists at the same time in a stage; what it makes beside the policy ends with it. */
function stageModels(
  { config, stages }: PreparedRun,
  { definition, options }: PreparedStage,
  index: number,
): CreateModelOptions[] {
  const policy = policyOptions(config);
  const valueHead = stages.some((stage) => stage.definition.needsValueHead?.(stage.options));
  const { reference = false, critic } = definition.memory?.(options) ?? {};
  const models: CreateModelOptions[] = [{ ...policy, ...(valueHead ? { valueHead } : {}) }];
  if (critic !== undefined) {
    const source =
      critic === "copy"
        ? ({ kind: "copy", of: policy.model } as const)
        : ({ kind: "directory", path: critic.path } as const);
    models.push({ model: "critic", role: "critic", source, trainable: true, valueHead: true });
  }
  if (reference) {
    models.push({
      model: referenceId(index),
      role: "reference",
      source: { kind: referenceKind(config, index), of: policy.model },
      trainable: false,
    });
  }
  return models;
}
