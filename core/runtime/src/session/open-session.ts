import { type Logger, type ModelId, MrlmError } from "@mrlm/spec";
import type {
  EngineInfo,
  EnvironmentDescription,
  EnvironmentHost,
  EnvironmentRef,
  PlayedBy,
  Player,
  RolloutRequest,
  Rollouts,
  SamplerHost,
  Trainer,
} from "@mrlm/spec/host";
import type { LoadedConfig } from "../config/load-config.ts";
import { trainedPolicy } from "../config/policies.ts";
import type { ResolvedConfig, ResolvedEnvironment, ResolvedSampling } from "../config/resolve-config.ts";
import { splitSize } from "../evaluation/split-size.ts";
import { loadFrozen } from "../models/load-frozen.ts";
import { type LoadedModel, loadedModel, playingModel } from "../models/loaded-model.ts";
import type { FrozenModel } from "../players/frozen-models.ts";
import type { PlayerSource, ScriptSource } from "../players/player-source.ts";
import { trainedSharing } from "../players/reward-sharing.ts";
import { sessionPlayers } from "../players/session-players.ts";
import { checkTemplates } from "../prepare/check-prompts.ts";
import { policyOptions } from "../prepare/model-source.ts";
import { rolloutSampling } from "../prepare/rollout-sampling.ts";
import { PlayTally } from "../rollouts/play-tally.ts";
import { RolloutRunner } from "../rollouts/rollout-runner.ts";
import { modelDirectory } from "../run/model-directory.ts";

/** One model and one environment, whose episodes are to be played. */
export interface SessionRequest {
  /** Configuration with the model. */
  readonly config: ResolvedConfig;
  /** The configuration without the model. It locates the players of environments. */
  readonly loaded: LoadedConfig;
  readonly environment: {
    readonly ref: EnvironmentRef;
    readonly description: EnvironmentDescription;
    /** Entry in the configuration, if it has one. */
    readonly known: ResolvedEnvironment | undefined;
  };
  readonly split: string;
  readonly host: EnvironmentHost;
  readonly scripts: ScriptSource;
  readonly policies: PlayerSource["policies"];
  /** Player that is measured in the place of the policy, which is then no model of the engine. */
  readonly measured?: Player | undefined;
  /** Sampling of the other policies that have their own, by the paths at which they play as frozen models. */
  readonly otherSampling?: ReadonlyMap<string, ResolvedSampling>;
  /** Opens the engine. Not called where no model of an engine plays. */
  readonly openEngine: () => Promise<SessionEngine>;
  readonly logger: Logger;
  /** Called before the engine is opened, which is not opened if it resolves to false: nothing is played then. */
  readonly onEnvironment?:
    | ((environment: OpenedSession["environment"], sampling: OpenedSession["sampling"]) => Promise<boolean>)
    | undefined;
  readonly onNotice: (text: string) => void;
}

/** Engine of a session. */
interface SessionEngine {
  readonly engine: Trainer & Pick<SamplerHost, "sampler">;
  /** Receives the models that the session has created, in an engine that others use too. */
  readonly onModel?: (model: ModelId) => void;
}

/** Everything that plays the episodes of a session. */
export interface OpenedSession {
  readonly environment: SessionRequest["environment"] &
    Pick<RolloutRequest, "players" | "sides" | "rewardSharing"> & {
      /** Number of tasks in the split; at least one. */
      readonly size: number;
      readonly maxTurns?: number;
    };
  readonly rollouts: Rollouts;
  /** Counts what the session plays. */
  readonly tally: PlayTally;
  /** Sampling of the episodes. Frozen models that are other policies of the run have their own. */
  readonly sampling: Required<Pick<RolloutRequest, "sampling" | "policySampling">>;
  /** Properties of the engine of the models that play; a session of endpoints alone has none. */
  readonly engine: { readonly deterministic: boolean; readonly versions: Partial<EngineInfo["versions"]> };
  /** Returns the fingerprint of a player's renderer; empty for a player without one. */
  readonly fingerprint: (player: PlayedBy) => string;
}

