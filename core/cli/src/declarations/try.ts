import { Command } from "@commander-js/extra-typings";
import { addFlags, declareRolloutFlags, type OptionsOf, PLAYED_MODEL } from "./flag-groups.ts";
import { parseWholeNumber } from "./parsers.ts";

export function declareTry() {
  const command = new Command("try")
    .description(
      "play tasks of an environment yourself, in every role that has no other player; episodes are stored in a run directory",
    )
    .argument("<environment>", "for example math")
    .option("--model <model>", `also plays each task: ${PLAYED_MODEL}`)
    .option("--rate-only", "with --model: play nothing yourself, and rate the episodes of the model")
    .option("--ui", "play on a page of the viewer, which is served on 127.0.0.1 until Ctrl-C");
  return addFlags(command, declareRolloutFlags())
    .option(
      "--config <path>",
      "configuration to take the environment's options and players from; default: that of the run which the model belongs to",
    )
    .option("--split <name>", "split of the tasks", "eval")
    .option("--task <n>", "index of the first task in the split; default: 0", parseWholeNumber())
    .option("-n, --tasks <n>", "number of tasks; default: 10, or 1 with --task", parseWholeNumber(1))
    .option(
      "--samples <n>",
      "with --model: sampled episodes of each task, beside the greedy one; default: 0, or 1 with --rate-only",
      parseWholeNumber(),
    )
    .option(
      "-o, --output <file>",
      "NAME.jsonl for your ratings: recorded episodes with reward 1 for what you call good or best, else 0, as data of dpo@1",
    )
    .option("--overwrite", "replace that file if it exists");
}
export type TryOptions = OptionsOf<typeof declareTry>;
