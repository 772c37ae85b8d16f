import type { CommandModule } from "../command.ts";
import type { TrainArguments } from "../commands/train.ts";
import { setFlag } from "./set-flag.ts";

/** `mrlm train`: trains as a configuration says, or goes on with a run. */
export const trainCommand: CommandModule = (program, start, finish) => {
  program
    .command("train")
    .description("train as a configuration says, or continue a run")
    .option("--config <path>", "YAML configuration")
    .addOption(setFlag())
    .option("--output <directory>", "where the run directory is made")
    .option("--seed <number>", "instead of the configuration's")
    .option("--resume <path>", "run directory, or one of its checkpoints, to continue")
    .option("--dry-run", "check everything, print how much memory the run would take, and train nothing")
    .option("--steps <n>", "with --resume: of the last stage, instead of the configuration's, to make a run longer")
    .action(async (args: TrainArguments) => finish(await (await import("../commands/train.ts")).train(start(), args)));
};
