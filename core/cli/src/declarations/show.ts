import { Command, Option } from "@commander-js/extra-typings";
import type { OptionsOf } from "./flag-groups.ts";
import { parseWholeNumber } from "./parsers.ts";

export function declareShow() {
  return new Command("show")
    .description(
      "print episodes of runs, of their evaluations, or of recorded files: conversation, reward with its components, end",
    )
    .argument(
      "<paths...>",
      "runs' directories, files of `mrlm eval --store` or of `mrlm collect`, or directories with files of `mrlm collect`",
    )
    .option("--task <id>", "only episodes of this task (eval/3) or split (eval)")
    .addOption(
      new Option("--best", "those with the highest reward, instead of the newest").conflicts(["worst", "failed"]),
    )
    .addOption(new Option("--worst", "those with the lowest reward").conflicts(["best", "failed"]))
    .addOption(new Option("--failed", "those that failed or have no score").conflicts(["best", "worst"]))
    .option("-n, --num-episodes <n>", "how many episodes", parseWholeNumber(1), 3);
}
export type ShowOptions = OptionsOf<typeof declareShow>;
