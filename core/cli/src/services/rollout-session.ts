import {
  checkPlayers,
  type MeasuredEndpoint,
  measuredEndpoint,
  playingModel,
  configuredPlugins,
  PluginHost,
  type ResolvedConfig,
  type ResolvedEnvironment,
  modelDirectory as namedDirectory,
  rolloutSampling,
  RolloutRunner,
  sessionPlayers,
  trainedSharing,
  splitSize,
  trainedPolicy,
} from "@mrlm/runtime";
import type {
  EnvironmentDescription,
  EnvironmentHost,
  EnvironmentRef,
  PlayedBy,
  RolloutRequest,
  Rollouts,
} from "@mrlm/spec/host";
import type { CommandContext } from "../command-context.ts";
import { lineLogger, withLevel } from "../console/line-logger.ts";
import { assertEngineInstalled } from "./engine.ts";
import type { RolloutOptions } from "../declarations/flag-groups.ts";
import { openEnvironments, unlessLost } from "./environments.ts";
import { type EpisodeOrigin, EpisodeRecord } from "./episode-record.ts";
import { rolloutSessionConfig } from "./rollout-session-config.ts";
import { openModels, type SessionEngine } from "./session-models.ts";

/** One model and one environment, with everything that plays episodes. */
export interface RolloutSession {
  readonly config: ResolvedConfig;
  /** Directory of the model, or the name of a model of an endpoint. */
  readonly modelDirectory: string;
  /** Model of an endpoint that is measured. */
  readonly endpoint: MeasuredEndpoint | undefined;
  /** Receives the episodes for an episode store. */
  readonly record: EpisodeRecord;
  readonly environment: RolloutEnvironment;
  readonly rollouts: Rollouts;
  /** Sampling of the episodes. Frozen models that are other policies of the run have their own. */
  readonly sampling: Required<Pick<RolloutRequest, "sampling" | "policySampling">>;
  /** Engine of the models that play; a session of endpoints alone has none. */
  readonly engine: SessionEngine;
  /** Returns the fingerprint of a player's renderer; empty for a player without one. */
  readonly fingerprint: (player: PlayedBy) => string;
  /** Aborts, with the reason, when the environments cannot be reached again. */
  readonly lost: AbortSignal;
  close(): Promise<void>;
}

/** Environment of the flags, with the options of the flags or else of the configuration. */
export interface RolloutEnvironment {
  readonly ref: EnvironmentRef;
  readonly description: EnvironmentDescription;
  /** Number of tasks in the split; at least one. */
  readonly size: number;
  readonly maxTurns?: number;
  /** Entry in the configuration, if it has one. */
  readonly known: ResolvedEnvironment | undefined;
  readonly players: RolloutRequest["players"];
  readonly sides?: RolloutRequest["sides"];
  readonly rewardSharing?: RolloutRequest["rewardSharing"];
}

/** Opens environments and engine. Rejects wrong arguments before either starts. */
export async function openRolloutSession(
  { console, directory }: CommandContext,
  args: RolloutOptions,
  signal: AbortSignal,
  purpose: EpisodeOrigin["purpose"],
): Promise<RolloutSession> {
  const session = await rolloutSessionConfig(args);
  const { config, loaded, path: configPath, overrides, modelDirectory, endpoint, run, notice, otherSampling } = session;
  if (notice !== undefined) console.note(`note: ${notice}`);
  const { options } = args;
  const logger = lineLogger((line) => console.note(line));
  const closing: (() => Promise<void>)[] = [];
  const close = async (): Promise<void> => {
    for (const each of closing.splice(0)) await each().catch((error: Error) => console.note(`note: ${error.message}`));
  };
  try {
    const record = await EpisodeRecord.open(console, { purpose, model: modelDirectory, run, store: args.store });
    closing.unshift(() => record.close());
    const plugins = await PluginHost.discover({
      directory,
      logger,
      ...configuredPlugins(loaded),
    });
    closing.unshift(() => plugins.close());
    const { policy } = trainedPolicy(config);
    const measured =
      endpoint === undefined ? undefined : await measuredEndpoint(endpoint, { policies: plugins, policy });
    if (endpoint === undefined) await assertEngineInstalled(config, plugins);
    await checkPlayers(loaded, plugins, args.environment);
    const {
      host,
      scripts,
      lost,
      stop: stopEnvironments,
    } = await openEnvironments({
      config,
      configPath,
      overrides,
      directory,
      plugins,
      // A path on the command line is relative to the working directory.
      ...(options === undefined ? {} : { dataDirectory: directory }),
      notice: (line) => console.note(withLevel(line)),
      json: console.json,
    });
    closing.unshift(stopEnvironments);
    const named = await unlessLost(lost, namedEnvironment(host, config, args.environment, options));
    const note = (text: string): void => console.note(`note: ${text}`);
    const { frozen, ...playing } = await sessionPlayers(
      loaded,
      named,
      { policy, scripts, policies: plugins, measured },
      note,
    );
    const environment = {
      ...named,
      ...(named.known?.max_turns === undefined ? {} : { maxTurns: named.known.max_turns }),
      ...playing,
      ...trainedSharing(loaded, named.description),
      size: splitSize(named.description, args.split, named.ref.options ?? {}, { code: "USAGE" }),
    };
    const { models, engine, described } = await openModels({
      needsPolicy: endpoint === undefined,
      config,
      frozen,
      plugins,
      signal,
      note: (line) => console.note(line),
      closeLater: (stop) => closing.unshift(stop),
    });
    const rollouts = new RolloutRunner({
      host,
      engine,
      runSeed: config.seed,
      isDeterministic: described.deterministic,
      concurrency: config.sampling.concurrency,
      maxWaitMs: config.server.reconnect_seconds * 1000,
      logger,
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
    const samplingByDirectory = await Promise.all(
      [...otherSampling].map(async ([given, own]) => ({ own, ...(await namedDirectory(given)) })),
    );
    const policySampling = Object.fromEntries(
      frozen.flatMap(({ model, path }) => {
        const found = samplingByDirectory.find((each) => each.path === path);
        return found === undefined ? [] : [[model, rolloutSampling(found.own)]];
      }),
    );
    return {
      config,
      modelDirectory,
      endpoint,
      record,
      environment,
      rollouts,
      sampling: { sampling: rolloutSampling(config.sampling), policySampling },
      engine: described,
      fingerprint,
      lost,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Environment of the flags, with its entry in the configuration. */
export type NamedEnvironment = Pick<RolloutEnvironment, "ref" | "description" | "known">;

/** Finds the environment of the flags, with the options of the flags or else of the configuration. */
export async function namedEnvironment(
  host: EnvironmentHost,
  config: ResolvedConfig,
  environment: string,
  options: EnvironmentRef["options"],
): Promise<NamedEnvironment> {
  const { id } = await host.describe({ id: environment });
  const known = [...config.eval.environments, ...config.environments].find(
    (each) => each.id === id || id.startsWith(`${each.id}@`),
  );
  const ref = { id, options: options ?? known?.options ?? {} };
  const description = await host.describe(ref);
  return { ref, description, known };
}
