import { configuredPlugins, type LoadedConfig, PluginHost, type PreparedRun, prepareRun } from "@mrlm/runtime";
import type { Engine, EnvironmentHost, Logger } from "@mrlm/spec";
import type { CommandContext } from "../command-context.ts";
import { lineLogger } from "../console/line-logger.ts";
import { listenForInterrupts } from "../interrupts.ts";
import { assertEngineInstalled, startsEngine } from "./engine.ts";
import { openEngines } from "./engines.ts";
import { openEnvironments, unlessLost } from "./environments.ts";

/** Parts with which the records of a run are computed again. */
export interface RecordedRunParts {
  readonly prepared: PreparedRun;
  readonly host: EnvironmentHost;
  readonly engine: Engine;
  readonly isEngineShared: boolean;
  /** Versions of the plugins by name. */
  readonly plugins: Readonly<Record<string, string>>;
  readonly logger: Logger;
  readonly notice: (text: string) => void;
  /** Aborted by Ctrl-C, or with the reason for which the environments are lost. */
  readonly stop: AbortSignal;
}

/** Opens plugins, environments and engine of a recorded run as `mrlm train` does, and closes them after the work. */
export async function withRecordedRun<T>(
  { console, directory }: CommandContext,
  { loaded, configPath }: { readonly loaded: LoadedConfig; readonly configPath: string },
  work: (parts: RecordedRunParts) => Promise<T>,
): Promise<T> {
  const { config } = loaded;
  const notice = (text: string): void => console.note(`note: ${text}`);
  const logger = lineLogger(notice);
  const plugins = await PluginHost.discover({ directory, logger, ...configuredPlugins(loaded) });
  const interrupts = listenForInterrupts(
    console,
    () => "stopping",
    () => undefined,
  );
  const cleanUp: (() => Promise<void>)[] = [() => plugins.close()];
  try {
    await assertEngineInstalled(config, plugins);
    const environments = await openEnvironments({
      config,
      configPath,
      overrides: [],
      directory,
      plugins,
      notice,
      json: console.json,
    });
    cleanUp.unshift(() => environments.stop());
    const prepared = await unlessLost(
      environments.lost,
      prepareRun(loaded, { host: environments.host, scripts: environments.scripts, algorithms: plugins }),
    );
    if (startsEngine(config)) console.note("starting the engine (loading torch)");
    const { engine, isShared, stop } = await openEngines({
      config: prepared.config,
      plugins,
      signal: interrupts.drain,
      notice,
    });
    cleanUp.unshift(stop);
    return await work({
      prepared,
      host: environments.host,
      engine,
      isEngineShared: isShared,
      plugins: Object.fromEntries(plugins.registry.entries.map(({ name, version }) => [name, version])),
      logger,
      notice,
      stop: AbortSignal.any([interrupts.drain, environments.lost]),
    });
  } finally {
    interrupts.dispose();
    for (const close of cleanUp) await close().catch((error: Error) => console.note(`note: ${error.message}`));
  }
}
