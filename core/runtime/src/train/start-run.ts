import { type ModelId, MrlmError } from "@mrlm/spec";
import type {
  Engine,
  EnvironmentDescription,
  EnvironmentHost,
  EnvironmentRef,
  EpisodeStore,
  LoadOptions,
  SamplerHost,
} from "@mrlm/spec/host";
import { trainedPolicies } from "../config/policies.ts";
import type { ResolvedConfig, ResolvedModel } from "../config/resolve-config.ts";
import type { PlayTally } from "../rollouts/play-tally.ts";
import { RolloutRunner } from "../rollouts/rollout-runner.ts";
import type { Checkpoint } from "../run/checkpoints.ts";
import type { MetricsRow } from "../run/metrics-file.ts";
import { environmentsOf, frozenModels } from "../players/frozen-models.ts";
import { StageRecords } from "../diagnosis/run-record.ts";
import { FailureWatch } from "./failure-watch.ts";
import { FindingWatch } from "./finding-watch.ts";
import { loadFrozen } from "../models/load-frozen.ts";
import { type LoadedModel, playingModel } from "../models/loaded-model.ts";
import { loadPolicies } from "../models/loaded-policies.ts";
import { PastCopies } from "../models/past-copies.ts";
import { pastPools } from "../players/past-pools.ts";
import { policyOfPast } from "../rollouts/past-versions.ts";
import { RenderClock } from "../rollouts/render-clock.ts";
import { ReplayWatch } from "../rollouts/replay-watch.ts";
import { RewardWatch } from "../rollouts/reward-watch.ts";
import { MemoryWatch } from "../models/memory-watch.ts";
import { describeExtension, type Extension } from "../resume/resume-compatibility.ts";
import { announce, type RunContext } from "./run-context.ts";
import { identitiesOf, initialState, loadState, type CheckpointState } from "../resume/checkpoint-state.ts";
import { watchEngine } from "../models/engine-views.ts";

export interface StartParts extends Pick<
  RunContext,
  "prepared" | "run" | "samplers" | "watch" | "duties" | "logger" | "onEvent" | "drain" | "stop"
> {
  readonly host: EnvironmentHost;
  readonly engine: Engine;
  readonly isDeterministic: boolean;
  readonly tally: PlayTally | undefined;
  /** Called with each environment that is played. */
  onDescription(description: EnvironmentDescription): void;
  /** Checkpoint to resume from; `undefined` starts at the beginning. */
  readonly checkpoint: Checkpoint | undefined;
  /** Opens the episode store; `resumedAt` is the last step of the run that is not repeated, -1 for none. */
  openEpisodes(resumedAt: number): Promise<EpisodeStore>;
}

/**
 * Loads the policies and the state of a new or resumed run. Removes later checkpoints, metrics and episodes of a resumed run, after all checks have
 * passed: a checkpoint that cannot be resumed loses no later step.
 */
export async function startRun(parts: StartParts): Promise<RunContext> {
  const { checkpoint, engine, prepared, run, duties, logger, onEvent, drain, stop } = parts;
  const { state, extension } =
    checkpoint === undefined
      ? { state: initialState(), extension: undefined }
      : loadState(checkpoint.path, checkpoint.state, prepared.config, identitiesOf(prepared));
  const changed = changedMemoryOptions(extension, prepared.config);
  const loaded = await loadPolicies(engine, prepared, run, checkpoint, { changed, onEvent });
  const { models: policies } = loaded;
  const playing = frozenModels(environmentsOf(prepared.config));
  const frozen = await loadFrozen(
    engine,
    playing,
    { config: prepared.config, policies },
    { run, restored: state.frozen },
  );
  state.frozen = Object.fromEntries(playing.map(({ model, path }) => [model, path]));
  const budget = changed.microBatchTokens ?? loaded.microBatchTokens ?? state.microBatchTokens;
  state.microBatchTokens = budget === 0 ? null : budget;
  Object.assign(state.published, loaded.published);
  if (extension !== undefined && extension.changed.length + extension.added > 0) run.writeConfig(prepared.config);
  for (const text of extension === undefined ? [] : describeExtension(extension, prepared.config))
    onEvent({ kind: "notice", text });
  const dropped = run.checkpoints.clean(checkpoint);
  if (dropped.length > 0)
    onEvent({
      kind: "notice",
      text: `The run goes back to step ${state.step}: later checkpoints are removed (${dropped.join(", ")}).`,
    });
  run.metrics.keep((row) => isKept(row, state));
  // An evaluation that is due is repeated.
  const episodes = await parts.openEpisodes(state.isEvaluationDue ? state.step - 1 : state.step);
  if (state.isEvaluationDue) await episodes.mirror(run.metrics.rows().filter(({ step }) => step === state.step));
  const past = new PastCopies(pastPools(prepared.config), state.past);
  for (const [policy, weights] of Object.entries(loaded.published))
    await announce({ state, episodes }, policy, weights);
  for (const [policy, weights] of Object.entries(state.published))
    if (weights !== null) await past.follow(engine, policy, weights.version);
  const memory = new MemoryWatch();
  const rendering = new RenderClock();
  const replays = new ReplayWatch(logger);
  const rewards = new RewardWatch(logger);
  // Other processes may play all of its episodes.
  for (const description of prepared.descriptions) rewards.describe(description);
  const watched = watchEngine(engine, new Set(policies.keys()), state, {
    onPass: (model, result) => memory.note(model, result),
    microBatchTokens: state.microBatchTokens ?? undefined,
  });
  return {
    prepared,
    run,
    state,
    engine: watched,
    duties,
    policies,
    restored: loaded.restored,
    frozen: new Set(frozen.keys()),
    past,
    samplers: () => parts.samplers(),
    rollouts: rolloutRunner(parts, watched, new Map([...policies, ...frozen]), {
      state,
      past,
      replays,
      rewards,
      rendering,
    }),
    rendering,
    memory,
    replays,
    rewards,
    watch: parts.watch,
    findings: new FindingWatch(new StageRecords(prepared.config, run.metrics.rows())),
    failures: new FailureWatch(),
    episodes,
    logger,
    onEvent,
    drain,
    stop,
  };
}

