import { Command } from "@commander-js/extra-typings";
import { ENVIRONMENT_FLAG, MODEL_FORMS, OPTIONS_FLAG, type OptionsOf, POLICY_FLAG, SET_FLAG } from "./flag-groups.ts";
import { parseWholeNumber } from "./parsers.ts";

export function declareRender() {
  return new Command("render")
    .description("print the first prompt of a task as the model receives it, as text and as tokens; starts no engine")
    .requiredOption("--model <model>", MODEL_FORMS)
    .option(...POLICY_FLAG)
    .requiredOption(...ENVIRONMENT_FLAG)
    .option("--task <id>", "split and number", "train/0")
    .option("--ids", "a table of the tokens with their ids")
    .option(...OPTIONS_FLAG)
    .option(
      "--config <path>",
      "configuration to take the environment's options from; default: that of the run which the model belongs to",
    )
    .option(...SET_FLAG)
    .option("--seed <n>", "of the environment; default: the configuration's, else 0", parseWholeNumber());
}
export type RenderOptions = OptionsOf<typeof declareRender>;
