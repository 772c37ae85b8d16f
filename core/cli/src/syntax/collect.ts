import type { CommandModule } from "../command.ts";
import type { CollectArguments } from "../commands/collect.ts";
import { withPlayerFlags } from "./player-flags.ts";

/** `mrlm collect`: plays episodes with a model and writes them down, to learn from. */
export const collectCommand: CommandModule = (program, start) => {
  withPlayerFlags(
    program
      .command("collect")
      .description(
        "play episodes with a model and write them to a JSONL or Parquet file, down to the tokens, for SFT and DPO to learn from",
      ),
    "train",
  )
    .requiredOption(
      "-o, --output <file>",
      "NAME.jsonl or NAME.parquet; until all are played they are in NAME.partial, from which the same command continues",
    )
    .option("-n, --num-episodes <n>", "episodes in all", "100")
    .option("--group-size <n>", "episodes of each task; DPO compares those of one task", "1")
    .option(
      "--filter-reward <t>",
      "keep only episodes that were scored and earned at least this much; the others are counted",
    )
    .option("--overwrite", "start over, even if the file or an interrupted collection exists")
    .action(async (args: CollectArguments) => (await import("../commands/collect.ts")).runCollect(start(), args));
};
