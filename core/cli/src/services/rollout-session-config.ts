import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { adapterDirectory, loadConfig, modelDirectory, parseConfig, type ResolvedConfig } from "@mrlm/runtime";
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
}

/** A configuration to play by, and where it came from. */
export interface RolloutSessionConfig {
  readonly config: ResolvedConfig;
  /** Of the file; of one that need not exist where none was found. */
  readonly path: string;
  /** Keys that were set over the file's. */
  readonly overrides: readonly string[];
  readonly modelDirectory: string;
  /** What someone should know of the model that was named. */
  readonly notice?: string | undefined;
}

/** The configuration that was named, that of the model's run, or an empty one, with the model and the flags over it. */
export async function rolloutSessionConfig(args: RolloutArguments): Promise<RolloutSessionConfig> {
  const { path: directory, run, notice } = await modelDirectory(args.model);
  const file = args.config ?? (run === undefined ? undefined : join(run, "config.yaml"));
  const path = resolve(file ?? "mrlm.yaml");
  const base =
    file === undefined ? emptyConfig(args, directory, path) : loadConfig(file, { overrides: args.set ?? [] }).config;
  const { random: _, ...model } = base.model;
  const played = run === undefined ? { ...model, path: directory } : { ...model, ...trainedModel(base, directory) };
  const sampling = {
    ...base.sampling,
    ...(args.temperature === undefined ? {} : { temperature: realNumber(args.temperature, "--temperature") }),
    ...(args.maxTokens === undefined ? {} : { max_tokens: wholeNumber(args.maxTokens, "--max-tokens", 1) }),
  };
  const seed = args.seed === undefined ? base.seed : wholeNumber(args.seed, "--seed");
  // A server in a process of its own is started with a configuration file.
  const server = file === undefined ? { ...base.server, spawn: false } : base.server;
  return {
    config: { ...base, seed, server, model: played, sampling },
    path,
    overrides: args.set ?? [],
    modelDirectory: directory,
    notice,
  };
}

/**
 * Where the weights of a run's model are. With `model.lora` they are the base model and the adapter, where both are on this machine: a merged model
 * is in float32, and would lose a part of the adapter in 16 bits.
 */
function trainedModel(
  { model: { path, lora }, engine }: ResolvedConfig,
  directory: string,
): Pick<ResolvedConfig["model"], "path" | "lora"> {
  const adapter = adapterDirectory(directory);
  const isApart =
    lora !== undefined &&
    path !== undefined &&
    engine.address === undefined &&
    adapter !== directory &&
    existsSync(path);
  return isApart ? { path, lora: { path: adapter } } : { path: directory, lora: undefined };
}

function emptyConfig({ environment, set = [] }: RolloutArguments, model: string, path: string): ResolvedConfig {
  return parseConfig(
    JSON.stringify({ model: { path: model }, environments: [{ id: environment }], stages: [{ algorithm: "none" }] }),
    { path, overrides: set },
  ).config;
}
