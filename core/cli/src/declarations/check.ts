import { Command } from "@commander-js/extra-typings";
import type { OptionsOf } from "./flag-groups.ts";
import { parseJson, parseWholeNumber } from "./parsers.ts";

export function declareCheck() {
  return new Command("check")
    .description(
      "check a plugin: manifest, contract, options, determinism, rewards, data, leaks, recorded behaviour; docs/reference/checks.md has every finding",
    )
    .argument("[target]", "folder of a plugin, or an installed package; default: this folder", ".")
    .option("--only <id...>", "check these parts only: package, or provisions such as environment:math@2 or math")
    .option("--quick", "leave out what takes longer: long plays, gRPC, measured speed")
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
    .option("--max-tokens <n>", "with --play: of one turn; default: 256", parseWholeNumber(1));
}
export type CheckOptions = OptionsOf<typeof declareCheck>;
