import { Command } from "@commander-js/extra-typings";
import type { OptionsOf } from "./flag-groups.ts";

export function declarePublish() {
  return new Command("publish")
    .description(
      "check, build and pack a plugin from a clean copy, compare its behaviour with the last published version, and publish it by npm",
    )
    .argument("[directory]", "folder of the plugin; default: this folder", ".")
    .option("--dry-run", "report everything, and publish nothing")
    .option("--tag <tag>", "tag of the version in the registry; default: latest")
    .option("--yes", "publish without a question");
}
export type PublishOptions = OptionsOf<typeof declarePublish>;
