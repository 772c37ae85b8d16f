import { silentLogger } from "@mrlm/kit/service";
import { type Channel, serveCalls } from "@mrlm/process";
import { type Logger, MrlmError } from "@mrlm/spec";
import type { EnvironmentDescription, EnvironmentHost } from "@mrlm/spec/host";
import { errorCodec } from "@mrlm/wire";
import type { StatusObject } from "@grpc/grpc-js";
import { acceptHere } from "../service/session-requests.ts";
import { logFault } from "../sessions/log-fault.ts";
import { SessionTable } from "../sessions/session-table.ts";
import type { SessionLimits } from "../sessions/sessions.ts";
import type { FramedStream } from "./framed-stream.ts";
import { type LinkAddress, listenForLinks } from "./link.ts";
import type { FromWorker, ToWorker, WorkerCalls } from "./worker-messages.ts";

/** Options of {@link serveWorker}. */
export interface ServeWorkerOptions extends Pick<SessionLimits, "leaseMs" | "maxLeaseMs"> {
  readonly host: EnvironmentHost;
  /** Connection to the server process. */
  readonly channel: Channel;
  readonly link: LinkAddress;
  /** Largest message in bytes. Default: 64 MiB. */
  readonly maxMessageBytes?: number;
  readonly logger?: Logger;
}

/** The server process admits sessions. */
const UNLIMITED = { maxSessions: Infinity, maxQueue: Infinity };
/** A process whose event loop has not advanced for much longer than this is blocked. */
const BEAT_MS = 1_000;

/**
 * Serves the sessions of a worker to the process that owns the port, until that requests its end.
 * @returns when the worker has to end
 */
export async function serveWorker(options: ServeWorkerOptions): Promise<void> {
  const { host, channel, link, logger = silentLogger, maxMessageBytes = 64 << 20 } = options;
  const notify = (message: FromWorker): void => notice(message);
  let ended: string[] = [];
  const table = new SessionTable(host, { ...options, ...UNLIMITED }, logger, (key) => {
    if (ended.push(key) > 1) return;
    setImmediate(() => {
      const sessions = ended;
      ended = [];
      reportEnded(sessions);
    });
  });
  const reportEnded = (sessions: readonly string[]): void =>
    notify({ type: "ended", sessions, expired: table.stats.expired });
  const started = Promise.withResolvers<readonly EnvironmentDescription[]>();
  const stopped = Promise.withResolvers<void>();
  const notice = serveCalls<WorkerCalls>(channel, {
    answer: async (method, args, { signal }) => {
      const [ref, tasks] = args as Parameters<WorkerCalls["demonstrate"]>;
      if (method === "start") return started.promise;
      if (method === "probe") return probe(host);
      if (method === "list") return host.list();
      return method === "describe" ? host.describe(ref) : host.demonstrate(ref, tasks, { signal });
    },
    // An error without a code may contain private data: the log has it.
    toSent: (error) => {
      logFault(logger, error);
      return errorCodec.decode(errorCodec.encode(error));
    },
    onNotice: (body) => {
      const message = body as ToWorker;
      if (message.type === "renew")
        table.renew(
          message.owner,
          message.sessions.map((key) => Buffer.from(key, "latin1")),
        );
      else if (message.type === "check") reportEnded(message.sessions.filter((key) => !table.has(key)));
      else stopped.resolve();
    },
  });
  channel.closed.addEventListener("abort", () => stopped.resolve());
  let environments;
  try {
    environments = await host.list();
  } catch (error) {
    started.reject(error);
    // The answer is sent before the process ends.
    return await new Promise((resolve) => setImmediate(resolve));
  }
  const accept = acceptHere(table, { logger, maxMessageBytes });
  const streams = new Set<FramedStream>();
  const server = await listenForLinks(link, (stream, caller) => {
    // A status of gRPC, with which the server process ends the client's stream.
    stream.on("error", (status: Partial<StatusObject>) => stream.fail(status));
    accept(stream, caller).listen(stream);
    streams.add(stream);
    stream.on("close", () => streams.delete(stream));
  });
  const beat = setInterval(() => notify({ type: "beat" }), BEAT_MS);
  started.resolve(environments);
  await stopped.promise;
  clearInterval(beat);
  server.close();
  await table.stop(0);
  // The responses of the sessions that this ended are written in the immediates that they have scheduled.
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  await Promise.all(
    Array.from(streams, (stream) => new Promise<void>((resolve) => void stream.end(resolve).once("close", resolve))),
  );
}

/** Begins an episode of each environment that works without options. */
async function probe(host: EnvironmentHost): Promise<void> {
  for (const { id } of await host.list()) {
    try {
      await host.describe({ id });
    } catch (error) {
      if (MrlmError.hasCode(error, "OPTIONS_INVALID")) continue;
      throw error;
    }
    const session = await host.open({ id });
    try {
      await session.reset({ signal: new AbortController().signal });
    } finally {
      await session.close();
    }
  }
}
