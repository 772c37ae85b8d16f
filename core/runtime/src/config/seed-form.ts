import type { JsonObject } from "@mrlm/spec";
import type { ConfigProblem } from "./config-problems.ts";
import { valueAt } from "../plugins/schema-messages.ts";
import { reasonWithoutEffect } from "../plugins/schema-keys.ts";
import { type ConfigInput, configSchema } from "./schema.ts";
import { seedStage } from "./seed-stage.ts";
import type { ConfigPath } from "./source-text.ts";

/** A configuration in our own form, with what was the seed system's translated. */
export interface TranslatedConfig {
  readonly config: ConfigInput;
  /** Where the options of the first stage stood, when they stood elsewhere. */
  readonly origins: Readonly<Record<string, ConfigPath>> | undefined;
  /** Entries of `environments` came from `eval_envs`. */
  readonly hasSeedEnvironments: boolean;
}

/** Two names of one thing. */
const SAME_THING: readonly (readonly [ConfigPath, ConfigPath])[] = [
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

/** Things that are said twice, by our name and by the seed system's. */
export function saidTwice(input: ConfigInput): ConfigProblem[] {
  return SAME_THING.filter(
    ([one, other]) => valueAt(input, one) !== undefined && (valueAt(input, other) ?? undefined) !== undefined,
  ).map(([one, other]) => ({
    path: other,
    at: "key",
    text: `"${other.at(-1)}" and "${one.at(-1)}" say the same thing: leave one of them out`,
  }));
}

/** Keys that are accepted and do nothing, with the reason. */
export function keysWithoutEffect(input: unknown): { readonly path: ConfigPath; readonly reason: string }[] {
  const found: { path: ConfigPath; reason: string }[] = [];
  const visit = (value: unknown, path: ConfigPath): void => {
    const reason = path.length > 0 ? reasonWithoutEffect(configSchema, path) : undefined;
    if (reason !== undefined && value !== null && value !== false && value !== undefined) found.push({ path, reason });
    else if (Array.isArray(value)) value.forEach((item, i) => visit(item, [...path, i]));
    else if (typeof value === "object" && value !== null)
      for (const [key, member] of Object.entries(value)) visit(member, [...path, key]);
  };
  visit(input, []);
  return found;
}

/** The seed system's form in our own. */
export function translateSeedForm(input: ConfigInput): TranslatedConfig {
  const { training } = input;
  const sections = { ppo: input.ppo, grpo: input.grpo, dpo: input.dpo, sft: input.sft } as Readonly<
    Record<string, JsonObject | undefined>
  >;
  const stage =
    training === undefined
      ? undefined
      : seedStage(training, sections, (path) => reasonWithoutEffect(configSchema, path) === undefined);
  const data: JsonObject = input.dataset === undefined ? {} : { data: input.dataset.path };
  const seedEnvironments = input.eval_envs
    ?.filter((environment) => environment.mode !== "server")
    .map((environment) => seedEnvironment(environment, training?.max_episode_length));
  const output = typeof input.output === "object" ? input.output : {};
  return {
    origins: stage?.origins,
    hasSeedEnvironments: seedEnvironments !== undefined,
    config: dropEmpty({
      ...input,
      name: input.name ?? input.experiment_name,
      seed: input.seed ?? training?.seed ?? undefined,
      model: translateModel(input),
      stages:
        input.stages ??
        (stage === undefined ? undefined : [{ algorithm: stage.algorithm, options: { ...data, ...stage.options } }]),
      environments: input.environments ?? (seedEnvironments?.length === 0 ? undefined : seedEnvironments),
      sampling: { ...translateSampling(input), ...input.sampling },
      eval: {
        ...(input.environments !== undefined && seedEnvironments !== undefined
          ? { environments: seedEnvironments }
          : {}),
        ...dropEmpty({ every: training?.eval_every ?? output.eval_interval, tasks: training?.eval_episodes }),
        ...input.eval,
      },
      checkpoint: {
        ...dropEmpty({
          every: training?.save_every ?? output.save_interval,
          keep: training?.save_total_limit ?? undefined,
        }),
        ...input.checkpoint,
      },
      output:
        typeof input.output === "string"
          ? input.output
          : dropEmpty({
              directory: output.directory ?? output.save_dir ?? input.output_dir,
              trajectories: output.trajectories,
            }),
      distributed: dropEmpty({
        ...input.distributed,
        nproc_per_node: input.distributed?.nproc_per_node ?? input.distributed?.num_gpus,
        nnodes: input.distributed?.nnodes ?? input.distributed?.num_nodes,
      }),
    }),
  };
}

function translateModel(input: ConfigInput): ConfigInput["model"] {
  const { model, training } = input;
  const trained =
    training?.use_bf16 === true
      ? ("bfloat16" as const)
      : training?.use_fp16 === true
        ? ("float16" as const)
        : undefined;
  const lora =
    model.use_lora === true
      ? dropEmpty({
          rank: model.lora_r ?? 8,
          alpha: model.lora_alpha ?? 16,
          target_modules: model.lora_target_modules ?? undefined,
        })
      : undefined;
  return dropEmpty({
    ...model,
    path: model.path ?? model.model_name_or_path,
    dtype: model.dtype ?? model.torch_dtype ?? trained,
    lora: model.lora ?? lora,
  });
}

function translateSampling(input: ConfigInput): NonNullable<ConfigInput["sampling"]> {
  const generation = {
    ...dropEmpty({
      max_new_tokens: input.model.max_new_tokens,
      temperature: input.model.temperature,
      do_sample: input.model.do_sample,
    }),
    ...input.model.generation,
  };
  const temperature =
    generation.do_sample === false ? 0 : (generation.temperature ?? input.grpo?.temperature ?? undefined);
  return dropEmpty({ temperature, max_tokens: generation.max_new_tokens });
}

type SeedEnvironment = NonNullable<ConfigInput["eval_envs"]>[number];

function seedEnvironment(
  environment: SeedEnvironment,
  episodeLength: number | undefined,
): NonNullable<ConfigInput["environments"]>[number] {
  const { env_type, max_turns, dataset, problems, difficulty_range, max_attempts, custom_kwargs } = environment;
  const given = { dataset, problems, difficulty_range, attempts: max_attempts, ...custom_kwargs };
  const options = Object.fromEntries(
    Object.entries(given).filter(([, value]) => value !== undefined && value !== null),
  ) as JsonObject;
  return dropEmpty({ id: env_type, options, max_turns: max_turns ?? episodeLength });
}

function dropEmpty<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as T;
}
