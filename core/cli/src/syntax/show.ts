import { Option } from "commander";
import type { CommandModule } from "../command.ts";
import type { ShowArguments } from "../commands/show.ts";

/** `mrlm show`: prints episodes. */
export const showCommand: CommandModule = (program, start) => {
  program
    .command("show")
    .description(
      "print episodes of a run, of its evaluations, or of recorded files: conversation, reward with its components, end",
    )
    .argument("<path>", "a run's directory, a file of `mrlm collect`, or a directory with such files")
    .option("--task <id>", "only episodes of this task (eval/3) or split (eval)")
    .addOption(new Option("--best", "those that earned most, instead of the newest").conflicts(["worst", "failed"]))
    .addOption(new Option("--worst", "those that earned least").conflicts(["best", "failed"]))
    .addOption(new Option("--failed", "those that failed or have no score").conflicts(["best", "worst"]))
    .option("-n, --num-episodes <n>", "how many episodes", "3")
    .action(async (path: string, args: ShowArguments) =>
      (await import("../commands/show.ts")).show(start(), path, args),
    );
};
