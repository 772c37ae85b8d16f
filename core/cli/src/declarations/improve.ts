import { Command } from "@commander-js/extra-typings";
import { MODEL_FORMS, type OptionsOf, SET_FLAG } from "./flag-groups.ts";

export function declareImprove() {
  return new Command("improve")
    .description(
      "train a model on the cases of an evaluation, and compare it with the model before on cases that were held out",
    )
    .argument(
      "[file]",
      "cases: a file of evalite (.ts), a configuration of promptfoo (.yaml), or JSONL with input and expected",
    )
    .option("--model <model>", MODEL_FORMS)
    .option("--scorer <name>", "scorer of JSONL cases, such as math; default: the answer is the expected one")
    .option(SET_FLAG[0], `of the training: ${SET_FLAG[1]}`, SET_FLAG[2])
    .option("--output <directory>", "where the directory with run, evaluation and report is made; default: runs")
    .option("--resume <directory>", "such a directory, to continue");
}
export type ImproveOptions = OptionsOf<typeof declareImprove>;
