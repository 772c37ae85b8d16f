import type { CommandModule } from "../command.ts";
import type { ServeOptions } from "../commands/serve.ts";
import { setFlag } from "./set-flag.ts";

/** `mrlm serve`: hosts environments over gRPC. */
export const serveCommand: CommandModule = (program, start) => {
  program
    .command("serve")
    .description("host environments as a gRPC server")
    .option("--environments <names>", "comma-separated, for example math,code; default: all that are installed")
    .option("--port <port>", "0 for any free one", "50051")
    .option("--host <address>", "address to listen on", "127.0.0.1")
    .option("--config <path>", "configuration whose plugins and their options are used")
    .addOption(setFlag())
    .option("--token-file <path>", "file with a token that every call must carry, health checks excepted")
    .option("--data-root <folder>", "options of clients may name files below it; default: the working directory")
    .option(
      "--any-data",
      "options may name any file that you can read, --data-root or not; needs --token-file (for a parent process)",
    )
    .option(
      "--demonstrations",
      "give clients the worked solutions of training tasks, for SFT; their options decide which tasks these are",
    )
    .option("--unsafe-sandbox", "serve others even where no operating-system jail holds what a model wrote")
    .option("--until-stdin-ends", "end when standard input does (for a parent process)")
    .action(async (options: ServeOptions) => (await import("../commands/serve.ts")).serve(start(), options));
};
