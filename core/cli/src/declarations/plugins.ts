import { Command } from "@commander-js/extra-typings";
import type { OptionsOf } from "./flag-groups.ts";

export function declareSearch() {
  return new Command("search")
    .description("list the plugins of your npm registry that match all words")
    .argument("[words...]", "words of its name, description or keywords; default: all plugins");
}

export function declareAdd() {
  return new Command("add")
    .description("describe a plugin of the registry, and install it after a confirmation")
    .argument("<name>", "name of the package, with a version or without: mrlm-chess, mrlm-chess@1.2.0")
    .option("--yes", "install it without a question")
    .option("--scripts", "run the install scripts of the package and its dependencies");
}
export type AddOptions = OptionsOf<typeof declareAdd>;

export function declareList() {
  return new Command("list")
    .description("list the plugins among the direct dependencies of the project")
    .option("--why", "with their places, requirements and faults, and what was skipped and why");
}
export type ListOptions = OptionsOf<typeof declareList>;

export function declareRemove() {
  return new Command("remove")
    .description("remove a plugin from the project")
    .argument("<name>", "name of the package");
}
