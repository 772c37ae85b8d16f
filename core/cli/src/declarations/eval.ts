import { Command } from "@commander-js/extra-typings";
import { type OptionsOf, declareRolloutFlags, addFlags } from "./flag-groups.ts";
import { parseWholeNumber } from "./parsers.ts";

export function declareEval() {
  const command = new Command("eval").description(
    "play held-out tasks with a model: greedy accuracy, sampled reward, pass@k, with 95 % confidence intervals",
  );
  return addFlags(command, declareRolloutFlags("eval"))
    .option(
      "-n, --tasks <n>",
      "tasks to play, the first ones of the split: each once greedily, and --samples times sampled; default: 100",
      parseWholeNumber(1),
    )
    .option("--num-episodes <n>", "the same as --tasks: greedy episodes, one for each task", parseWholeNumber(1))
    .option("--samples <n>", "sampled episodes of each task, beside the greedy one", parseWholeNumber(), 1)
    .option("-o, --output <file>", "write the results to this file as JSON")
    .option("--overwrite", "replace that file if it exists");
}
export type EvalOptions = OptionsOf<typeof declareEval>;
