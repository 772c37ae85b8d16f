import { connectEnvironments } from "@mrlm/client";
import { LocalHost, type PluginHost, type ResolvedConfig, watchEventLoop } from "@mrlm/runtime";
import type { EnvironmentHost } from "@mrlm/spec";
import { lineLogger } from "../console/line-logger.ts";
import { startEnvironmentServer } from "./environment-server.ts";
import { tokenOption } from "./token.ts";

/** Environments of a run, wherever its configuration says they are. */
export interface EnvironmentService {
  readonly host: EnvironmentHost;
  /** Aborted, with the reason, when they are lost for good. */
  readonly lost: AbortSignal;
  stop(): Promise<void>;
}

/** Connects to the server that the configuration names, starts one, or hosts the environments in this process. */
export async function openEnvironments(options: {
  readonly config: ResolvedConfig;
  readonly configPath: string;
  /** Keys that are set over the file's. */
  readonly overrides: readonly string[];
  readonly directory: string;
  readonly plugins: PluginHost;
  /** Where files that options name are looked for; default: what the configuration's paths are relative to. */
  readonly dataDirectory?: string;
  readonly notice: (line: string) => void;
  /** What ends this process is said on stdout too. */
  readonly json: boolean;
  /** Told of a server that was started. */
  readonly onStarted?: (process: { readonly pid: number; readonly address: string }) => void;
}): Promise<EnvironmentService> {
  const { config, plugins, dataDirectory = config.base_directory } = options;
  const never = new AbortController().signal;
  const patience = { reconnectMs: config.server.reconnect_seconds * 1000 };
  if (config.server.address !== undefined) {
    const host = await connectEnvironments(config.server.address, {
      ...patience,
      ...tokenOption(config.server.token_file),
    });
    return { host, lost: never, stop: () => host.close() };
  }
  if (!config.server.spawn) {
    const host = new LocalHost({ source: plugins, logger: lineLogger(options.notice), dataDirectory });
    const endWatch = watchEventLoop({ stderr: true, ...(options.json ? { event: "error" } : {}), ends: true });
    return {
      host,
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
  const host = await connectEnvironments(server.address, { ...patience, token: server.token }).catch(
    async (error: unknown) => {
      await server.stop();
      throw error;
    },
  );
  return {
    host,
    lost: server.lost,
    async stop() {
      await host.close();
      await server.stop();
    },
  };
}

/** Waits for work that needs the environments; rejects with the reason when they are lost meanwhile. */
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
