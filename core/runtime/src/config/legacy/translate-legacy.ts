import type { JsonObject } from "@mrlm/spec";
import { valueAt } from "../../plugins/schema-messages.ts";
import { configError, type ConfigProblem, problemsOf, showPath } from "../config-problems.ts";
import type { ConfigPath, SourceText } from "../source-text.ts";
import { type FileConfig, fileSchema, LEGACY_KEYS } from "./legacy-schema.ts";
import { legacyStage } from "./legacy-stage.ts";
import { Rewrite } from "./rewrite.ts";
import { keysWithoutEffect, reasonWithoutEffect } from "./without-effect.ts";

/** Configuration in the current form. */
export interface TranslatedSource {
  readonly source: SourceText;
  /** Settings that are given twice, by a legacy key and by another one. */
  readonly problems: readonly ConfigProblem[];
  /** Legacy keys that are accepted and have no effect, with place and reason. */
  readonly notices: readonly string[];
  /** Whether options that a plugin does not have are dropped with a notice instead of refused, because they come from the legacy form. */
  readonly dropsUnknownOptions: { readonly stages: boolean; readonly environments: boolean };
}

/**
 * Translates the legacy form of a configuration, the YAML of the system that this one replaces, to the current form. A file may mix both; keys of the
 * current form take precedence. Returns the source unchanged if it has no legacy key.
 *
 * The translation works on the parsed document and not on the text, because errors and notices must keep the lines, columns and key names of the user's
 * file: `locate` of the result maps each key to the key that it comes from.
 * @throws CONFIG_INVALID that names every wrong key of a file with legacy keys
 */
export function translateLegacy(source: SourceText): TranslatedSource {
  if (!hasLegacyKeys(source.value))
    return { source, problems: [], notices: [], dropsUnknownOptions: { stages: false, environments: false } };
  const parsed = fileSchema.safeParse(source.value);
  if (!parsed.success) throw configError(source, problemsOf(fileSchema, source.value, parsed.error));
  const file = source.value as FileConfig;
  const rewrite = new Rewrite(withoutLegacyKeys(file));
  for (const [from, to] of MOVED_KEYS) rewrite.set(to, valueAt(file, from), from);
  setEvaluation(rewrite, file);
  setModel(rewrite, file);
  setSampling(rewrite, file);
  setStages(rewrite, file);
  setEnvironments(rewrite, file);
  return {
    source: {
      name: source.name,
      value: rewrite.value,
      locate(path, what) {
        const { origin, rest } = rewrite.originOf(path);
        const whole = [...origin, ...rest];
        // A missing option is reported at the section that it would be in.
        return source.locate(valueAt(source.value, whole) === undefined ? origin : whole, what);
      },
    },
    problems: repeatedKeys(file),
    notices: noticesOf(file, source),
    dropsUnknownOptions: {
      stages: file.training !== undefined,
      environments: file.eval_envs !== undefined && file.environments === undefined,
    },
  };
}

/** Keys whose value is moved unchanged, and their new places. If several have one place, the first that is set applies. */
const MOVED_KEYS: readonly (readonly [from: ConfigPath, to: ConfigPath])[] = [
  [["experiment_name"], ["name"]],
  [["training", "seed"], ["seed"]],
  [
    ["model", "model_name_or_path"],
    ["model", "path"],
  ],
  [
    ["model", "torch_dtype"],
    ["model", "dtype"],
  ],
  [
    ["training", "save_every"],
    ["checkpoint", "every"],
  ],
  [
    ["output", "save_interval"],
    ["checkpoint", "every"],
  ],
  [
    ["training", "save_total_limit"],
    ["checkpoint", "keep"],
  ],
  [
    ["output", "save_dir"],
    ["output", "directory"],
  ],
  [["output_dir"], ["output"]],
  [
    ["distributed", "num_gpus"],
    ["distributed", "nproc_per_node"],
  ],
  [
    ["distributed", "num_nodes"],
    ["distributed", "nnodes"],
  ],
];

