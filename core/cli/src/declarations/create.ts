import { Command } from "@commander-js/extra-typings";
import type { OptionsOf } from "./flag-groups.ts";

export function declareCreate() {
  return new Command("create")
    .description("create the project of a plugin: sources, tests, and a configuration to train with")
    .argument("[kind]", "environment, tool, judge, scorer, policy, algorithm or harbor-task")
    .argument("[name]", "name of the npm package; its last part is the name of the folder")
    .option(
      "--from <path>",
      "take the packages of mrlm from a clone after `npm run build`, or from a folder of tarballs",
    )
    .option("--merge", "keep the files of a folder that is not empty, and add those that are missing")
    .option("--install", "install the packages with the package manager that runs this command");
}
export type CreateOptions = OptionsOf<typeof declareCreate>;
