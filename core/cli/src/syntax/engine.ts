import type { CommandModule } from "../command.ts";
import type { SetupArguments } from "../commands/engine.ts";

/** `mrlm engine setup`: installs what the engine needs; quick when nothing changed. */
export const engineCommand: CommandModule = (program, start) => {
  program
    .command("engine")
    .description("the engine that holds and trains models")
    .command("setup")
    .description("install the engine's Python environment, or find it complete")
    .option("--engine <id>", "which engine", "torch")
    .option("--extra <name...>", "optional parts: lora, dev")
    .option("--torch-index <url>", "package index to take torch from")
    .action(async (args: SetupArguments) => (await import("../commands/engine.ts")).setUpEngine(start(), args));
};
