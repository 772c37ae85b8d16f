import type { CommandModule } from "../command.ts";
import type { InfoArguments } from "../commands/info.ts";
import { setFlag } from "./set-flag.ts";

/** `mrlm info`: versions, plugins and what they provide, whether the engine is set up, which walls the sandboxes have. */
export const infoCommand: CommandModule = (program, start) => {
  program
    .command("info")
    .description("versions, plugins and what they provide, the state of the engine, the walls of the sandboxes")
    .option("--config <path>", "configuration whose plugins are seen too, those that it names by path among them")
    .addOption(setFlag())
    .action(async (args: InfoArguments) => (await import("../commands/info.ts")).info(start(), args));
};
