import { Command, Help } from "commander";
import type { CommandContext, CommandModule } from "./command.ts";
import { collectCommand } from "./syntax/collect.ts";
import { doctorCommand } from "./syntax/doctor.ts";
import { engineCommand } from "./syntax/engine.ts";
import { evalCommand } from "./syntax/eval.ts";
import { infoCommand } from "./syntax/info.ts";
import { joinCommand } from "./syntax/join.ts";
import { renderCommand } from "./syntax/render.ts";
import { scoreCommand } from "./syntax/score.ts";
import { serveCommand } from "./syntax/serve.ts";
import { showCommand } from "./syntax/show.ts";
import { trainCommand } from "./syntax/train.ts";
import { createConsole } from "./console/console.ts";
import { VERSION } from "./version.ts";

const COMMANDS: readonly CommandModule[] = [
  trainCommand,
  joinCommand,
  evalCommand,
  collectCommand,
  showCommand,
  renderCommand,
  doctorCommand,
  serveCommand,
  infoCommand,
  scoreCommand,
  engineCommand,
];
const JSON_FLAG = ["--json", "results as one JSON object a line on stdout"] as const;

/** The command line: its commands and flags. */
export interface Program {
  readonly command: Command;
  /** What a command gets beside its own options. */
  context(): CommandContext;
}

/** @param finish told of an exit code other than 0 that is no error */
export function createProgram(finish: (exitCode: number) => void): Program {
  const command = new Command("mrlm")
    .description("Reinforcement learning of language models in environments written in TypeScript")
    .version(VERSION, "-V, --version")
    .option(...JSON_FLAG)
    .configureHelp({
      optionDescription: (option) => `${option.mandatory ? "(required) " : ""}${new Help().optionDescription(option)}`,
    })
    // What is wrong with the command line is reported as every other error is.
    .configureOutput({ outputError: () => undefined })
    .exitOverride();
  const context = (): CommandContext => ({
    console: createConsole({ json: command.opts<{ json?: boolean }>().json === true }),
    directory: process.cwd(),
  });
  for (const add of COMMANDS) add(command, context, finish);
  // The flag may stand before the command or after it.
  for (const leaf of leaves(command))
    leaf
      .option(...JSON_FLAG)
      .hook("preAction", () => void (leaf.opts<{ json?: boolean }>().json && command.setOptionValue("json", true)));
  return { command, context };
}

/** Commands that do something, as `engine setup` does and `engine` does not. */
export function leaves(command: Command): Command[] {
  return command.commands.flatMap((child) => (child.commands.length > 0 ? leaves(child) : [child]));
}
