import type { CommandModule } from "../command.ts";
import type { RenderArguments } from "../commands/render.ts";
import { setFlag } from "./set-flag.ts";

/** `mrlm render`: prints a task's prompt as text and as tokens. */
export const renderCommand: CommandModule = (program, start) => {
  program
    .command("render")
    .description("print the first prompt of a task as a model gets it, as text and as tokens; starts no engine")
    .requiredOption("--model <directory>", "Hugging Face directory; a run, finished or not; or one of its checkpoints")
    .requiredOption("--environment <id>", "for example math")
    .option("--task <id>", "split and number", "train/0")
    .option("--ids", "a table of the tokens with their ids")
    .option("--options <json>", "options of the environment; default: those that --config has for it")
    .option(
      "--config <path>",
      "configuration to take the environment's options from; default: that of the run which the model belongs to",
    )
    .addOption(setFlag())
    .option("--seed <n>", "of the environment; default: the configuration's, else 0")
    .action(async (args: RenderArguments) => (await import("../commands/render.ts")).render(start(), args));
};
