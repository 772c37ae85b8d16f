import type { CommandModule } from "../command.ts";
import type { EvalArguments } from "../commands/eval.ts";
import { withPlayerFlags } from "./player-flags.ts";

/** `mrlm eval`: plays held-out tasks with a model and reports what it earned. */
export const evalCommand: CommandModule = (program, start) => {
  withPlayerFlags(
    program
      .command("eval")
      .description(
        "play held-out tasks with a model: greedy accuracy, sampled reward, pass@k, with 95 % confidence intervals",
      ),
    "eval",
  )
    .option(
      "-n, --tasks <n>",
      "tasks to play, the first ones of the split: each once greedily, and --samples times sampled; default: 100",
    )
    .option("--num-episodes <n>", "the same as --tasks: greedy episodes, one for each task")
    .option("--samples <n>", "sampled episodes of each task, beside the greedy one", "1")
    .option("-o, --output <file>", "write the results there as JSON")
    .option("--overwrite", "even if that file exists")
    .action(async (args: EvalArguments) => (await import("../commands/eval.ts")).runEval(start(), args));
};
