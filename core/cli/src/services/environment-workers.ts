import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type Child, moduleFile, randomToken, startChild, temporaryFolder } from "@mrlm/process";
import type { WorkerEnd, WorkerProcess } from "@mrlm/server";
import { readRecord } from "./work-record.ts";
import { channelsTo, type WorkerChannels } from "./worker-channel.ts";
import { forwardOutput } from "./worker-output.ts";
import { BLOCKED_EVENT, type WorkerRequest } from "./worker-request.ts";

/** Options of {@link environmentWorkers}. */
export interface EnvironmentWorkersOptions {
  readonly request: Omit<WorkerRequest, "link" | "record" | "name">;
  /** Memory of one worker in MiB; default: that of Node, and no limit of other memory. */
  readonly memoryMb?: number;
  /** Receives each line that a worker or its environments print. @param name `worker 1` */
  readonly print: (name: string, line: string) => void;
  /** Receives the channels of each started worker. */
  readonly onStarted?: (channels: WorkerChannels) => void;
}

/** Starter of workers, with the folder of their sockets. */
export interface EnvironmentWorkers {
  start(name: string): WorkerProcess;
  /** Socket in the same folder for the server process. */
  readonly socket: string;
  /** Removes the folder. */
  close(): void;
}

const MEMORY_CHECK_MS = 200;
const PAGE_BYTES = 4_096;

/** Makes the starter of a server's workers. Their sockets and records are in a folder that only this user can open. */
export function environmentWorkers(options: EnvironmentWorkersOptions): EnvironmentWorkers {
  const folder = temporaryFolder("workers");
  const children = new Set<Child>();
  let started = 0;
  return {
    socket: join(folder.path, "server.sock"),
    start: (name) => startWorker(name, join(folder.path, String(++started)), options, children),
    close() {
      for (const child of children) child.kill();
      folder.remove();
    },
  };
}

function startWorker(
  name: string,
  prefix: string,
  { request, memoryMb, print, onStarted }: EnvironmentWorkersOptions,
  children: Set<Child>,
): WorkerProcess {
  const link = { path: `${prefix}.sock`, token: randomToken() };
  const record = `${prefix}.record`;
  const { path, execArgv } = moduleFile(import.meta.url, "../server-worker");
  const heap = memoryMb === undefined ? [] : [`--max-old-space-size=${memoryMb}`];
  const child = startChild({
    module: path,
    serialization: "advanced",
    execArgv: ["--enable-source-maps", ...execArgv, ...heap],
  });
  children.add(child);
  const { process } = child;
  const channels = channelsTo(process);
  let killedFor: string | undefined;
  const outputs = [process.stdout, process.stderr].map((stream) =>
    forwardOutput(stream, (line) => {
      const blocked = blockedMessage(line);
      if (blocked === undefined) print(name, line);
      else killedFor ??= blocked;
    }),
  );
  const end = (reason?: string): void => {
    killedFor ??= reason;
    child.kill();
  };
  const memoryCheck =
    memoryMb === undefined
      ? undefined
      : setInterval(() => {
          const usedMb = residentMb(process.pid);
          if (usedMb > memoryMb) end(`it used ${Math.round(usedMb)} MiB of memory, of ${memoryMb} MiB allowed`);
        }, MEMORY_CHECK_MS).unref();
  const ended = child.ended.then(({ code: exitCode, signal }): WorkerEnd => {
    clearInterval(memoryCheck);
    children.delete(child);
    for (const endOutput of outputs) endOutput();
    const { work, reason } = readRecord(record);
    for (const path of [record, link.path]) rmSync(path, { force: true });
    const why = killedFor ?? reason;
    return { exitCode, signal, ...(why !== undefined && { reason: why }), ...(work !== undefined && { work }) };
  });
  onStarted?.(channels);
  channels.channel("start").send({ ...request, name, link, record } satisfies WorkerRequest);
  return { pid: process.pid ?? 0, link, channel: channels.channel("server"), ended, kill: end };
}

/** Returns the message of the watchdog's event; `undefined` for other output. */
function blockedMessage(line: string): string | undefined {
  if (!line.startsWith(`{"event":"${BLOCKED_EVENT}"`)) return undefined;
  try {
    return String((JSON.parse(line) as { message?: unknown }).message).replace(/\.$/, "");
  } catch {
    return undefined;
  }
}

/** Returns the resident memory of a process in MiB; 0 where the system has no /proc. */
function residentMb(pid: number | undefined): number {
  try {
    const [, pages] = readFileSync(`/proc/${pid}/statm`, "utf8").split(" ");
    return (Number(pages) * PAGE_BYTES) / 2 ** 20;
  } catch {
    return 0;
  }
}
