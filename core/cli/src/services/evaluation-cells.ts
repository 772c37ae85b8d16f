import { existsSync } from "node:fs";
import { basename, resolve } from "node:path";
import { loadConfig, type ResolvedConfig } from "@mrlm/runtime";
import { defined, MrlmError } from "@mrlm/spec";
import type { EvalOptions } from "../declarations/eval.ts";
import type { RolloutOptions } from "../declarations/flag-groups.ts";
import type { MeasuredCell } from "./rollout-session-config.ts";
import { plainJson } from "./plain-json.ts";

/** Number of tasks by default, where one environment is named by a flag. */
const TASKS = 100;

/** Flags that decide what is measured, as a run directory keeps them. */
export type EvaluationFlags = Omit<
  EvalOptions,
  "compare" | "inspect" | "numEpisodes" | "output" | "overwrite" | "require" | "resume" | "retry"
> & {
  /** Base of relative paths in `--player` and `--options`. */
  readonly directory: string;
};

/** One model in one environment. */
export interface EvaluationCell extends MeasuredCell {
  /** Name of the model where the configuration names several. */
  readonly name: string | undefined;
  readonly args: RolloutOptions;
  /** Index of the first task; default 0. */
  readonly first?: number | undefined;
  readonly tasks: number;
  readonly samples: number;
  /** Whether the number of tasks was asked for. */
  readonly isExact: boolean;
}

/** Models and environments of an evaluation. */
export interface EvaluationCells {
  /** Name of the run directory. */
  readonly name: string;
  readonly cells: readonly EvaluationCell[];
}

/** Returns the flags of a new evaluation, with absolute paths; of a resumed one the recorded ones, which given ones replace. Throws USAGE. */
export function evaluationFlags(given: EvalOptions, recorded?: EvaluationFlags): EvaluationFlags {
  const { compare: _, inspect: __, numEpisodes, output: ___, overwrite: ____, require: _____, ...flags } = given;
  const { resume: ______, retry: _______, tasks = numEpisodes, ...own } = flags;
  if (given.tasks !== undefined && numEpisodes !== undefined)
    throw new MrlmError("USAGE", "--tasks and --num-episodes are two names of one number.", {
      hint: "Give --tasks alone.",
    });
  const { model, config } = own;
  const isPath = model !== undefined && existsSync(model) && !model.startsWith("hub:");
  return {
    ...recorded,
    directory:
      given.player === undefined && given.options === undefined
        ? (recorded?.directory ?? process.cwd())
        : process.cwd(),
    ...defined({
      ...own,
      tasks,
      model: isPath ? resolve(model) : model,
      config: config === undefined ? undefined : resolve(config),
    }),
  };
}

/** Returns the models and environments of the flags, in the order of play: all environments of a model after each other. Throws USAGE, or the errors of the configuration. */
export function evaluationCells(flags: EvaluationFlags): EvaluationCells {
  const { model, environment, config: path, directory, tasks, samples, split, ...shared } = flags;
  if (model !== undefined && environment !== undefined) {
    const args = { ...shared, model, environment, ...defined({ config: path }), split: split ?? "eval" };
    const size = { tasks: tasks ?? TASKS, samples: samples ?? 1, isExact: tasks !== undefined };
    return {
      name: `eval-${basename(environment)
        .replace(/@.*$/, "")
        .replaceAll(/[^\w.-]/g, "-")}`,
      cells: [{ name: undefined, directory, args, ...size }],
    };
  }
  if (path === undefined)
    throw new MrlmError(
      "USAGE",
      `eval needs ${model === undefined ? "--model" : "--environment"}, or --config with both.`,
      {
        hint: "For example --model MODEL --environment math; or --config FILE with `models` and `eval: { environments: [...] }`.",
      },
    );
  const { config } = loadConfig(path, { overrides: shared.set ?? [] });
  const size = {
    tasks: tasks ?? config.eval.tasks,
    samples: samples ?? config.eval.samples,
    isExact: tasks !== undefined,
  };
  const models = model === undefined ? modelsOf(config, path) : [{ name: undefined, args: { model } }];
  const environments = environmentsOf(config, path, flags);
  const cells = models.flatMap(({ name, args }) =>
    environments.map(({ id, overrides }): EvaluationCell => ({
      ...{ name, directory, measured: name, overrides, ...size },
      args: { ...shared, config: path, ...args, environment: id, split: split ?? config.eval.split },
    })),
  );
  return { name: `${config.name}-eval`, cells };
}

function modelsOf({ models }: ResolvedConfig, path: string) {
  if (models === undefined)
    throw new MrlmError("USAGE", `eval needs --model, or \`models\` in ${path}.`, {
      hint: "For example models: { small: runs/RUN, other: hub:ORG/NAME }.",
    });
  return Object.entries(models).map(([name, { model, policy, base_url: baseUrl, options: modelOptions }]) => ({
    name,
    args: { model, ...defined({ policy, baseUrl, modelOptions }) },
  }));
}

interface ChosenEnvironment {
  readonly id: string;
  readonly overrides: NonNullable<MeasuredCell["overrides"]>;
}

/** Returns the environment of the flags, or those of the configuration, each with the keys that leave it alone there. */
function environmentsOf(
  { eval: { environments } }: ResolvedConfig,
  path: string,
  { environment, options, player }: EvaluationFlags,
): ChosenEnvironment[] {
  if (environment !== undefined) return [{ id: environment, overrides: [] }];
  const ofOne = options !== undefined ? "--options" : player !== undefined ? "--player" : undefined;
  if (ofOne !== undefined)
    throw new MrlmError("USAGE", `${ofOne} is for one environment: --environment.`, {
      hint: `Write it into the entries of \`eval.environments\` in ${path}.`,
    });
  if (environments.length === 0)
    throw new MrlmError("USAGE", `eval needs --environment, or \`eval.environments\` in ${path}.`);
  return environments.map((entry, i) => ({
    id: entry.id,
    overrides: [
      { flag: `${path}: eval.environments.${i}`, path: ["eval", "environments"], value: [plainJson(entry)] },
      { flag: `${path}: eval.environments.${i}`, path: ["environments"], value: [] },
    ],
  }));
}
