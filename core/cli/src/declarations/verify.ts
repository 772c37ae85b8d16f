import { Command } from "@commander-js/extra-typings";
import type { OptionsOf } from "./flag-groups.ts";
import { parseRealNumber, parseWholeNumber } from "./parsers.ts";

export function declareVerify() {
  return new Command("verify")
    .description("compare stored log-probabilities of a run with those of its kept weights; changes nothing in the run")
    .argument("<run>", "the run's directory")
    .option("--sample <n>", "how many segments of training episodes to verify", parseWholeNumber(1), 100)
    .option("--seed <n>", "of the choice of segments", parseWholeNumber(), 0)
    .option(
      "--tolerance <x>",
      "largest accepted difference in nats; default: 1e-4 for models in float32",
      parseRealNumber(),
    );
}
export type VerifyOptions = OptionsOf<typeof declareVerify>;
