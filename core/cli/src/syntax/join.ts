import type { CommandModule } from "../command.ts";
import type { JoinArguments } from "../commands/join.ts";

/** `mrlm join`: lends this machine's processors to a run that another machine starts. */
export const joinCommand: CommandModule = (program, start, finish) => {
  program
    .command("join")
    .description(
      "run this machine's part of a run of several machines, which `mrlm train` starts on machine 0, until that run ends",
    )
    .requiredOption("--config <path>", "YAML configuration: the one that machine 0 trains with")
    .requiredOption("--node-rank <n>", "number of this machine: 1 for the second of distributed.nnodes")
    .action(async (args: JoinArguments) => finish(await (await import("../commands/join.ts")).join(start(), args)));
};
