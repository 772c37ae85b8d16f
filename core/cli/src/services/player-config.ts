import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { loadConfig, parseConfig, type ResolvedConfig } from "@mrlm/runtime";
import { MrlmError } from "@mrlm/spec";
import type { Command } from "commander";
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

/** Adds those flags to a command. */
export function withPlayerFlags(command: Command, split: string): Command {
  return command
    .requiredOption("--model <directory>", "Hugging Face directory, or the directory of a finished run")
    .requiredOption("--environment <id>", "for example math")
    .option("--options <json>", "options of the environment; default: those that --config has for it")
    .option("--config <path>", "configuration to take the environment's options, sampling, engine and server from; default: that of the run which the model belongs to")
    .option("--split <name>", "split of the tasks", split)
    .option("--temperature <t>", "of sampled episodes; default: the configuration's, else 1")
    .option("--max-tokens <n>", "of one turn; default: the configuration's, else 256")
    .option("--seed <n>", "of everything random; default: the configuration's, else 0");
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
