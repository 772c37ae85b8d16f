import { configuredPlugins, type LoadedConfig, PluginHost } from "@mrlm/runtime";
import { type Logger, MrlmError } from "@mrlm/spec";
import type { Engine } from "@mrlm/spec/host";
import type { CommandContext } from "../command-context.ts";
import { lineLogger } from "../console/line-logger.ts";
import { listenForInterrupts } from "../interrupts.ts";
import { assertEngineInstalled, startsEngine } from "./engine.ts";
import { openEngines } from "./engines.ts";

/** Parts with which the records of a run are computed again. */
export interface RecordedRunParts {
  readonly plugins: PluginHost;
  readonly logger: Logger;
  readonly notice: (text: string) => void;
  /** Aborted by Ctrl-C. */
  readonly stop: AbortSignal;
  /** Opens the engine as `mrlm train` does. */
  openEngine(): Promise<{ readonly engine: Engine; readonly isShared: boolean }>;
  /** Adds work for the end, which is done before that of earlier calls. */
  atEnd(close: () => Promise<void>): void;
}

/** Opens the plugins of a recorded run, and closes what the work opened. Returns `undefined` after an interrupt. */
export async function withRecordedRun<T>(
  { console, directory }: CommandContext,
  loaded: LoadedConfig,
  work: (parts: RecordedRunParts) => Promise<T>,
): Promise<T | undefined> {
  const { config } = loaded;
  const notice = (text: string): void => console.note(`note: ${text}`);
  const logger = lineLogger(notice);
  const plugins = await PluginHost.discover({ directory, logger, ...configuredPlugins(loaded) });
  const interrupts = listenForInterrupts(console, "stopping");
  const cleanUp: (() => Promise<void>)[] = [() => plugins.close()];
  try {
    await assertEngineInstalled(config, plugins);
    return await work({
      plugins,
      logger,
      notice,
      stop: interrupts.drain,
      async openEngine() {
        if (startsEngine(config)) console.note("starting the engine (loading torch)");
        const opened = await openEngines({ config, plugins, signal: interrupts.drain, notice });
        cleanUp.unshift(opened.stop);
        return opened;
      },
      atEnd: (close) => void cleanUp.unshift(close),
    });
  } catch (error) {
    const { aborted, reason } = interrupts.drain;
    if (aborted && (error === reason || MrlmError.hasCode(error, "CANCELLED"))) return undefined;
    throw error;
  } finally {
    interrupts.dispose();
    for (const close of cleanUp) await close().catch((error: Error) => console.note(`note: ${error.message}`));
  }
}
