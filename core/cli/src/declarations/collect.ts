import { Command } from "@commander-js/extra-typings";
import { addFlags, declareRolloutFlags, ENVIRONMENT_FLAG, type OptionsOf, PLAYED_MODEL } from "./flag-groups.ts";
import { parseRealNumber, parseWholeNumber } from "./parsers.ts";

export function declareCollect() {
  const collect = new Command("collect")
    .description(
      "play episodes with a model and write them to a JSONL or Parquet file, with their tokens, as training data of SFT and DPO",
    )
    .option("--model <model>", PLAYED_MODEL)
    .option(...ENVIRONMENT_FLAG)
    .option(
      "--from <file>",
      "instead of playing: calls of models in production, from traces in OTLP's JSON lines with the messages of OpenTelemetry's GenAI conventions",
    );
  return addFlags(collect, declareRolloutFlags())
    .option(
      "--config <path>",
      "configuration to take the environment's options, sampling, engine and server from; default: that of the run which the model belongs to",
    )
    .option("--split <name>", "split of the tasks", "train")
    .option(
      "--store <file>",
      "episode store to which the episodes are added; default: that of the run which the model belongs to",
    )
    .requiredOption(
      "-o, --output <file>",
      "NAME.jsonl or NAME.parquet; NAME.partial holds the episodes until all are played, and the same command continues from it",
    )
    .option("-n, --num-episodes <n>", "episodes in all", parseWholeNumber(1), 100)
    .option("--group-size <n>", "episodes of each task; DPO compares those of one task", parseWholeNumber(1), 1)
    .option(
      "--filter-reward <t>",
      "keep only scored episodes with at least this reward; the others are counted",
      parseRealNumber({ mayBeNegative: true }),
    )
    .option("--overwrite", "start over, even if the file or an interrupted collection exists");
}
export type CollectOptions = OptionsOf<typeof declareCollect>;
