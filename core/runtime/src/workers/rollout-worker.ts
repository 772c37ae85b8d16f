import { defined, type Logger, type ModelId, MrlmError, type PolicyId } from "@mrlm/spec";
import type { Cohort, EnvironmentRef, EpisodeStore, SamplerHost } from "@mrlm/spec/host";
import { type LoadedModel, loadedModel, playingModel } from "../models/loaded-model.ts";
import type { PreparedRun } from "../prepare/prepare-run.ts";
import { stageSampling } from "../prepare/rollout-sampling.ts";
import { policyOfPast } from "../rollouts/past-versions.ts";
import { RolloutRunner, type RolloutRunnerOptions } from "../rollouts/rollout-runner.ts";
import { cohortRequest } from "../play/cohort-requests.ts";
import { CohortWorker, type PlayedCohort, playLeases } from "../play/cohort-worker.ts";
import { environmentServers, thisProcess } from "./member-sources.ts";
import { joinRun } from "./membership.ts";
import { assertSamePackages } from "./same-packages.ts";

export interface PlayRunParts extends Pick<RolloutRunnerOptions, "host"> {
  readonly prepared: PreparedRun;
  /** Store of the run, which another process trains. */
  readonly store: EpisodeStore;
  readonly engine: SamplerHost;
  /** Name of the worker, unique among those of the run. */
  readonly name: string;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  onPlayed(played: PlayedCohort): void;
}

/**
 * Plays episodes of a run that another process trains, until it is stopped: leases cohorts from the store, samples on the engine of the training process, and
 * commits. Rejects with the first error of a play, such as the loss of the engine. The leases of such a worker pass to others when they end.
 */
export async function playRun(parts: PlayRunParts): Promise<void> {
  const { prepared, host, store, engine, name, logger, signal, onPlayed } = parts;
  const { play: mode, sampling, stages, server } = prepared.config;
  const { deterministic } = await engine.describe();
  const loaded = new Map<ModelId, LoadedModel>();
  await assertSamePackages(store, prepared.packages);
  // The training process may have become a member since. It is one when it opens a cohort.
  let packages: Promise<void> | undefined;
  const play = async function* (cohort: Cohort, stop: AbortSignal) {
    const [stage, policies] = cohort.learner.split("/") as [string, string];
    const resolved = stages[Number(stage)];
    if (resolved === undefined)
      throw new MrlmError("STORE_CONFLICT", `Cohort ${cohort.id} is of stage ${stage}, which the run does not have.`);
    const learners = policies.split("+") as [PolicyId];
    const branches = prepared.stages[Number(stage)]?.learners[0]?.plan?.branches;
    const { environments } = prepared;
    const facts = { policy: learners[0], environments, ...stageSampling(prepared.config, resolved) };
    const request = cohortRequest(
      { ...facts, ...defined({ branches: branches && { ...branches, policies: learners } }) },
      cohort,
    );
    const runner = await makeRunner(parts, deterministic, loaded);
    await (packages ??= assertSamePackages(store, prepared.packages));
    assertSameGroups(cohort, await runner.groupsOf(request));
    yield* runner.collect({ ...request, signal: stop });
  };
  const groupSize = Math.max(
    ...prepared.stages.flatMap(({ learners }) => learners.map(({ plan }) => plan?.groupSize ?? 1)),
  );
  const environments = prepared.environments.map(({ ref }) => ref.id);
  const members = [
    thisProcess(name, "rollouts", { concurrency: sampling.concurrency }),
    // The servers that the configuration names are members of the training process.
    ...(server.address === undefined ? [environmentServers(host, environments)] : []),
  ];
  const membership = await joinRun(store, members, { logger });
  try {
    await playLeases(new CohortWorker({ store, name, play }), {
      limit: () => (mode.mode === "async" ? Math.max(1, Math.floor(sampling.concurrency / groupSize)) : 1),
      signal,
      onPlayed,
    });
  } finally {
    await membership.leave();
  }
}

/**
 * Makes a runner with the models that the engine has now: a stage may have others than the one before.
 * @param loaded models that were met before; this adds the others
 */
async function makeRunner(
  { prepared, host, engine, logger }: PlayRunParts,
  isDeterministic: boolean,
  loaded: Map<ModelId, LoadedModel>,
): Promise<RolloutRunner> {
  const { config } = prepared;
  const { models } = await engine.describe();
  for (const info of models)
    if (info.role === "policy" && policyOfPast(info.model) === undefined && !loaded.has(info.model))
      loaded.set(info.model, loadedModel(await engine.readTokenizer(info.model), info, config.policies[info.model]));
  const playing = (model: ModelId): LoadedModel => playingModel(loaded, policyOfPast(model) ?? model);
  const turnLimits = new Map<EnvironmentRef, number>(
    prepared.environments.map(({ ref }, i) => [ref, config.environments[i]?.max_turns ?? 0]),
  );
  return new RolloutRunner({
    host,
    engine,
    runSeed: config.seed,
    isDeterministic,
    concurrency: config.sampling.concurrency,
    maxWaitMs: config.server.reconnect_seconds * 1000,
    logger,
    renderer: (model) => playing(model).renderer,
    tokenLimit: (model) => Math.min(playing(model).info.maxPositions, config.sampling.max_sequence_tokens ?? Infinity),
    pastVersions: (policy) =>
      models
        .flatMap(({ model }) =>
          policyOfPast(model) === policy ? [Number(model.slice(model.lastIndexOf("-") + 1))] : [],
        )
        .toSorted((one, other) => one - other),
    turnLimit: (environment) => turnLimits.get(environment) ?? 0,
  });
}

/** Throws STORE_CONFLICT where this process would play other groups: it has other plugins, or another configuration. */
function assertSameGroups({ id, groups }: Cohort, own: Cohort["groups"]): void {
  const text = (each: Cohort["groups"]): string =>
    JSON.stringify(each.map((group) => [group.id, group.task, group.seed, group.size]));
  if (text(groups) === text(own)) return;
  throw new MrlmError(
    "STORE_CONFLICT",
    `Cohort ${id} has other groups than those that this process would play for it.`,
    {
      hint: "Install the plugins of the training process here, in the same versions.",
    },
  );
}
