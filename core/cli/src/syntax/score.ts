import type { CommandModule } from "../command.ts";
import type { ScoreArguments } from "../commands/score.ts";

/** `mrlm score`: judges a file of {expected, answer} rows and prints each with its verdict, as JSONL. */
export const scoreCommand: CommandModule = (program, start) => {
  program
    .command("score")
    .description("judge the rows {expected, answer} of a JSONL file and print each with its verdict")
    .requiredOption("--scorer <id>", "which scorer, for example math")
    .requiredOption("--file <path>", "JSONL file; each row may have schema and options of its own")
    .action(async (args: ScoreArguments) => (await import("../commands/score.ts")).scoreFile(start(), args));
};
