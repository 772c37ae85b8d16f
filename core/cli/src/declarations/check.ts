import { Command } from "@commander-js/extra-typings";
import type { OptionsOf } from "./flag-groups.ts";
import { parseJson, parseRealNumber, parseWholeNumber } from "./parsers.ts";

export function declareCheck() {
  return new Command("check")
    .description(
      "check a plugin: manifest, contract, options, determinism, rewards, data, leaks, recorded behaviour; docs/reference/checks.md has every finding",
    )
    .argument(
      "[target]",
      "folder of a plugin, an installed package, or a folder of tasks in Harbor's format; default: this folder",
      ".",
    )
    .option("--only <id...>", "check these parts only: package, or provisions such as environment:math@2 or math")
    .option(
      "--quick",
      "leave out what takes longer: the search for programs that solve nothing, episodes after many others, failing services, leaks, other surroundings, speed",
    )
    .option(
      "--attack",
      "search longer for a program that earns without solving: 20,000 episodes in place of 1,000, or of 200 with a sandbox or tools",
    )
    .option(
      "--model [model]",
      "with --attack: train this model first, or a tiny one, by GRPO, and search what it learns to answer too",
    )
    .option("--episodes <n>", "number of episodes of that search", parseWholeNumber(100))
    .option("--minutes <n>", "stop that search after this time, and print what was not tried", parseRealNumber())
    .option(
      "--update",
      "record the behaviour of the environments in mrlm.behaviour.json, which is published with the package",
    )
    .option("--badge", "print a badge for the README, as Markdown")
    .option(
      "--play <model>",
      "sample episodes with this model, as `eval --model` takes it, and count groups with two different rewards",
    )
    .option("--play-groups <n>", "groups of eight episodes that --play samples", parseWholeNumber(1), 16)
    .option("--base-url <url>", "with --play openai:NAME: address of the API")
    .option("--model-options <json>", "with --play openai:NAME: options of the model", parseJson())
    .option(
      "--max-tokens <n>",
      "with --play and --model: of one turn; default: 256, of a tiny model 32",
      parseWholeNumber(1),
    );
}
export type CheckOptions = OptionsOf<typeof declareCheck>;
