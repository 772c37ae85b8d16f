import { readFileSync } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { fileFault, MrlmError } from "@mrlm/spec";
import { configError, type ConfigProblem, problemsOf, showPath } from "./config-problems.ts";
import { ownMember } from "../names/own-member.ts";
import type { ResolvedConfig } from "./resolved-config.ts";
import { resolveConfig } from "./resolve-config.ts";
import { noteOverrides, withOverrides } from "./overrides.ts";
import { type ConfigInput, configSchema } from "./schema.ts";
import { keysWithoutEffect, saidTwice, translateSeedForm } from "./seed-form.ts";
import { type ConfigPath, readYaml, type SourceText } from "./source-text.ts";

/** A configuration that has the right form. What only plugins, engine and environments can judge comes later. */
export interface LoadedConfig {
  readonly config: ResolvedConfig;
  readonly source: SourceText;
  /** The text as it was given, with the keys that were set over it as comments. */
  readonly text: string;
  /** Keys that are accepted and do nothing, with place and reason. */
  readonly notices: readonly string[];
  /** Where an option of a stage stood in the text. */
  stagePath(stage: number, option: ConfigPath): ConfigPath;
  /** Options of stages and environments were translated from the seed system's form: those that a plugin does not know are dropped with a notice. */
  readonly isTranslated: { readonly stages: boolean; readonly environments: boolean };
}

/** What a configuration is read with beside its text. */
export interface ConfigOptions {
  /** Relative output directories are relative to it; default: the process's. */
  readonly workingDirectory?: string;
  /** Keys that count before what the text says: `stages.1.learning_rate=1e-4`, as in `--set`. */
  readonly overrides?: readonly string[];
}

/** Reads a configuration file. Rejects with CONFIG_NOT_FOUND, or CONFIG_INVALID that names every wrong key with its line and column. */
export function loadConfig(path: string, options: ConfigOptions = {}): LoadedConfig {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    throw new MrlmError("CONFIG_NOT_FOUND", `The configuration ${path} cannot be read: ${fileFault(error)}.`, {
      cause: error,
    });
  }
  return parseConfig(text, { path, ...options });
}

/** Reads a configuration from a text. `path` gives messages a name, relative paths a directory, and the run its default name. */
export function parseConfig(text: string, options: ConfigOptions & { readonly path: string }): LoadedConfig {
  const { overrides = [] } = options;
  const source = withOverrides(readYaml(text, options.path), overrides);
  const parsed = configSchema.safeParse(source.value ?? {});
  if (!parsed.success) throw configError(source, problemsOf(configSchema, source.value ?? {}, parsed.error));
  const input = parsed.data;
  const { config, origins, hasSeedEnvironments } = translateSeedForm(input);
  const problems = [...saidTwice(input), ...incompleteness(config, input)];
  if (problems.length > 0) throw configError(source, problems);
  const place = {
    fallbackName: basename(options.path).replace(/\.[^.]*$/, "") || "run",
    directory: dirname(resolve(options.path)),
    workingDirectory: options.workingDirectory ?? process.cwd(),
  };
  return {
    config: resolveConfig(config, place),
    source,
    text: noteOverrides(text, overrides),
    notices: noticesOf(input, source),
    stagePath: (stage, option) => stagePath(input, origins, stage, option),
    isTranslated: {
      stages: origins !== undefined,
      environments: hasSeedEnvironments && input.environments === undefined,
    },
  };
}

