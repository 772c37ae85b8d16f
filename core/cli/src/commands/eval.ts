import { existsSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { chatRenderer } from "@mrlm/kit";
import { evaluate, type MeasuredEnvironment, type EvaluationResult, loadConfig, PluginHost, policyOptions, type ResolvedConfig, parseConfig, RolloutRunner, rolloutSampling, silentLogger } from "@mrlm/runtime";
import { type EnvironmentHost, type JsonObject, MrlmError } from "@mrlm/spec";
import type { CommandContext, CommandModule } from "../command.ts";
import { decimal } from "../console/numbers.ts";
import { table } from "../console/table.ts";
import { listenForInterrupts } from "../interrupts.ts";
import { assertEngineInstalled, openEngine } from "../services/engine.ts";
import { openEnvironments } from "../services/environments.ts";

interface EvalArguments {
  readonly model: string;
  readonly environment: string;
  readonly options?: string;
  readonly config?: string;
  readonly numEpisodes: string;
  readonly samples: string;
  readonly split: string;
  readonly temperature?: string;
  readonly maxTokens?: string;
  readonly output?: string;
}

/** `mrlm eval`: plays held-out tasks with a model and reports what it earned. */
export const evalCommand: CommandModule = (program, start) => {
  program
    .command("eval")
    .description("play held-out tasks with a model: greedy accuracy and sampled reward")
    .requiredOption("--model <directory>", "Hugging Face directory, for example the model/ of a run")
    .requiredOption("--environment <id>", "for example math")
    .option("--options <json>", "options of the environment; default: those that --config has for it")
    .option("--config <path>", "configuration to take the environment's options, sampling, engine and server from; default: that of the run which the model belongs to")
    .option("--num-episodes <n>", "tasks to play, the first ones of the split", "100")
    .option("--samples <n>", "sampled episodes of each task, beside the greedy one", "1")
    .option("--split <name>", "split of the tasks", "eval")
    .option("--temperature <t>", "of sampled episodes")
    .option("--max-tokens <n>", "of one turn")
    .option("--output <file>", "write the results there as JSON")
    .action((args: EvalArguments) => runEval(start(), { ...args, ...configOfRun(args) }));
};

/** The configuration of the run in whose directory a model stands, where none was named. */
function configOfRun({ model, config }: EvalArguments): Pick<EvalArguments, "config"> {
  const run = dirname(resolve(model));
  return config === undefined && existsSync(join(run, "run.json")) ? { config: join(run, "config.yaml") } : {};
}

async function runEval(context: CommandContext, args: EvalArguments): Promise<void> {
  const { console, directory } = context;
  const config = evalConfig(args);
  const configPath = resolve(args.config ?? "mrlm-eval.yaml");
  const plugins = await PluginHost.discover({ directory, plugins: config.plugins, relativeTo: config.base_directory });
  const interrupts = listenForInterrupts(console, "stopping");
  const cleanUp: (() => Promise<void>)[] = [() => plugins.close()];
  try {
    const model = { ...policyOptions(config), trainable: false };
    await assertEngineInstalled(config, plugins);
    const environments = await openEnvironments({ config: args.config === undefined ? { ...config, server: { ...config.server, spawn: false } } : config, configPath, directory, plugins, notice: (line) => console.note(`note: ${line}`) });
    cleanUp.unshift(() => environments.stop());
    const target = await targetOf(environments.host, config, args);
    const { engine, stop } = await openEngine({ config, plugins, logDirectory: undefined, signal: interrupts.drain });
    cleanUp.unshift(stop);
    const { info, tokenizerFiles } = await engine.createModel(model);
    const renderer = chatRenderer({ tokenizerFiles, eosTokenIds: info.eosTokenIds });
    const rollouts = new RolloutRunner({
      host: environments.host,
      engine,
      runSeed: config.seed,
      isDeterministic: (await engine.describe()).deterministic,
      concurrency: config.sampling.concurrency,
      reconnection: { patienceMs: config.server.reconnect_seconds * 1000, firstDelayMs: 100 },
      logger: silentLogger,
      renderer: () => renderer,
      tokenLimit: () => Math.min(info.maxPositions, config.sampling.max_sequence_tokens ?? Infinity),
      turnLimit: () => target.maxTurns ?? 0,
    });
    const results = await evaluate({ rollouts, environments: [target], model: info.model, sampling: rolloutSampling(config.sampling), samples: count(args.samples, "--samples"), signal: interrupts.drain });
    for (const result of results) report(context, args, result);
  } finally {
    interrupts.dispose();
    for (const close of cleanUp) await close().catch((error: Error) => console.note(`note: ${error.message}`));
  }
}

/** The configuration of an evaluation: that of a file, or an empty one, with the model and the flags over it. */
function evalConfig(args: EvalArguments): ResolvedConfig {
  const base =
    args.config === undefined
      ? parseConfig(JSON.stringify({ model: { path: resolve(args.model) }, environments: [{ id: args.environment }], stages: [{ algorithm: "none" }] }), { path: resolve("mrlm-eval.yaml") }).config
      : loadConfig(args.config).config;
  const { random: _, ...model } = base.model;
  const sampling = {
    ...base.sampling,
    ...(args.temperature === undefined ? {} : { temperature: positive(args.temperature, "--temperature") }),
    ...(args.maxTokens === undefined ? {} : { max_tokens: count(args.maxTokens, "--max-tokens") }),
  };
  return { ...base, model: { ...model, path: resolve(args.model) }, sampling };
}

async function targetOf(host: EnvironmentHost, config: ResolvedConfig, args: EvalArguments): Promise<MeasuredEnvironment> {
  const description = await host.describe({ id: args.environment });
  const known = [...config.eval.environments, ...config.environments].find(({ id }) => id === description.id || description.id.startsWith(`${id}@`));
  const ref = { id: description.id, options: args.options === undefined ? (known?.options ?? {}) : parseOptions(args.options) };
  const described = await host.describe(ref);
  const size = described.splits[args.split] ?? 0;
  if (size === 0) throw new MrlmError("USAGE", `Environment ${described.id} has no tasks in split "${args.split}".`, { hint: `Its splits: ${Object.keys(described.splits).join(", ")}.` });
  const tasks = Array.from({ length: Math.min(size, count(args.numEpisodes, "--num-episodes")) }, (_, i) => `${args.split}/${i}`);
  return { ref, tasks, ...(known?.max_turns === undefined ? {} : { maxTurns: known.max_turns }) };
}

function report({ console }: CommandContext, { output, model }: EvalArguments, result: EvaluationResult): void {
  const rows = [["greedy", result.greedy] as const, ...(result.sampled === undefined ? [] : [["sampled", result.sampled] as const])];
  console.print(`${result.environment}, ${result.tasks} tasks, ${model}\n`);
  console.print(
    table([
      ["", "episodes", "accuracy", "reward", "tokens", "cut", "unscored", "failed"],
      ...rows.map(([name, it]) => [name, String(it.episodes), decimal(it.accuracy), decimal(it.reward), it.tokens?.toFixed(1) ?? "-", String(it.truncated), String(it.unscored), String(it.failed)]),
    ]),
  );
  console.emit({ event: "evaluation", ...(JSON.parse(JSON.stringify(result)) as JsonObject) });
  if (output === undefined) return;
  writeFileSync(output, `${JSON.stringify({ model: resolve(model), ...result }, null, 2)}\n`);
  console.print(`\nwritten to ${output}`);
}

function parseOptions(text: string): JsonObject {
  try {
    return JSON.parse(text) as JsonObject;
  } catch (cause) {
    throw new MrlmError("USAGE", `--options is not JSON: ${(cause as Error).message}`, { hint: `For example --options '{"difficulty_range": 3}'.`, cause });
  }
}

function count(text: string, flag: string): number {
  if (!/^\d+$/.test(text)) throw new MrlmError("USAGE", `${flag} ${text} is not a whole number of 0 or more.`);
  return Number(text);
}

function positive(text: string, flag: string): number {
  const number = Number(text);
  if (text.trim() === "" || !(number >= 0)) throw new MrlmError("USAGE", `${flag} ${text} is not a number of 0 or more.`);
  return number;
}
