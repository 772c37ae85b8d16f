import { Command } from "@commander-js/extra-typings";
import type { OptionsOf } from "./flag-groups.ts";
import { parseWholeNumber } from "./parsers.ts";

export function declareReport() {
  return new Command("report")
    .description("write a run as one page that needs no other file: findings, curves, episodes")
    .argument("<run>", "directory of the run")
    .requiredOption("--html <path>", "file to write")
    .option("-n, --num-episodes <count>", "best, worst and failed episodes, each", parseWholeNumber(), 3);
}
export type ReportOptions = OptionsOf<typeof declareReport>;