/** Pairs of keys that mean the same. */
const SAME_MEANING: readonly (readonly [ConfigPath, ConfigPath])[] = [
  [["name"], ["experiment_name"]],
  [["output"], ["output_dir"]],
  [["stages"], ["training"]],
  [
    ["model", "path"],
    ["model", "model_name_or_path"],
  ],
  [
    ["model", "dtype"],
    ["model", "torch_dtype"],
  ],
  [
    ["model", "lora"],
    ["model", "use_lora"],
  ],
  [
    ["distributed", "nproc_per_node"],
    ["distributed", "num_gpus"],
  ],
  [
    ["distributed", "nnodes"],
    ["distributed", "num_nodes"],
  ],
  [
    ["training", "num_epochs"],
    ["training", "num_iterations"],
  ],
];

function hasLegacyKeys(value: unknown): boolean {
  return LEGACY_KEYS.some(({ section, keys }) => keys.some((key) => valueAt(value, [...section, key]) !== undefined));
}

function repeatedKeys(file: FileConfig): ConfigProblem[] {
  return SAME_MEANING.filter(
    ([one, other]) => valueAt(file, one) !== undefined && (valueAt(file, other) ?? undefined) !== undefined,
  ).map(([one, other]) => ({
    path: other,
    at: "key",
    text: `"${other.at(-1)}" and "${one.at(-1)}" mean the same: leave one of them out`,
  }));
}

function withoutLegacyKeys(file: FileConfig): Record<string, unknown> {
  const value: Record<string, unknown> = { ...file };
  for (const { section, keys } of LEGACY_KEYS) {
    const [name] = section;
    const part = name === undefined ? value : value[name];
    if (typeof part !== "object" || part === null) continue;
    const kept = Object.fromEntries(Object.entries(part).filter(([key]) => !keys.includes(key)));
    if (name === undefined) for (const key of keys) delete value[key];
    else value[String(name)] = kept;
  }
  return value;
}

function setEvaluation(rewrite: Rewrite, { eval: own, training, output }: FileConfig): void {
  rewrite.set(["eval", "tasks"], training?.eval_episodes, ["training", "eval_episodes"]);
  // Without evaluation tasks an interval has no effect, which would be an error in the current form.
  if ((own?.tasks ?? training?.eval_episodes) === 0) return;
  rewrite.set(["eval", "every"], training?.eval_every, ["training", "eval_every"]);
  if (typeof output === "object") rewrite.set(["eval", "every"], output.eval_interval, ["output", "eval_interval"]);
}

function setModel(rewrite: Rewrite, { model = {}, training }: FileConfig): void {
  if (training?.use_bf16 === true) rewrite.set(["model", "dtype"], "bfloat16", ["training", "use_bf16"]);
  else if (training?.use_fp16 === true) rewrite.set(["model", "dtype"], "float16", ["training", "use_fp16"]);
  if (model.use_lora !== true) return;
  const { lora_r: rank = 8, lora_alpha: alpha = 16, lora_target_modules: modules } = model;
  rewrite.set(["model", "lora"], {}, ["model", "use_lora"]);
  rewrite.set(["model", "lora", "rank"], rank, ["model", "lora_r"]);
  rewrite.set(["model", "lora", "alpha"], alpha, ["model", "lora_alpha"]);
  rewrite.set(["model", "lora", "target_modules"], modules, ["model", "lora_target_modules"]);
}

function setSampling(rewrite: Rewrite, { model = {}, grpo }: FileConfig): void {
  const set = (to: string, value: unknown, from: ConfigPath): unknown => rewrite.set(["sampling", to], value, from);
  const generation = ["model", "generation"];
  set("max_tokens", model.generation?.max_new_tokens, [...generation, "max_new_tokens"]);
  set("max_tokens", model.max_new_tokens, ["model", "max_new_tokens"]);
  if (model.generation?.do_sample === false) set("temperature", 0, [...generation, "do_sample"]);
  else if (model.generation?.do_sample === undefined && model.do_sample === false)
    set("temperature", 0, ["model", "do_sample"]);
  set("temperature", model.generation?.temperature, [...generation, "temperature"]);
  set("temperature", model.temperature, ["model", "temperature"]);
  set("temperature", grpo?.temperature, ["grpo", "temperature"]);
}

