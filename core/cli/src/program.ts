import { Command, type CommandUnknownOpts, Help, type OptionValues } from "@commander-js/extra-typings";
import type { CommandContext } from "./command-context.ts";
import { createConsole, type OutputStreams } from "./console/console.ts";
import { declareCheck } from "./declarations/check.ts";
import { declareCollect } from "./declarations/collect.ts";
import { declareCreate } from "./declarations/create.ts";
import { declareDoctor } from "./declarations/doctor.ts";
import { declareSetup } from "./declarations/engine.ts";
import { declareEval } from "./declarations/eval.ts";
import { declareImprove } from "./declarations/improve.ts";
import { declareInfo } from "./declarations/info.ts";
import { declareJoin } from "./declarations/join.ts";
import { declareLaunch } from "./declarations/launch.ts";
import { declareGetModel, declareListModels, declareRemoveModel } from "./declarations/models.ts";
import { declarePlay } from "./declarations/play.ts";
import { declareAdd, declareList, declareRemove, declareSearch } from "./declarations/plugins.ts";
import { declarePublish } from "./declarations/publish.ts";
import { declareQuery } from "./declarations/query.ts";
import { declareRender } from "./declarations/render.ts";
import { declareReplay } from "./declarations/replay.ts";
import { declareReport } from "./declarations/report.ts";
import { declareSample } from "./declarations/sample.ts";
import { declareScore } from "./declarations/score.ts";
import { declareServe } from "./declarations/serve.ts";
import { declareShow } from "./declarations/show.ts";
import { declareStoreServe } from "./declarations/store.ts";
import { declareTrain } from "./declarations/train.ts";
import { declareTry } from "./declarations/try.ts";
import { declareUi } from "./declarations/ui.ts";
import { declareVerify } from "./declarations/verify.ts";
import { VERSION } from "./version.ts";

const JSON_FLAG = ["--json", "results as one JSON object a line on stdout"] as const;

/**
 * Declares every command in the order of the help. Each imports its module when it runs, so that no command loads the code of another.
 * @param finish receives an exit code other than 0 that is no error
 */
export function createProgram(
  finish: (exitCode: number) => void,
  { stdout, stderr }: OutputStreams = process,
): CommandUnknownOpts {
  const program = new Command("mrlm")
    .description("Reinforcement learning of language models in environments written in TypeScript")
    .version(VERSION, "-V, --version")
    .option(...JSON_FLAG)
    .configureHelp({
      optionDescription: (option) => `${option.mandatory ? "(required) " : ""}${new Help().optionDescription(option)}`,
    })
    // run-cli.ts reports errors of the command line in the form of every other error.
    .configureOutput({ outputError: () => undefined, writeOut: (text) => void stdout.write(text) })
    .exitOverride();
  const context = (): CommandContext => ({
    console: createConsole({ json: program.opts().json === true, stdout, stderr }),
    directory: process.cwd(),
  });

  /** Adds a command. `run` returns an exit code, or nothing for 0. */
  function add<Args extends unknown[], Options extends OptionValues>(
    command: Command<Args, Options>,
    run: (context: CommandContext, ...given: [...Args, Options]) => Promise<number | void>,
    parent: CommandUnknownOpts = program,
  ): void {
    parent.addCommand(command.copyInheritedSettings(program));
    command
      // The flag may stand before the command or after it.
      .option(...JSON_FLAG)
      .on("option:json", () => program.setOptionValue("json", true))
      .action(async (...given) => {
        const [args, options] = [given.slice(0, -2) as Args, given.at(-2) as Options];
        finish((await run(context(), ...args, options)) ?? 0);
      });
  }

  add(declareTrain(), async (...given) => (await import("./commands/train.ts")).train(...given));
  add(declareLaunch(), async (...given) => (await import("./commands/launch.ts")).launch(...given));
  add(declarePlay(), async (...given) => (await import("./commands/play.ts")).play(...given));
  add(declareSample(), async (...given) => (await import("./commands/sample.ts")).sample(...given));
  const store = program.command("store").description("the episode store of a run");
  add(declareStoreServe(), async (...given) => (await import("./commands/store-serve.ts")).serveStore(...given), store);
  add(declareReplay(), async (...given) => (await import("./commands/replay.ts")).replay(...given));
  add(declareVerify(), async (...given) => (await import("./commands/verify.ts")).verify(...given));
  add(declareJoin(), async (...given) => (await import("./commands/join.ts")).join(...given));
  add(declareEval(), async (...given) => (await import("./commands/eval.ts")).runEval(...given));
  add(declareTry(), async (...given) => (await import("./commands/try.ts")).tryEnvironment(...given));
  add(declareImprove(), async (...given) => (await import("./commands/improve.ts")).improve(...given));
  add(declareCollect(), async (...given) => (await import("./commands/collect.ts")).runCollect(...given));
  add(declareShow(), async (...given) => (await import("./commands/show.ts")).show(...given));
  add(declareQuery(), async (...given) => (await import("./commands/query.ts")).query(...given));
  add(declareRender(), async (...given) => (await import("./commands/render.ts")).render(...given));
  add(declareUi(), async (...given) => (await import("./commands/ui.ts")).ui(...given));
  add(declareReport(), async (...given) => (await import("./commands/report.ts")).report(...given));
  add(declareDoctor(), async (given, paths) => (await import("./commands/doctor.ts")).doctor(given, paths));
  add(declareServe(), async (...given) => (await import("./commands/serve.ts")).serve(...given));
  add(declareCreate(), async (...given) => (await import("./commands/create.ts")).createPlugin(...given));
  add(declareCheck(), async (...given) => (await import("./commands/check.ts")).check(...given));
  add(declarePublish(), async (...given) => (await import("./commands/publish.ts")).publish(...given));
  const plugins = program.command("plugins").description("find, install, list and remove plugins");
  const ofPlugins = () => import("./commands/plugins.ts");
  add(declareSearch(), async (given, words) => (await ofPlugins()).searchPlugins(given, words), plugins);
  add(declareAdd(), async (...given) => (await ofPlugins()).addPlugin(...given), plugins);
  add(declareList(), async (...given) => (await ofPlugins()).listPlugins(...given), plugins);
  add(declareRemove(), async (given, name) => (await ofPlugins()).removePlugin(given, name), plugins);
  const models = program
    .command("models")
    .description("models of the Hugging Face Hub and of GGUF files on this machine");
  const ofModels = () => import("./commands/models.ts");
  add(declareGetModel(), async (given, name) => (await ofModels()).getModel(given, name), models);
  add(declareListModels(), async (given) => (await ofModels()).listModels(given), models);
  add(declareRemoveModel(), async (given, name) => (await ofModels()).removeModel(given, name), models);
  add(declareInfo(), async (...given) => (await import("./commands/info.ts")).info(...given));
  add(declareScore(), async (...given) => (await import("./commands/score.ts")).scoreRows(...given));
  const engine = program.command("engine").description("the engine that loads and trains models");
  add(declareSetup(), async (...given) => (await import("./commands/engine.ts")).setUpEngine(...given), engine);
  return program;
}

/** Returns the commands with their own action, such as `engine setup` but not `engine`. */
export function leaves(command: CommandUnknownOpts): CommandUnknownOpts[] {
  return command.commands.flatMap((child) => (child.commands.length > 0 ? leaves(child) : [child]));
}
