import { Command } from "@commander-js/extra-typings";
import type { OptionsOf } from "./flag-groups.ts";

export function declareSetup() {
  return new Command("setup")
    .description("install the engine's Python environment; quick when it is complete")
    .option("--engine <id>", "which engine", "torch")
    .option("--extra <name...>", "optional parts: lora, dev")
    .option("--torch-index <url>", "package index to take torch from");
}
export type SetupOptions = OptionsOf<typeof declareSetup>;
