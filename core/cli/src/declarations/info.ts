import { Command } from "@commander-js/extra-typings";
import { type OptionsOf, SET_FLAG } from "./flag-groups.ts";

export function declareInfo() {
  return new Command("info")
    .description(
      "versions, plugins and what they provide, the tasks of a configuration, the state of the engine, the isolation layers of the sandboxes",
    )
    .option(
      "--config <path>",
      "configuration whose plugins and tasks are listed too, including plugins that it names by path",
    )
    .option(...SET_FLAG);
}
export type InfoOptions = OptionsOf<typeof declareInfo>;