function setStages(rewrite: Rewrite, { training, dataset, ppo, grpo, dpo, sft }: FileConfig): void {
  if (training === undefined) return;
  const { algorithm, options } = legacyStage(
    training,
    { ppo, grpo, dpo, sft } as Readonly<Record<string, JsonObject | undefined>>,
    (path) => reasonWithoutEffect(fileSchema, path) === undefined,
  );
  if (!rewrite.set(["stages"], [{ algorithm, options: {} }], ["training"])) return;
  rewrite.setOrigin(["stages", 0], ["training"]);
  const set = (option: string, value: unknown, from: ConfigPath): unknown =>
    rewrite.set(["stages", 0, "options", option], value, from);
  set("data", dataset?.path, ["dataset", "path"]);
  for (const { option, value, from } of options) set(option, value, from);
}

/** Sets the training environments, or, if `environments` of the current form is present, the evaluation environments. */
function setEnvironments(rewrite: Rewrite, { eval_envs, environments, training }: FileConfig): void {
  if (eval_envs === undefined) return;
  const entries = [...eval_envs.entries()].filter(([, { mode }]) => mode !== "server");
  const list: ConfigPath = environments === undefined ? ["environments"] : ["eval", "environments"];
  if (environments === undefined && entries.length === 0) return;
  const empty = entries.map(() => ({ options: {} }));
  if (!rewrite.set(list, empty, ["eval_envs"])) return;
  for (const [i, [index, entry]] of entries.entries()) {
    const from: ConfigPath = ["eval_envs", index];
    const set = (to: ConfigPath, value: unknown, key: ConfigPath): unknown =>
      rewrite.set([...list, i, ...to], value, [...from, ...key]);
    rewrite.setOrigin([...list, i], from);
    set(["id"], entry.env_type, ["env_type"]);
    const { dataset, problems, difficulty_range, max_attempts: attempts, custom_kwargs = {} } = entry;
    for (const [key, value] of Object.entries({ dataset, problems, difficulty_range, attempts, ...custom_kwargs })) {
      const isCustom = Object.hasOwn(custom_kwargs, key);
      set(["options", key], value, isCustom ? ["custom_kwargs", key] : [key === "attempts" ? "max_attempts" : key]);
    }
    set(["max_turns"], entry.max_turns, ["max_turns"]);
    rewrite.set([...list, i, "max_turns"], training?.max_episode_length, ["training", "max_episode_length"]);
  }
}

function noticesOf(file: FileConfig, source: SourceText): string[] {
  const algorithm = file.training?.algorithm.toLowerCase();
  const unused = keysWithoutEffect(fileSchema, source.value).map(
    ({ path, reason }) => `${source.locate(path, "key")}: ${showPath(path)} has no effect: ${reason}.`,
  );
  const others = (["ppo", "grpo", "dpo", "sft"] as const).filter(
    (name) => file[name] !== undefined && name !== algorithm,
  );
  const reason =
    algorithm === undefined ? "options of an algorithm belong to its stage" : `the algorithm is ${algorithm}`;
  const served = (file.eval_envs ?? []).flatMap(({ mode }, i) =>
    mode === "server"
      ? `${source.locate(["eval_envs", i], "key")}: eval_envs[${i}] has no effect: mode server is the policy itself, which is \`model\`.`
      : [],
  );
  return [
    ...unused,
    ...served,
    ...others.map((name) => `${source.locate([name], "key")}: ${name} has no effect: ${reason}.`),
  ];
}
