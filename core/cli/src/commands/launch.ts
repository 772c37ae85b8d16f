import { resolve } from "node:path";
import { configuredPlugins, createLauncher, loadConfig, PluginHost, RunDirectory } from "@mrlm/runtime";
import { MrlmError } from "@mrlm/spec";
import type { CommandContext } from "../command-context.ts";
import { lineLogger } from "../console/line-logger.ts";
import type { LaunchOptions } from "../declarations/launch.ts";
import { LaunchedParts } from "../services/launched-parts.ts";
import { firstParts, type LaunchedRun, laterParts } from "../services/part-commands.ts";
import { train } from "./train.ts";
import { plainJson } from "../services/plain-json.ts";

/** Starts the parts of a configuration by its launcher, and trains in this process. Returns the exit code of the training. */
export async function launch(context: CommandContext, args: LaunchOptions): Promise<number> {
  const { console, directory } = context;
  const notice = (text: string): void => console.note(`note: ${text}`);
  const run = launchedRun(args);
  const { loaded } = run;
  if ((loaded.config.parts ?? []).length === 0)
    throw new MrlmError("CONFIG_INVALID", `${loaded.source.name} has no \`parts\` to start.`, {
      hint: "Add some, for example `parts: [{ kind: rollouts, count: 2 }]`, or use mrlm train.",
    });
  // Faults of the later parts are found before anything starts.
  laterParts(run, "");
  const first = firstParts(run);
  const logger = lineLogger(notice);
  const plugins = await PluginHost.discover({ directory, logger, ...configuredPlugins(loaded) });
  try {
    const launcher = await createLauncher(loaded, plugins);
    const parts = new LaunchedParts(launcher, notice, (event) => console.emit({ event: "part", ...plainJson(event) }));
    try {
      await parts.start(first);
      let later: Promise<void> = Promise.resolve();
      const exitCode = await train(context, args, (path) => {
        later = parts
          .start(laterParts(run, path))
          .catch((error: Error) => notice(`the run continues without some of its parts: ${error.message}`));
      });
      await later;
      return exitCode;
    } finally {
      await parts.stop();
    }
  } finally {
    await plugins.close();
  }
}

function launchedRun({ config, set = [], resume }: LaunchOptions): LaunchedRun {
  const mrlm = [process.execPath, ...process.execArgv, process.argv[1] as string] as const;
  if (resume !== undefined) {
    const { configPath } = RunDirectory.open(resume);
    return { loaded: loadConfig(configPath), configPath, overrides: [], mrlm };
  }
  if (config === undefined)
    throw new MrlmError("USAGE", "launch needs --config FILE, or --resume RUN to continue one.");
  return { loaded: loadConfig(config, { overrides: set }), configPath: resolve(config), overrides: set, mrlm };
}
