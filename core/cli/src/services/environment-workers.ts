import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { type Child, moduleFile, randomToken, startChild, temporaryFolder } from "@mrlm/process";
import type { WorkerEnd, WorkerProcess } from "@mrlm/server";
import { readRecord } from "./work-record.ts";
import { channelsTo, type WorkerChannels } from "./worker-channel.ts";
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

/** Longest line that is forwarded, in characters. */
const LINE_LENGTH = 4_000;
/** Characters that are forwarded in a period; the rest is counted. */
const PERIOD_LENGTH = 64_000;
const PERIOD_MS = 10_000;

/**
 * Forwards one stream of a process's output, line by line and within limits, so that a plugin that prints without end slows no other process.
 * @returns a function to call when the process has ended
 */
function forwardOutput(stream: Readable | null, print: (line: string) => void): () => void {
  let left = PERIOD_LENGTH;
  let omitted = 0;
  const period = setInterval(() => endPeriod(), PERIOD_MS).unref();
  const endPeriod = (): void => {
    if (omitted > 0) print(`(${omitted} more bytes of output are not shown)`);
    left = PERIOD_LENGTH;
    omitted = 0;
  };
  const forward = (line: string): void => {
    if (line === "") return;
    if (left <= 0) {
      omitted += line.length;
      return;
    }
    const shown = line.slice(0, LINE_LENGTH);
    left -= shown.length;
    print(shown.length < line.length ? `${shown}...` : shown);
  };
  let rest = "";
  stream?.setEncoding("utf8").on("data", (chunk: string) => {
    if (left <= 0) {
      omitted += chunk.length;
      return;
    }
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) forward(line);
    if (rest.length <= LINE_LENGTH) return;
    forward(rest);
    rest = "";
  });
  stream?.on("end", () => forward(rest));
  return () => {
    clearInterval(period);
    endPeriod();
  };
}