/** Finds the players of an environment, and loads the models among them. */
export async function openSession(request: SessionRequest): Promise<OpenedSession> {
  const { config, loaded, environment: named, split, host, scripts, policies, measured, logger, onNotice } = request;
  const { policy } = trainedPolicy(config);
  const { frozen, ...playing } = await sessionPlayers(loaded, named, { policy, scripts, policies, measured }, onNotice);
  const environment = {
    ...named,
    ...(named.known?.max_turns === undefined ? {} : { maxTurns: named.known.max_turns }),
    ...playing,
    ...trainedSharing(loaded, named.description),
    size: splitSize(named.description, split, named.ref.options ?? {}, { code: "USAGE" }),
  };
  const sampling = {
    sampling: rolloutSampling(config.sampling),
    policySampling: await samplingOfFrozen(frozen, request.otherSampling ?? new Map()),
  };
  const isPlayed = (await request.onEnvironment?.(environment, sampling)) ?? true;
  if (isPlayed && measured === undefined) {
    const evaluation = [{ ...environment, tasks: [`${split}/0`] }];
    await checkTemplates({ config, environments: [], evaluation }, host, new AbortController().signal);
  }
  const { models, engine, described } = isPlayed ? await openModels(request, frozen) : NOTHING_PLAYED;
  const tally = new PlayTally();
  const rollouts = new RolloutRunner({
    host,
    engine,
    runSeed: config.seed,
    isDeterministic: described.deterministic,
    concurrency: config.sampling.concurrency,
    maxWaitMs: config.server.reconnect_seconds * 1000,
    logger,
    tally,
    renderer: (model) => playingModel(models, model).renderer,
    tokenLimit: (model) =>
      Math.min(
        playingModel(models, model).info.maxPositions,
        config.sampling.max_sequence_tokens ?? Number.POSITIVE_INFINITY,
      ),
    turnLimit: () => environment.maxTurns ?? 0,
  });
  const fingerprint = ({ kind, name }: PlayedBy): string => {
    const model =
      kind === "policy" && models.has(name)
        ? name
        : frozen.find(({ path }) => kind === "model" && path === name)?.model;
    return model === undefined ? "" : playingModel(models, model).renderer.fingerprint;
  };
  return {
    environment,
    rollouts,
    tally,
    sampling,
    engine: described,
    fingerprint,
  };
}

/** Opens the engine, and loads the policy and its opponents. Where no model of an engine plays, nothing is opened. */
async function openModels({ config, measured, openEngine }: SessionRequest, frozen: readonly FrozenModel[]) {
  const models = new Map<ModelId, LoadedModel>();
  if (measured !== undefined && frozen.length === 0) return NOTHING_PLAYED;
  const { engine, onModel } = await openEngine();
  const hold = (model: ModelId, loaded: LoadedModel): void => {
    onModel?.(model);
    models.set(model, loaded);
  };
  if (measured === undefined) {
    const { info, tokenizerFiles } = await engine.createModel({ ...policyOptions(config), trainable: false });
    hold(info.model, loadedModel(tokenizerFiles, info, trainedPolicy(config).model));
  }
  const policies = new Map(models);
  for (const [model, loaded] of await loadFrozen(engine, frozen, { config, policies })) hold(model, loaded);
  return { models, engine, described: await engine.describe() };
}

async function samplingOfFrozen(frozen: readonly FrozenModel[], others: ReadonlyMap<string, ResolvedSampling>) {
  const byDirectory = await Promise.all(
    [...others].map(async ([given, own]) => ({ own, ...(await modelDirectory(given)) })),
  );
  return Object.fromEntries(
    frozen.flatMap(({ model, path }) => {
      const found = byDirectory.find((each) => each.path === path);
      return found === undefined ? [] : [[model, rolloutSampling(found.own)]];
    }),
  );
}

const NO_MODELS: OpenedSession["engine"] = { deterministic: false, versions: {} };
const NO_ENGINE: Pick<SamplerHost, "sampler"> = {
  sampler: async (model) => {
    throw new MrlmError("MODEL_NOT_FOUND", `The session has no engine, and the model ${model} was to play.`);
  },
};
/** Models of a session without an engine. */
const NOTHING_PLAYED = { models: new Map<ModelId, LoadedModel>(), engine: NO_ENGINE, described: NO_MODELS };
