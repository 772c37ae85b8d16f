import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import {
  adapterDirectory,
  loadConfig,
  type LoadedConfig,
  modelDirectory,
  parseConfig,
  type ResolvedConfig,
  type ResolvedModel,
  trainedPolicy,
} from "@mrlm/runtime";
import { realNumber, wholeNumber } from "../arguments.ts";

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
  readonly modelDirectory: string;
  /** Directory of the run that the model belongs to. */
  readonly run: string | undefined;
  /** Note about the model, for people. */
  readonly notice?: string | undefined;
}

/** Returns the configuration of `--config`, else that of the model's run, else an empty one; the model and the flags replace its keys. */
export async function rolloutSessionConfig(args: RolloutArguments): Promise<RolloutSessionConfig> {
  const { path: directory, run, notice } = await modelDirectory(args.model);
  const file = args.config ?? (run === undefined ? undefined : join(run, "config.yaml"));
  const path = resolve(file ?? "mrlm.yaml");
  const loaded =
    file === undefined ? emptyConfig(args, directory, path) : loadConfig(file, { overrides: args.set ?? [] });
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

function emptyConfig({ environment, set = [] }: RolloutArguments, model: string, path: string): LoadedConfig {
  return parseConfig(
    JSON.stringify({ model: { path: model }, environments: [{ id: environment }], stages: [{ algorithm: "none" }] }),
    { path, overrides: set },
  );
}
