import { Command } from "@commander-js/extra-typings";
import { type OptionsOf, declareTrainingFlags, addFlags } from "./flag-groups.ts";

export function declareTrain() {
  const train = new Command("train").description("train as a configuration specifies, or continue a run");
  return addFlags(train, declareTrainingFlags())
    .option(
      "--dry-run",
      "check everything, render some prompts, print how much memory the run would take, and train nothing",
    )
    .option(
      "--assume-device <name>",
      "with --dry-run: estimate for the GPUs of another machine, NAME or NAMExCOUNT: h100, a100x8, ... Weights of models of the hub are not fetched",
    );
}
export type TrainOptions = OptionsOf<typeof declareTrain>;
