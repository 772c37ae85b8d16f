import { Command } from "@commander-js/extra-typings";
import type { OptionsOf } from "./flag-groups.ts";
import { parseWholeNumber } from "./parsers.ts";

export function declareJoin() {
  return new Command("join")
    .description(
      "run this machine's part of a run of several machines, which `mrlm train` starts on machine 0, until that run ends",
    )
    .requiredOption("--config <path>", "YAML configuration: the one that machine 0 trains with")
    .requiredOption(
      "--node-rank <n>",
      "number of this machine: 1 for the second of distributed.nnodes",
      parseWholeNumber(),
    );
}
export type JoinOptions = OptionsOf<typeof declareJoin>;
