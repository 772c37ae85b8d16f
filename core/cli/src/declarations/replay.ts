import { Command } from "@commander-js/extra-typings";
import type { OptionsOf } from "./flag-groups.ts";

export function declareReplay() {
  return new Command("replay")
    .description(
      "learn again from the stored batches of a run, without playing, and compare the weights with the recorded checksums; changes nothing in the run",
    )
    .argument("<run>", "the run's directory")
    .requiredOption("--from <checkpoint>", "path or name of a checkpoint of the run, or start")
    .option("--out <directory>", "new directory for the replayed model and metrics; default: they are not kept");
}
export type ReplayOptions = OptionsOf<typeof declareReplay>;