function rolloutRunner(
  { host, isDeterministic, logger, tally, onDescription, prepared }: StartParts,
  engine: Pick<SamplerHost, "sampler">,
  models: ReadonlyMap<ModelId, LoadedModel>,
  {
    state,
    past,
    replays,
    rewards,
    rendering,
  }: Pick<RunContext, "state" | "past" | "replays" | "rewards" | "rendering">,
): RolloutRunner {
  // A copy has the tokenizer and the positions of its policy.
  const playing = (model: ModelId): LoadedModel => playingModel(models, policyOfPast(model) ?? model);
  const { sampling, server, seed, environments } = prepared.config;
  // The key is the object, because two entries may differ in their limits only, and evaluations set their own limits.
  const turnLimits = new Map<EnvironmentRef, number>(
    prepared.environments.map(({ ref }, i) => [ref, environments[i]?.max_turns ?? 0]),
  );
  return new RolloutRunner({
    host,
    engine,
    runSeed: seed,
    isDeterministic,
    concurrency: sampling.concurrency,
    maxWaitMs: server.reconnect_seconds * 1000,
    logger,
    replays,
    rewards,
    tally,
    onDescription,
    renderer: (model) => rendering.of(playing(model).renderer),
    tokenLimit: (model) => Math.min(playing(model).info.maxPositions, sampling.max_sequence_tokens ?? Infinity),
    version: (policy) => state.published[policy]?.version,
    pastVersions: (policy) => past.versions(policy),
    turnLimit: (environment) => turnLimits.get(environment) ?? 0,
  });
}

/**
 * Returns the memory options that the engine must not take from the checkpoint. A lowered token budget remains unless the
 * configuration has changed.
 */
function changedMemoryOptions(extension: Extension | undefined, config: ResolvedConfig): LoadOptions {
  const fields = extension?.memory.map(({ field }) => field.split(".").at(-1)) ?? [];
  const models = trainedPolicies(config).map(({ model }) => model);
  const [model] = models as [ResolvedModel];
  const isOneValue = models.every(
    (each) =>
      each.micro_batch_tokens === model.micro_batch_tokens &&
      each.gradient_checkpointing === model.gradient_checkpointing,
  );
  if (!isOneValue && fields.some((field) => field === "micro_batch_tokens" || field === "gradient_checkpointing"))
    throw new MrlmError(
      "CONFIG_INVALID",
      "A resumed run loads all models with the same memory options, and its policies have different ones.",
      { hint: "Give all policies the same micro_batch_tokens and gradient_checkpointing, or those of the checkpoint." },
    );
  return {
    ...(fields.includes("micro_batch_tokens") ? { microBatchTokens: model.micro_batch_tokens ?? 0 } : {}),
    ...(fields.includes("gradient_checkpointing")
      ? { gradientCheckpointing: model.gradient_checkpointing ?? false }
      : {}),
  };
}

/** Whether a row of metrics.jsonl remains: the resumed run does not write it again. */
function isKept({ kind, step }: MetricsRow, state: CheckpointState): boolean {
  return (
    step < state.step || (step === state.step && state.step > 0 && !(kind === "evaluation" && state.isEvaluationDue))
  );
}
