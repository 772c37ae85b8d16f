import type { CommandModule } from "../command.ts";

/** `mrlm doctor`: prints what looks wrong with a run or its results, and what to try. */
export const doctorCommand: CommandModule = (program, start, finish) => {
  program
    .command("doctor")
    .description(
      "say what looks wrong with a run (finished, failed or under way), with an evaluation's results or with recorded episodes, and what to try",
    )
    .argument("<path>", "a run's directory, a file of `mrlm eval --output`, or a file of `mrlm collect`")
    .action(async (path: string) => finish(await (await import("../commands/doctor.ts")).doctor(start(), path)));
};
