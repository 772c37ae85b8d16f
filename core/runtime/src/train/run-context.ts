import { createHash } from "node:crypto";
import { join } from "node:path";
import { traced } from "@mrlm/kit/service";
import type { Logger, ModelId, PolicyId } from "@mrlm/spec";
import type { EpisodeStore, Trainer } from "@mrlm/spec/host";
import { trainedPolicies } from "../config/policies.ts";
import type { GroupPlayer, PlayingWeights } from "../play/take-player.ts";
import type { MetricsRow } from "../run/metrics-file.ts";
import { modelFolder } from "../run/checkpoints.ts";
import type { RunDirectory } from "../run/run-directory.ts";
import type { EpisodeWatch } from "../judging/episode-watch.ts";
import type { FindingWatch } from "./finding-watch.ts";
import type { FailureWatch } from "./failure-watch.ts";
import type { PastCopies } from "../models/past-copies.ts";
import type { LoadedModel } from "../models/loaded-model.ts";
import type { MemoryWatch } from "../models/memory-watch.ts";
import type { RenderClock } from "../rollouts/render-clock.ts";
import type { ReplayWatch } from "../rollouts/replay-watch.ts";
import type { RewardWatch } from "../rollouts/reward-watch.ts";
import type { PreparedRun } from "../prepare/prepare-run.ts";
import type { PreparedStage } from "../prepare/prepare-stage.ts";
import type { RunEvent } from "./run-events.ts";
import type { CheckpointState } from "../resume/checkpoint-state.ts";
import type { PublishedWeights } from "../models/engine-views.ts";

/** Everything that stages, evaluations and checkpoints of one training run share. */
export interface RunContext {
  readonly prepared: PreparedRun;
  readonly run: RunDirectory;
  /** Progress of the run. Stages, evaluations and checkpoints update it; checkpoints save it. */
  readonly state: CheckpointState;
  /** The engine as a trainer: the rollouts alone sample. It records publications in `state` and memory shortages in `memory`. */
  readonly engine: Trainer;
  readonly duties: RunDuties;
  readonly policies: ReadonlyMap<PolicyId, LoadedModel>;
  /** Models restored from a checkpoint. */
  readonly restored: ReadonlySet<ModelId>;
  /** Frozen models that play. The engine holds them in every stage. */
  readonly frozen: ReadonlySet<ModelId>;
  /** Copies of earlier versions of policies. The engine holds them in every stage. */
  readonly past: PastCopies;
  readonly rollouts: GroupPlayer;
  /** Returns the number of samplers that serve now beside that of the engine. */
  samplers(): number;
  readonly memory: MemoryWatch;
  readonly replays: ReplayWatch;
  readonly rewards: RewardWatch;
  /** Scores episodes again where an environment has `watch`. */
  readonly watch: EpisodeWatch | undefined;
  readonly findings: FindingWatch;
  readonly rendering: RenderClock;
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

/** Work of a run beside learning. A replay learns by the same code and does none of it. */
export interface RunDuties {
  /** Whether episodes are played. If not, they are in the store. */
  readonly plays: boolean;
  /** Evaluates the policies. Publishes their weights, if anything is evaluated. */
  evaluate(context: RunContext): Promise<void>;
  /** Publishes the weights and measures whether the stage has reached its goal. */
  hasReachedGoal(context: RunContext, stage: PreparedStage, goal: NonNullable<PreparedStage["goal"]>): Promise<boolean>;
  /** Writes a checkpoint. Called also where the run stops. */
  checkpoint(context: RunContext): Promise<void>;
  /** Writes the models of a finished run. */
  export(context: RunContext): Promise<void>;
}

/** Adds wall time to a phase of the run. */
export function addSeconds({ state }: RunContext, phase: string, seconds: number): void {
  state.seconds[phase] = (state.seconds[phase] ?? 0) + seconds;
}

/**
 * Publishes the weights of the policies to the sampler if they have changed since the last publication. Takes of episodes, evaluations, scheduled
 * checkpoints and the next stage need the current weights.
 */
export async function publishPolicies(context: RunContext): Promise<PlayingWeights> {
  const { state, engine, policies, past, prepared } = context;
  const published: [PolicyId, PublishedWeights][] = [];
  for (const policy of policies.keys()) {
    const present = state.published[policy];
    if (present !== null && present !== undefined) {
      published.push([policy, present]);
      continue;
    }
    const attributes = () => ({ "mrlm.model": policy });
    const weights = await traced("engine publish", attributes, () =>
      engine.publish(policy, prepared.config.play.in_flight),
    );
    await announce(context, policy, weights);
    await past.follow(engine, policy, weights.version);
    published.push([policy, weights]);
  }
  return {
    versions: Object.fromEntries(published.map(([policy, { version }]) => [policy, version])),
    checksum: combinedChecksum(published),
  };
}

/** Returns the checksum of the weights of one policy, or one of the weights of several. */
function combinedChecksum(published: readonly (readonly [PolicyId, PublishedWeights])[]): string {
  const [first] = published;
  if (published.length === 1 && first !== undefined) return first[1].checksum;
  const lines = published.map(([policy, { checksum }]) => `${policy} ${checksum}\n`);
  return createHash("sha256").update(lines.join("")).digest("hex");
}

/** Records published weights in the episode store. */
export async function announce(
  { state, episodes }: Pick<RunContext, "state" | "episodes">,
  policy: PolicyId,
  { version, checksum }: PublishedWeights,
): Promise<void> {
  await episodes.announce({ policy, version, step: state.step, checksum });
}

/** Appends a row to metrics.jsonl, and its mirror in the episode store. */
export async function appendMetrics({ run, episodes }: RunContext, row: MetricsRow): Promise<void> {
  run.metrics.append(row);
  await episodes.mirror([row]);
}

/**
 * Writes the policies as Hugging Face directories, with adapters merged into the weights.
 * @param directory of a run or a checkpoint
 */
export async function exportPolicies({ engine, prepared }: RunContext, directory: string): Promise<void> {
  const policies = trainedPolicies(prepared.config);
  for (const { policy, model } of policies) {
    const folder = join(directory, modelFolder(policies.length === 1 ? undefined : policy));
    await engine.export(policy, folder, model.lora === undefined ? {} : { mergeAdapter: true });
  }
}

/** Releases the models that a stage created (a reference, a critic), dependents first. Reward models stay: scorers have loaded them. */
export async function releaseStageModels({ engine, policies, frozen, past }: RunContext): Promise<void> {
  const { models } = await engine.describe();
  for (const { model, role } of models.toReversed())
    if (role !== "reward" && !policies.has(model) && !frozen.has(model) && !past.has(model))
      await engine.releaseModel(model);
}
