import { Command } from "@commander-js/extra-typings";
import type { OptionsOf } from "./flag-groups.ts";
import { parseJson, parseWholeNumber } from "./parsers.ts";

export function declareScore() {
  return new Command("score")
    .description(
      "score rows {expected, answer} of a JSONL file or of a query of a run, and print each with its verdict; or score the episodes of a run again, by their environments or by a judge",
    )
    .option(
      "--scorer <id>",
      "which scorer, for example math; with --run and without --query: in place of those of its environments",
    )
    .option("--file <path>", "JSONL file; each row may have schema, options, question and messages of its own")
    .option(
      "--run <path>",
      "run's directory, or for a query an episode store; without --query: score its stored episodes again by their environments",
    )
    .option(
      "--query <sql>",
      "with --run and --scorer: a SELECT with columns `expected` and `answer`, see `mrlm query`; `options` is JSON",
    )
    .option("--judge <id>", "with --run: judge its stored episodes by this judge, and compare the scores")
    .option(
      "--judge-options <json>",
      "with --judge or --scorer: options of its plugin, in place of those of the run",
      parseJson(),
    )
    .option("--task <id>", "with --run and no --query: episodes of this task (eval/3) or split (eval) only")
    .option(
      "-n, --num-episodes <n>",
      "with --run and no --query: the newest so many episodes (default: 1000)",
      parseWholeNumber(1),
    );
}
export type ScoreOptions = OptionsOf<typeof declareScore>;
/** Options that score the episodes of a run again. */
export type ScoreRunOptions = ScoreOptions & { readonly run: string };
