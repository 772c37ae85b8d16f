import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { loadConfig, parseConfig, type ResolvedConfig } from "@mrlm/runtime";
import { MrlmError } from "@mrlm/spec";
import { realNumber, wholeNumber } from "../arguments.ts";

/** Flags of the commands that play episodes with a finished model. */
export interface PlayerArguments {
  readonly model: string;
  readonly environment: string;
  readonly options?: string;
  readonly config?: string;
  readonly split: string;
  readonly temperature?: string;
  readonly maxTokens?: string;
  readonly seed?: string;
}

/** A configuration to play by, and where it came from. */
export interface PlayerConfig {
  readonly config: ResolvedConfig;
  /** Of the file; of one that need not exist where none was found. */
  readonly path: string;
  readonly modelDirectory: string;
}

/** The configuration that was named, that of the model's run, or an empty one, with the model and the flags over it. */
export function playerConfig(args: PlayerArguments): PlayerConfig {
  const modelDirectory = modelOf(args.model);
  const ofRun = join(dirname(modelDirectory), "config.yaml");
  const file = args.config ?? (existsSync(join(dirname(modelDirectory), "run.json")) ? ofRun : undefined);
  const path = resolve(file ?? "mrlm.yaml");
  const base = file === undefined ? emptyConfig(args, modelDirectory, path) : loadConfig(file).config;
  const { random: _, ...model } = base.model;
  const sampling = {
    ...base.sampling,
    ...(args.temperature === undefined ? {} : { temperature: realNumber(args.temperature, "--temperature") }),
    ...(args.maxTokens === undefined ? {} : { max_tokens: wholeNumber(args.maxTokens, "--max-tokens", 1) }),
  };
  const seed = args.seed === undefined ? base.seed : wholeNumber(args.seed, "--seed");
  // A server in a process of its own is started with a configuration file.
  const server = file === undefined ? { ...base.server, spawn: false } : base.server;
  return { config: { ...base, seed, server, model: { ...model, path: modelDirectory }, sampling }, path, modelDirectory };
}

/** A run's directory stands for the model in it. */
function modelOf(given: string): string {
  const path = resolve(given);
  if (!existsSync(join(path, "run.json"))) return path;
  const model = join(path, "model");
  if (existsSync(model)) return model;
  throw new MrlmError("MODEL_DIRECTORY_MISSING", `The run ${given} has no model yet: it has not finished.`, { hint: `Finish it with: npx mrlm train --resume ${given}` });
}

function emptyConfig({ environment }: PlayerArguments, model: string, path: string): ResolvedConfig {
  return parseConfig(JSON.stringify({ model: { path: model }, environments: [{ id: environment }], stages: [{ algorithm: "none" }] }), { path }).config;
}
