import type { CommandModule } from "../command.ts";

/** `mrlm info`: versions, plugins and what they provide, whether the engine is set up, which walls the sandboxes have. */
export const infoCommand: CommandModule = (program, start) => {
  program
    .command("info")
    .description("versions, plugins and what they provide, the state of the engine, the walls of the sandboxes")
    .action(async () => (await import("../commands/info.ts")).info(start()));
};
