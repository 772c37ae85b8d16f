import { type Command, Option } from "commander";

export const MODEL_FLAG = [
  "--model <directory>",
  "Hugging Face directory; a run, finished or not; or one of its checkpoints",
] as const;
export const POLICY_FLAG = ["--policy <name>", "one of several policies that the run of --model trains"] as const;
export const ENVIRONMENT_FLAG = ["--environment <id>", "for example math"] as const;
export const OPTIONS_FLAG = [
  "--options <json>",
  "options of the environment; default: those that --config has for it",
] as const;

/** Adds the flags of the commands that play episodes with a finished model (services/rollout-session.ts). */
export function withRolloutFlags(command: Command, split: string): Command {
  return command
    .requiredOption(
      "--model <model>",
      "Hugging Face directory; a run, finished or not; one of its checkpoints; or openai:NAME, a model behind an OpenAI-compatible API",
    )
    .option(...POLICY_FLAG)
    .option(
      "--base-url <url>",
      "address of the API of openai:NAME; default: OPENAI_BASE_URL, else that of OpenAI. The key is in OPENAI_API_KEY",
    )
    .option(
      "--model-options <json>",
      "options of openai:NAME: temperature, concurrency, cache, ...; the README of @mrlm/policy-openai has all",
    )
    .requiredOption(...ENVIRONMENT_FLAG)
    .option(...OPTIONS_FLAG)
    .addOption(
      repeated(
        "--player <role=player>",
        "player of a role, in YAML as under `players` of a configuration, for example 'second={scripted: optimal}'; may be given several times. The model plays the other roles",
      ),
    )
    .option(
      "--config <path>",
      "configuration to take the environment's options, sampling, engine and server from; default: that of the run which the model belongs to",
    )
    .addOption(setFlag())
    .option("--split <name>", "split of the tasks", split)
    .option("--temperature <t>", "of sampled episodes; default: the configuration's, else 1")
    .option("--max-tokens <n>", "of one turn; default: the configuration's, else 256")
    .option("--seed <n>", "of everything random; default: the configuration's, else 0")
    .option(
      "--store <file>",
      "episode store to which the episodes are added; default: that of the run which the model belongs to",
    );
}

/** Returns the flag that sets a key of a configuration; it may be given several times. */
export function setFlag(): Option {
  return repeated(
    "--set <key=value>",
    "a key of the configuration, for example stages.1.learning_rate=1e-4, with its value in YAML; may be given several times",
  );
}

/** Returns a flag that may be given several times. */
export function repeated(flags: string, description: string): Option {
  return new Option(flags, description).argParser((value: string, before: readonly string[] = []) => [
    ...before,
    value,
  ]);
}
