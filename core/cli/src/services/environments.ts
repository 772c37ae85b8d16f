import { connectEnvironments } from "@mrlm/client";
import { LocalHost, type PluginHost, type ResolvedConfig, watchEventLoop } from "@mrlm/runtime";
import { MrlmError } from "@mrlm/spec";
import type { EnvironmentHost } from "@mrlm/spec/host";
import { lineLogger } from "../console/line-logger.ts";
import { startEnvironmentServer } from "./environment-server.ts";
import { serverCredentials } from "./client-access.ts";

/** Environments of a run: on a server, in a started process, or in this process. */
export interface EnvironmentService {
  readonly host: EnvironmentHost;
  /** Environments of this process, whose scripted policies can act as players. */
  readonly scripts: Pick<EnvironmentHost, "scripted">;
  /** Aborts, with the reason, when the environments cannot be reached again. */
  readonly lost: AbortSignal;
  stop(): Promise<void>;
}

/** Parts and options of the environments of a run. */
interface EnvironmentOptions {
  readonly config: ResolvedConfig;
  readonly configPath: string;
  /** `--set KEY=VALUE` flags, which replace keys of the file. */
  readonly overrides: readonly string[];
  readonly directory: string;
  readonly plugins: PluginHost;
  /** Base directory of the files in options. Default: the base directory of the configuration's paths. */
  readonly dataDirectory?: string;
  readonly notice: (line: string) => void;
  /** Whether an error that ends this process is also an event on stdout. */
  readonly json: boolean;
  /** Receives the process of a started server. */
  readonly onStarted?: (process: { readonly pid: number; readonly address: string }) => void;
}

/**
 * Opens environments that describe tasks and demonstrate, and are not played: in this process if their packages are installed here, else as
 * `openEnvironments` does.
 */
export async function openDescribed(options: EnvironmentOptions): Promise<EnvironmentService> {
  const { config, plugins } = options;
  const { address: _, ...server } = config.server;
  const isHere = ({ id }: { readonly id: string }): Promise<boolean> =>
    plugins.environment(id).then(
      () => true,
      (error: unknown) => {
        if (MrlmError.hasCode(error, "ENVIRONMENT_NOT_FOUND")) return false;
        throw error;
      },
    );
  const found = await Promise.all([...config.environments, ...config.eval.environments].map(isHere));
  if (!found.every(Boolean)) return openEnvironments(options);
  return openEnvironments({ ...options, config: { ...config, server: { ...server, spawn: false } } });
}

/** Connects to the server that the configuration names, starts one, or hosts the environments in this process. */
export async function openEnvironments(options: EnvironmentOptions): Promise<EnvironmentService> {
  const { config, plugins, dataDirectory = config.base_directory } = options;
  const never = new AbortController().signal;
  const logger = lineLogger(options.notice);
  // Its services are those of the plugins, which the caller closes.
  const scripts = new LocalHost({ source: plugins, logger, dataDirectory });
  const reconnect = { reconnectMs: config.server.reconnect_seconds * 1000 };
  if (config.server.address !== undefined) {
    const host = await connectEnvironments(config.server.address, {
      ...reconnect,
      logger,
      ...serverCredentials(config.server),
    });
    return { host, scripts, lost: never, stop: () => host.close() };
  }
  if (!config.server.spawn) {
    const host = scripts;
    const endWatch = watchEventLoop({ stderr: "text", ...(options.json ? { event: "error" } : {}), ends: true });
    return {
      host,
      scripts,
      lost: never,
      stop: async () => {
        try {
          await host.close();
        } finally {
          await endWatch();
        }
      },
    };
  }
  const server = await startEnvironmentServer({ ...options, dataDirectory });
  const host = await connectEnvironments(server.address, { ...reconnect, token: server.token }).catch(
    async (error: unknown) => {
      await server.stop();
      throw error;
    },
  );
  return {
    host,
    scripts,
    lost: server.lost,
    async stop() {
      await host.close();
      await server.stop();
    },
  };
}

/** Waits for work that needs the environments. Rejects with the reason if they are lost before it ends. */
export async function unlessLost<T>(lost: AbortSignal, work: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const onLost = (): void => reject(lost.reason as Error);
  if (lost.aborted) onLost();
  lost.addEventListener("abort", onLost);
  try {
    return await Promise.race([work, promise]);
  } finally {
    lost.removeEventListener("abort", onLost);
  }
}