function incompleteness(config: ConfigInput, input: ConfigInput): ConfigProblem[] {
  const problems: ConfigProblem[] = [];
  const { path, random } = config.model;
  if ((path === undefined) === (random === undefined))
    problems.push({
      path: ["model"],
      at: "key",
      text: "model: give either `path` (a directory) or `random` (random weights)",
    });
  if (config.stages === undefined)
    problems.push({ path: [], at: "value", text: "there is nothing to do: `stages` is missing" });
  for (const section of ["engine", "server"] as const)
    if (config[section]?.token_file !== undefined && config[section].address === undefined)
      problems.push({
        path: [section, "token_file"],
        at: "key",
        text: `${section}.token_file is for one that is already running: give its \`address\` too`,
      });
  if (input.eval?.tasks === 0 && (input.eval.every ?? 0) > 0)
    problems.push({
      path: ["eval", "every"],
      at: "key",
      text: "eval.every has no effect: eval.tasks is 0, and nothing is evaluated",
    });
  problems.push(...samplingProblems(config));
  config.stages?.forEach((stage, i) => {
    const { algorithm: _, name: __, sampling: ___, options, ...inline } = stage;
    for (const key of Object.keys(inline))
      if (options !== undefined && Object.hasOwn(options, key))
        problems.push({
          path: ["stages", i, key],
          at: "key",
          text: `"${key}" is given both beside \`options\` and in it: leave one of them out`,
        });
  });
  return problems;
}

/** A turn that must have more tokens than it may have. */
function samplingProblems({ sampling, stages = [] }: ConfigInput): ConfigProblem[] {
  const all: { readonly path: ConfigPath; readonly own: typeof sampling }[] = [
    { path: ["sampling"], own: sampling },
    ...stages.map((stage, i) => ({ path: ["stages", i, "sampling"], own: stage.sampling })),
  ];
  return all.flatMap(({ path, own }) => {
    const { min_tokens = 0, max_tokens = 256 } = { ...sampling, ...own };
    const isSaidHere = own?.min_tokens !== undefined || own?.max_tokens !== undefined;
    return isSaidHere && min_tokens > max_tokens
      ? [
          {
            path: [...path, own?.min_tokens === undefined ? "max_tokens" : "min_tokens"],
            at: "value" as const,
            text: `sampling.min_tokens (${min_tokens}) is above max_tokens (${max_tokens})`,
          },
        ]
      : [];
  });
}

function noticesOf(input: ConfigInput, source: SourceText): string[] {
  const unused = keysWithoutEffect(source.value).map(
    ({ path, reason }) => `${source.locate(path, "key")}: ${showPath(path)} has no effect: ${reason}.`,
  );
  const algorithm = input.training?.algorithm.toLowerCase();
  const others = (["ppo", "grpo", "dpo", "sft"] as const).filter(
    (name) => input[name] !== undefined && name !== algorithm,
  );
  return [
    ...unused,
    ...startOptions(input).map(
      ([section, key]) =>
        `${source.locate([section, key], "key")}: ${section}.${key} has no effect: the one at ${input[section]?.address} is running already.`,
    ),
    ...others.map(
      (name) =>
        `${source.locate([name], "key")}: ${name} has no effect: ${algorithm === undefined ? "options of an algorithm stand in its stage" : `the algorithm is ${algorithm}`}.`,
    ),
  ];
}

/** What says how to start something that is not started, because it is running already; values at their defaults say nothing. */
function startOptions({ engine, server }: ConfigInput): (readonly ["engine" | "server", string])[] {
  const standard = { provider: "torch", device: "auto", mode: "auto", threads: undefined };
  const said = Object.entries(standard).filter(
    ([key, value]) => (engine?.[key as keyof typeof standard] ?? value) !== value,
  );
  return [
    ...(engine?.address === undefined ? [] : said.map(([key]) => ["engine", key] as const)),
    ...(server?.address !== undefined && server.spawn === true ? [["server", "spawn"] as const] : []),
  ];
}

function stagePath(
  input: ConfigInput,
  origins: Readonly<Record<string, ConfigPath>> | undefined,
  stage: number,
  option: ConfigPath,
): ConfigPath {
  const [first, ...rest] = option;
  if (origins !== undefined)
    return first === undefined ? ["training"] : [...(ownMember(origins, first) ?? ["training"]), ...rest];
  const isNested = first !== undefined && Object.hasOwn(input.stages?.[stage]?.options ?? {}, first);
  return ["stages", stage, ...(isNested ? ["options"] : []), ...option];
}
