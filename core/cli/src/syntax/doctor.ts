import type { CommandModule } from "../command.ts";

/** `mrlm doctor`: says in words what looks wrong with a run, and what to try. */
export const doctorCommand: CommandModule = (program, start, finish) => {
  program
    .command("doctor")
    .description("say what looks wrong with a run, finished or under way, and what to try")
    .argument("<run>", "a run's directory")
    .action(async (path: string) => finish((await import("../commands/doctor.ts")).doctor(start(), path)));
};
