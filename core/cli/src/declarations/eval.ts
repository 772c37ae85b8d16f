import { Command } from "@commander-js/extra-typings";
import { addFlags, declareRolloutFlags, ENVIRONMENT_FLAG, type OptionsOf, PLAYED_MODEL } from "./flag-groups.ts";
import { collectTexts, parseWholeNumber } from "./parsers.ts";

export function declareEval() {
  const command = new Command("eval")
    .description(
      "play held-out tasks with models: greedy accuracy, sampled reward, pass@k, with 95 % confidence intervals. Each evaluation has a run directory, from which it is resumed",
    )
    .option("--model <model>", `${PLAYED_MODEL}; default: the \`models\` of --config`)
    .option(ENVIRONMENT_FLAG[0], `${ENVIRONMENT_FLAG[1]}; default: \`eval.environments\` of --config`);
  return addFlags(command, declareRolloutFlags())
    .option(
      "--config <path>",
      "configuration to take models, environments with their options and players, sampling, engine and server from; default: that of the run which the model belongs to",
    )
    .option("--split <name>", "split of the tasks; default: eval, or that of --config without --environment")
    .option(
      "-n, --tasks <n>",
      "tasks of each environment, the first ones of the split: each once greedily, and --samples times sampled; default: 100, or those of --config without --environment",
      parseWholeNumber(1),
    )
    .option("--num-episodes <n>", "the same as --tasks: greedy episodes, one for each task", parseWholeNumber(1))
    .option(
      "--samples <n>",
      "sampled episodes of each task, beside the greedy one; default: 1, or those of --config without --environment",
      parseWholeNumber(),
    )
    .option("--resume <run>", "continue the evaluation of a run directory; other flags replace those of its begin")
    .option("--retry", "with --resume: play the episodes again that failed or have no score")
    .option("--compare <run>", "another evaluation, whose models are compared with these on the same tasks")
    .option(
      "--require <condition>",
      "for CI: `accuracy >= 0.8` of each result, else the exit code is 4. May be given several times; docs/train/evaluation.md lists the names",
      collectTexts,
    )
    .option("-o, --output <file>", "write the results to this file as JSON")
    .option(
      "--inspect <file>",
      "write the episodes as a log of Inspect, NAME.eval; further results as NAME-2.eval, ...",
    )
    .option("--overwrite", "replace those files if they exist");
}
export type EvalOptions = OptionsOf<typeof declareEval>;
