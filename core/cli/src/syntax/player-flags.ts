import type { Command } from "commander";
import { setFlag } from "./set-flag.ts";

/** Adds the flags of the commands that play episodes with a finished model. */
export function withPlayerFlags(command: Command, split: string): Command {
  return command
    .requiredOption("--model <directory>", "Hugging Face directory; a run, finished or not; or one of its checkpoints")
    .requiredOption("--environment <id>", "for example math")
    .option("--options <json>", "options of the environment; default: those that --config has for it")
    .option(
      "--config <path>",
      "configuration to take the environment's options, sampling, engine and server from; default: that of the run which the model belongs to",
    )
    .addOption(setFlag())
    .option("--split <name>", "split of the tasks", split)
    .option("--temperature <t>", "of sampled episodes; default: the configuration's, else 1")
    .option("--max-tokens <n>", "of one turn; default: the configuration's, else 256")
    .option("--seed <n>", "of everything random; default: the configuration's, else 0");
}
