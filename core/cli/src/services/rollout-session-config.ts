import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import {
  adapterDirectory,
  type ConfigOptions,
  loadConfig,
  type LoadedConfig,
  type MeasuredEndpoint,
  measuredName,
  modelDirectory,
  parseConfig,
  playerOverrides,
  type ResolvedConfig,
  type ResolvedModel,
  trainedPolicy,
} from "@mrlm/runtime";
import { realNumber, wholeNumber } from "../arguments.ts";
import { endpointOfFlags } from "./endpoint-flags.ts";

/** Flags of the commands that play episodes with a finished model. */
export interface RolloutArguments {
  readonly model: string;
  readonly environment: string;
  readonly options?: string;
  readonly config?: string;
  readonly set?: readonly string[];
  readonly split: string;
  readonly temperature?: string;
  readonly maxTokens?: string;
  readonly seed?: string;
  readonly store?: string;
  readonly baseUrl?: string;
  readonly modelOptions?: string;
  /** `ROLE=PLAYER` each. */
  readonly player?: readonly string[];
}

/** Configuration of a rollout session, with its origin. */
export interface RolloutSessionConfig {
  readonly config: ResolvedConfig;
  /** The configuration without the model and the flags. It locates the players of environments. */
  readonly loaded: LoadedConfig;
  /** Path of the file; it need not exist if the session has no configuration file. */
  readonly path: string;
  /** `--set KEY=VALUE` flags, which replace keys of the file. */
  readonly overrides: readonly string[];
  /** Directory of the model, or the name of a model of an endpoint. */
  readonly modelDirectory: string;
  /** Model of an endpoint, which needs no engine. */
  readonly endpoint?: MeasuredEndpoint | undefined;
  /** Directory of the run that the model belongs to. */
  readonly run: string | undefined;
  /** Note about the model, for people. */
  readonly notice?: string | undefined;
}

/** Returns the configuration of `--config`, else that of the model's run, else an empty one; the model and the flags replace its keys. */
export async function rolloutSessionConfig(args: RolloutArguments): Promise<RolloutSessionConfig> {
  const endpoint = endpointOfFlags(args);
  const {
    path: directory,
    run,
    notice,
  } = endpoint === undefined
    ? await modelDirectory(args.model)
    : { path: measuredName(endpoint), run: undefined, notice: undefined };
  const file = args.config ?? (run === undefined ? undefined : join(run, "config.yaml"));
  const path = resolve(file ?? "mrlm.yaml");
  const loaded = loadedWithPlayers(args, (overrides) =>
    file === undefined ? emptyConfig(args, directory, { path, overrides }) : loadConfig(file, { overrides }),
  );
  const base = loaded.config;
  const { policy, model: configured } = trainedPolicy(base);
  const { random: _, ...model } = configured;
  const resolved =
    run === undefined
      ? { ...model, path: directory }
      : { ...model, ...trainedModel(configured, base.engine, directory) };
  const sampling = {
    ...base.sampling,
    ...(args.temperature === undefined ? {} : { temperature: realNumber(args.temperature, "--temperature") }),
    ...(args.maxTokens === undefined ? {} : { max_tokens: wholeNumber(args.maxTokens, "--max-tokens", 1) }),
  };
  const seed = args.seed === undefined ? base.seed : wholeNumber(args.seed, "--seed");
  // A server in a separate process needs a configuration file.
  const server = file === undefined ? { ...base.server, spawn: false } : base.server;
  return {
    config: { ...base, seed, server, policies: { [policy]: resolved }, sampling },
    loaded,
    path,
    overrides: args.set ?? [],
    modelDirectory: directory,
    endpoint,
    run,
    notice,
  };
}

/**
 * Returns the paths of the weights of a run's model. With `model.lora` these are the base model and the adapter if both are on this machine: a merged
 * model is in float32, and would lose a part of the adapter in 16 bits.
 */
function trainedModel(
  { path, lora }: ResolvedModel,
  engine: ResolvedConfig["engine"],
  directory: string,
): Pick<ResolvedModel, "path" | "lora"> {
  const adapter = adapterDirectory(directory);
  const isSeparate =
    lora !== undefined &&
    path !== undefined &&
    engine.address === undefined &&
    adapter !== directory &&
    existsSync(path);
  return isSeparate ? { path, lora: { path: adapter } } : { path: directory, lora: undefined };
}

/** Loads a configuration with the flags `--set` and `--player`. */
function loadedWithPlayers(
  { environment, player = [], set = [] }: RolloutArguments,
  load: (overrides: NonNullable<ConfigOptions["overrides"]>) => LoadedConfig,
): LoadedConfig {
  const loaded = load(set);
  return player.length === 0 ? loaded : load([...set, ...playerOverrides(loaded, environment, player, process.cwd())]);
}

function emptyConfig(
  { environment }: RolloutArguments,
  model: string,
  options: ConfigOptions & { readonly path: string },
): LoadedConfig {
  return parseConfig(
    JSON.stringify({ model: { path: model }, environments: [{ id: environment }], stages: [{ algorithm: "none" }] }),
    options,
  );
}
