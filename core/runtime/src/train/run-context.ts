import type { Engine, EpisodeStore, Logger, ModelId } from "@mrlm/spec";
import { trainedPolicy } from "../config/policies.ts";
import type { GroupPlayer } from "../play/learner.ts";
import type { MetricsRow } from "../run/metrics-file.ts";
import type { RunDirectory } from "../run/run-directory.ts";
import type { FailureWatch } from "./failure-watch.ts";
import type { LoadedPolicy } from "../models/loaded-policy.ts";
import type { MemoryWatch } from "../models/memory-watch.ts";
import type { PreparedRun } from "../prepare/prepare-run.ts";
import type { RunEvent } from "./run-events.ts";
import type { RunState } from "../resume/run-state.ts";
import type { PublishedWeights } from "../models/watched-engine.ts";

/** Everything that stages, evaluations and checkpoints of one training run share. */
export interface RunContext {
  readonly prepared: PreparedRun;
  readonly run: RunDirectory;
  /** Progress of the run. Stages, evaluations and checkpoints update it; checkpoints save it. */
  readonly state: RunState;
  /** The only handle on the engine. It records publications in `state` and memory shortages in `memory`. */
  readonly engine: Engine;
  readonly policy: LoadedPolicy;
  /** Frozen models that play. The engine holds them in every stage. */
  readonly frozen: ReadonlySet<ModelId>;
  readonly rollouts: GroupPlayer;
  readonly memory: MemoryWatch;
  readonly failures: FailureWatch;
  /** Buffer and record of all episodes of the run. */
  readonly episodes: EpisodeStore;
  readonly logger: Logger;
  readonly onEvent: (event: RunEvent) => void;
  /** Aborted: finish the iteration, write a checkpoint, stop. */
  readonly drain: AbortSignal;
  /** Aborted: stop at once. */
  readonly stop: AbortSignal;
}

/** Adds wall time to a phase of the run. */
export function addSeconds({ state }: RunContext, phase: string, seconds: number): void {
  state.seconds[phase] = (state.seconds[phase] ?? 0) + seconds;
}

/**
 * Publishes the policy's weights to the sampler if they have changed since the last publication. Takes of episodes, evaluations, scheduled
 * checkpoints and the next stage need the current weights.
 */
export async function publishPolicy(context: RunContext): Promise<PublishedWeights> {
  const { state, engine, policy } = context;
  if (state.published !== null) return state.published;
  const published = await engine.publish(policy.info.model);
  await announce(context, published);
  return published;
}

/** Records published weights in the episode store. */
export async function announce(
  { state, policy, episodes }: Pick<RunContext, "state" | "policy" | "episodes">,
  { version, checksum }: PublishedWeights,
): Promise<void> {
  await episodes.announce({ policy: policy.info.model, version, step: state.step, checksum });
}

/** Appends a row to metrics.jsonl, and its mirror in the episode store. */
export async function appendMetrics({ run, episodes }: RunContext, row: MetricsRow): Promise<void> {
  run.metrics.append(row);
  await episodes.mirror([row]);
}

/** Writes the policy as a Hugging Face directory, with an adapter merged into the weights. */
export async function exportPolicy({ engine, policy, prepared }: RunContext, directory: string): Promise<void> {
  const { lora } = trainedPolicy(prepared.config).model;
  await engine.export(policy.info.model, directory, lora === undefined ? {} : { mergeAdapter: true });
}

/** Releases the models that a stage created (a reference, a critic), dependents first. */
export async function releaseStageModels({ engine, policy, frozen }: RunContext): Promise<void> {
  const { models } = await engine.describe();
  for (const { model } of models.toReversed())
    if (model !== policy.info.model && !frozen.has(model)) await engine.releaseModel(model);
}
