import { connectEnvironments } from "@mrlm/client";
import { type EnvironmentSource, LocalHost, serveServices, watchEventLoop } from "@mrlm/runtime";
import { serveEnvironments, startWorkers, type WorkerPool } from "@mrlm/server";
import { type SessionLimits, SessionTable } from "@mrlm/server/sessions";
import { defined, type Logger } from "@mrlm/spec";
import type { EnvironmentHost } from "@mrlm/spec/host";
import { environmentWorkers } from "./environment-workers.ts";
import type { WorkerRequest } from "./worker-request.ts";

/** Options of {@link hostEnvironments}. */
interface HostOptions {
  readonly source: EnvironmentSource;
  readonly request: Omit<WorkerRequest, "link" | "record" | "leaseMs" | "name">;
  readonly limits: SessionLimits;
  /** 0: this process hosts the environments. */
  readonly workers: number;
  readonly workerMemoryMb: number | undefined;
  /** The server belongs to the process that started it. */
  readonly isSpawned: boolean;
  readonly logger: Logger;
  readonly print: (name: string, line: string) => void;
}

/** Environments of a server, in this process or in workers. */
export interface HostedEnvironments {
  readonly host: EnvironmentHost;
  readonly workers?: WorkerPool;
  /** Sessions of this process; absent with workers. */
  readonly sessions?: SessionTable;
  /** Environments and sessions for the other protocols. */
  forDialects(): Promise<{ readonly host: EnvironmentHost; readonly sessions: SessionTable }>;
  close(): Promise<void>;
}

/** Hosts environments in this process, or starts workers that do. */
export async function hostEnvironments(options: HostOptions): Promise<HostedEnvironments> {
  return options.workers === 0 ? hostHere(options) : hostInWorkers(options);
}

function hostHere({ source, request, limits, isSpawned, logger }: HostOptions): HostedEnvironments {
  const { dataRoot, anyData } = request;
  // A server that belongs to a run reports a blocked event loop to the run, which ends; any other server continues when the loop is free.
  const endWatch = watchEventLoop(
    isSpawned
      ? { event: "blocked", ends: true, parent: process.ppid }
      : { stderr: request.logsJson ? "json" : "text", ends: false },
  );
  const host = new LocalHost({ source, logger, ...(anyData ? { dataDirectory: dataRoot } : { dataRoot }) });
  const sessions = new SessionTable(host, limits, logger);
  return {
    host,
    sessions,
    forDialects: async () => ({ host, sessions }),
    async close() {
      await host.close();
      await endWatch();
    },
  };
}

async function hostInWorkers(options: HostOptions): Promise<HostedEnvironments> {
  const { limits, workers: count, workerMemoryMb, logger, print } = options;
  const starter = environmentWorkers({
    request: { ...options.request, leaseMs: limits.leaseMs },
    print,
    onStarted: (channels) => serveServices(channels.channel("services"), options.source),
    ...defined({ memoryMb: workerMemoryMb }),
  });
  try {
    const workers = await startWorkers({ ...limits, count, start: starter.start, logger });
    const closers: (() => Promise<void>)[] = [];
    return {
      host: workers.host,
      workers,
      async forDialects() {
        // The other protocols are clients of the workers like any other, over a socket that only this user can open.
        const address = `unix:${starter.socket}`;
        const server = await serveEnvironments({ host: workers.host, workers, address, logger, demonstrations: true });
        const host = await connectEnvironments(address);
        closers.push(
          () => host.close(),
          () => server.close(),
        );
        return { host, sessions: new SessionTable(host, { maxSessions: Infinity }, logger) };
      },
      async close() {
        for (const close of closers) await close();
        await workers.stop(0);
        starter.close();
        await options.source.close();
      },
    };
  } catch (error) {
    starter.close();
    throw error;
  }
}
