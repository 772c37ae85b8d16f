import { isIPv6 } from "node:net";
import { configuredPlugins, type EnvironmentSource, loadConfig, PluginHost } from "@mrlm/runtime";
import { serveEnvironments } from "@mrlm/server";
import { defined, MrlmError } from "@mrlm/spec";
import type { CommandContext } from "../command-context.ts";
import type { ServeOptions } from "../declarations/serve.ts";
import { listenForInterrupts } from "../interrupts.ts";
import { dialectServers } from "../services/dialect-server.ts";
import { hostEnvironments } from "../services/hosted-environments.ts";
import { reloadWorkers } from "../services/reload-workers.ts";
import { requireJails, sandboxesOfClients } from "../services/sandboxes.ts";
import { selectedEnvironments } from "../services/selected-environments.ts";
import { isLoopback, serverAccess } from "../services/server-access.ts";
import { serverConsole, serverLogger, startMetrics, workerOutput } from "../services/server-observation.ts";
import { sessionLimits } from "../services/session-limits.ts";

/** Port by default. */
const PORT = 50_051;

/** Serves environments until it is interrupted, or its standard input ends. */
export async function serveEnvironmentHost(
  { console, directory }: CommandContext,
  options: ServeOptions,
): Promise<void> {
  const http = await dialectServers(options);
  if (options.anyData === true && options.tokenFile === undefined)
    throw new MrlmError("USAGE", "--any-data lets clients name any file that you can read: it needs --token-file.");
  if (options.config === undefined && options.set !== undefined)
    throw new MrlmError("USAGE", "--set is for the keys of a configuration: give --config too.");
  const loaded =
    options.config === undefined ? undefined : loadConfig(options.config, { overrides: options.set ?? [] });
  const logger = await serverLogger(options, console);
  const { close: closeAccess, ...access } = serverAccess(options, logger);
  const plugins = await PluginHost.discover({
    directory,
    logger,
    ...(loaded === undefined ? {} : configuredPlugins(loaded)),
  });
  const isSpawned = options.untilStdinEnds === true;
  const chosen = options.environments ?? (isSpawned ? "all" : undefined);
  const source = await selectedEnvironments(plugins, chosen);
  const { drainMs, ...limits } = sessionLimits(options, loaded?.config.server ?? {}, {
    offered: source.environments(),
    isOwn: isSpawned,
  });
  // Instruments do nothing that are made before the metrics are served.
  const metrics = await startMetrics(options);
  const count = workerCount(options.workers, { source, isSpawned });
  if (options.reload === true && count === 0)
    throw new MrlmError("USAGE", "--reload replaces workers, and this server has none: modules cannot be unloaded.", {
      hint: "Start it with workers: mrlm serve --workers 1 --reload.",
    });
  const hosted = await hostEnvironments({
    source,
    limits,
    request: {
      directory,
      config: options.config === undefined ? undefined : { path: options.config, set: options.set ?? [] },
      environments: chosen,
      dataRoot: options.dataRoot ?? directory,
      anyData: options.anyData === true,
      logsJson: options.log === "json",
    },
    workers: count,
    workerMemoryMb: workerMemory(options.workerMemoryMb, count),
    isSpawned,
    logger,
    print: workerOutput(options, console, logger),
  });
  const { host, sessions, workers } = hosted;
  try {
    const offered = (await host.list()).map(({ id }) => id);
    const isPublic = !isLoopback(options.host);
    const mustBeJailed = isPublic && options.unsafeSandbox !== true;
    if (mustBeJailed) await requireJails(plugins, offered);
    const at = isIPv6(options.host) ? `[${options.host}]` : options.host;
    const shared = { host, logger, ...access };
    const server = await serveEnvironments({
      ...shared,
      ...defined({ sessions, workers }),
      address: `${at}:${options.port ?? PORT}`,
      demonstrations: options.demonstrations === true,
    });
    try {
      const sandboxes = await sandboxesOfClients(plugins, http?.runsCode, {
        ...{ mustBeJailed, isPublic, logger, environments: offered },
        ...defined({ tokens: access.tokens }),
      });
      const dialects = http && (await http.start(at, { ...shared, ...(await hosted.forDialects()), sandboxes }));
      const interrupts = listenForInterrupts(serverConsole(options, console, logger), "finishing the calls under way");
      const address = `${at}:${server.port}`;
      console.print(`serving ${offered.join(", ")} on ${address}`);
      for (const line of dialects?.lines ?? []) console.print(line);
      if (metrics !== undefined) console.print(`serving metrics on http://${metrics.address}/metrics`);
      console.emit({
        event: "listening",
        address,
        pid: process.pid,
        environments: offered,
        ...dialects?.event,
        ...(metrics && { metrics: metrics.address }),
      });
      const endReload =
        workers !== undefined && options.reload === true
          ? reloadWorkers(workers, {
              ...{ plugins, drainMs, logger },
              onReloaded: (ids) => ids.forEach((id) => server.setServing(id, true)),
            })
          : undefined;
      await ended(interrupts.drain, isSpawned);
      endReload?.();
      await Promise.all([server.close(drainMs), dialects?.close(drainMs)]);
      interrupts.dispose();
    } finally {
      await server.close();
    }
  } finally {
    await hosted.close();
    await metrics?.close();
    closeAccess();
  }
}

function ended(signal: AbortSignal, withStdin: boolean): Promise<void> {
  return new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve(), { once: true });
    if (withStdin)
      process.stdin
        .on("end", resolve)
        .on("error", () => resolve())
        .resume();
  });
}

/** Returns the number of workers. Default: 1 for a server that was started by hand and offers a plugin of others, else 0. */
function workerCount(
  given: number | undefined,
  { source, isSpawned }: { readonly source: EnvironmentSource; readonly isSpawned: boolean },
): number {
  if (given !== undefined) return given;
  const isOurs = (id: string): boolean => source.packageOf(id)?.name.startsWith("@mrlm/") === true;
  return isSpawned || source.environments().every(isOurs) ? 0 : 1;
}

/** Returns the memory limit of a worker. Throws USAGE without workers. */
function workerMemory(given: number | undefined, workers: number): number | undefined {
  if (given === undefined || workers > 0) return given;
  throw new MrlmError("USAGE", "--worker-memory-mb limits workers, and this server has none.", {
    hint: "Start it with workers: mrlm serve --workers 1 --worker-memory-mb 1024.",
  });
}
