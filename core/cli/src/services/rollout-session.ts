import {
  checkPlayers,
  type MeasuredEndpoint,
  measuredEndpoint,
  type OpenedSession,
  openSession,
  configuredPlugins,
  PluginHost,
  type ResolvedConfig,
  type SessionRequest,
  trainedPolicy,
} from "@mrlm/runtime";
import type { EnvironmentHost, EnvironmentRef } from "@mrlm/spec/host";
import type { CommandContext } from "../command-context.ts";
import { lineLogger, withLevel } from "../console/line-logger.ts";
import { assertEngineInstalled, openEngine } from "./engine.ts";
import type { RolloutOptions } from "../declarations/flag-groups.ts";
import { openEnvironments, unlessLost } from "./environments.ts";
import { startRewardEngine } from "./reward-engine.ts";
import type { RolloutSessionConfig } from "./rollout-session-config.ts";

/** One model and one environment, with everything that plays episodes. */
export interface RolloutSession extends OpenedSession {
  readonly config: ResolvedConfig;
  /** Directory of the model, or the name of a model of an endpoint. */
  readonly modelDirectory: string;
  /** Model of an endpoint that is measured. */
  readonly endpoint: MeasuredEndpoint | undefined;
  /** Aborts, with the reason, when the environments cannot be reached again. */
  readonly lost: AbortSignal;
  close(): Promise<void>;
}

/** Opens environments and engine. Rejects wrong arguments before either starts. */
export async function openRolloutSession(
  context: CommandContext,
  args: RolloutOptions,
  given: RolloutSessionConfig,
  signal: AbortSignal,
  onEnvironment?: SessionRequest["onEnvironment"],
): Promise<RolloutSession> {
  const { console, directory } = context;
  const {
    config,
    loaded,
    path: configPath,
    overrides,
    modelDirectory,
    endpoint,
    person,
    notice,
    otherSampling,
  } = given;
  if (notice !== undefined) console.note(`note: ${notice}`);
  const { options } = args;
  const logger = lineLogger((line) => console.note(line));
  const closing: (() => Promise<void>)[] = [];
  const close = async (): Promise<void> => {
    for (const each of closing.splice(0)) await each().catch((error: Error) => console.note(`note: ${error.message}`));
  };
  try {
    const plugins = await PluginHost.discover({
      directory,
      logger,
      ...configuredPlugins(loaded),
    });
    startRewardEngine(plugins, (line) => console.note(line));
    closing.unshift(() => plugins.close());
    const { policy } = trainedPolicy(config);
    const measured = endpoint === undefined ? person : await measuredEndpoint(endpoint, { policies: plugins, policy });
    if (measured === undefined) await assertEngineInstalled(config, plugins);
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
      // A path on the command line is relative to the working directory of the command that had it.
      ...(options === undefined ? {} : { dataDirectory: given.directory }),
      notice: (line) => console.note(withLevel(line)),
      json: console.json,
    });
    closing.unshift(stopEnvironments);
    const named = await unlessLost(lost, namedEnvironment(host, config, args.environment, options));
    const session = await openSession({
      config,
      loaded,
      environment: named,
      split: args.split,
      host,
      scripts,
      policies: plugins,
      measured,
      otherSampling,
      openEngine: async () => {
        await assertEngineInstalled(config, plugins);
        if (config.engine.address === undefined) console.note("starting the engine (loading torch)");
        // Playing needs no second machine.
        const { engine, isShared, stop } = await openEngine({
          config: { ...config, distributed: { ...config.distributed, nnodes: 1 } },
          plugins,
          logDirectory: undefined,
          signal,
        });
        closing.unshift(stop);
        if (!isShared) return { engine };
        return { engine, onModel: (model) => closing.unshift(() => engine.releaseModel(model)) };
      },
      onEnvironment,
      logger,
      onNotice: (text) => console.note(`note: ${text}`),
    });
    return { ...session, config, modelDirectory, endpoint, lost, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Finds the environment of the flags, with the options of the flags or else of the configuration. */
export async function namedEnvironment(
  host: EnvironmentHost,
  config: ResolvedConfig,
  environment: string,
  options: EnvironmentRef["options"],
): Promise<SessionRequest["environment"]> {
  const [name] = environment.split("@", 1);
  const configured = [...config.eval.environments, ...config.environments].filter(
    (each) => each.id.split("@", 1)[0] === name,
  );
  // Environments may require options.
  const { id } = await host.describe({ id: environment, options: options ?? configured[0]?.options ?? {} });
  const known = configured.find((each) => each.id === id || id.startsWith(`${each.id}@`));
  const ref = { id, options: options ?? known?.options ?? {} };
  const description = await host.describe(ref);
  return { ref, description, known };
}
