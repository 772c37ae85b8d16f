import { type ChildProcess, fork } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { randomToken } from "@mrlm/kit";
import type { WorkerEnd, WorkerProcess } from "@mrlm/server";
import { beforeEndBySignal } from "./end-by-signal.ts";
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
/** Time after its end in which a process's output is read. */
const OUTPUT_MS = 500;

/** Makes the starter of a server's workers. Their sockets and records are in a folder that only this user can open. */
export function environmentWorkers(options: EnvironmentWorkersOptions): EnvironmentWorkers {
  const folder = mkdtempSync(join(tmpdir(), "mrlm-workers-"));
  const children = new Set<ChildProcess>();
  const end = (): void => {
    children.forEach((child) => kill(child));
    rmSync(folder, { recursive: true, force: true });
  };
  process.on("exit", end);
  // A server listens to signals once its workers are ready.
  const keepEnd = beforeEndBySignal(end);
  let started = 0;
  return {
    socket: join(folder, "server.sock"),
    start: (name) => {
      const number = ++started;
      return startWorker(name, join(folder, String(number)), options, children);
    },
    close() {
      process.off("exit", end);
      keepEnd();
      end();
    },
  };
}

function startWorker(
  name: string,
  prefix: string,
  { request, memoryMb, print, onStarted }: EnvironmentWorkersOptions,
  children: Set<ChildProcess>,
): WorkerProcess {
  const link = { path: `${prefix}.sock`, token: randomToken() };
  const record = `${prefix}.record`;
  const isSource = import.meta.url.endsWith(".ts");
  const file = fileURLToPath(new URL(isSource ? "../server-worker.ts" : "./server-worker.js", import.meta.url));
  const child = fork(file, [], {
    stdio: ["ignore", "pipe", "pipe", "ipc"],
    serialization: "advanced",
    // In a group of its own, so that what it starts ends with it, and Ctrl-C reaches the server process alone.
    detached: process.platform !== "win32",
    execArgv: [
      "--enable-source-maps",
      ...(isSource ? ["--conditions=mrlm-source"] : []),
      ...(memoryMb === undefined ? [] : [`--max-old-space-size=${memoryMb}`]),
    ],
  });
  children.add(child);
  const channels = channelsTo(child);
  let killedFor: string | undefined;
  const outputs = [child.stdout, child.stderr].map((stream) =>
    forwardOutput(stream, (line) => {
      const blocked = blockedMessage(line);
      if (blocked === undefined) print(name, line);
      else killedFor ??= blocked;
    }),
  );
  const end = (reason?: string): void => {
    killedFor ??= reason;
    kill(child);
  };
  const memoryCheck =
    memoryMb === undefined
      ? undefined
      : setInterval(() => {
          const usedMb = residentMb(child.pid);
          if (usedMb > memoryMb) end(`it used ${Math.round(usedMb)} MiB of memory, of ${memoryMb} MiB allowed`);
        }, MEMORY_CHECK_MS).unref();
  const ended = new Promise<WorkerEnd>((resolve) => {
    let isEnded = false;
    const onEnd = (exitCode: number | null, signal: NodeJS.Signals | null): void => {
      if (isEnded) return;
      isEnded = true;
      clearInterval(memoryCheck);
      kill(child, true);
      children.delete(child);
      for (const endOutput of outputs) endOutput();
      const { work, reason } = readRecord(record);
      for (const path of [record, link.path]) rmSync(path, { force: true });
      const why = killedFor ?? reason;
      resolve({ exitCode, signal, ...(why !== undefined && { reason: why }), ...(work !== undefined && { work }) });
    };
    child.once("error", () => onEnd(null, null));
    child.once("close", onEnd);
    // A process that it started can hold the pipes open after its end.
    child.once("exit", (exitCode, signal) => setTimeout(() => onEnd(exitCode, signal), OUTPUT_MS).unref());
  });
  onStarted?.(channels);
  channels.channel("start").send({ ...request, name, link, record } satisfies WorkerRequest);
  return { pid: child.pid ?? 0, link, channel: channels.channel("server"), ended, kill: end };
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

/** Kills a process and its group. @param withGroup also after its own end, for what it started */
function kill(child: ChildProcess, withGroup = false): void {
  if (child.pid === undefined || (!withGroup && (child.exitCode !== null || child.signalCode !== null))) return;
  try {
    if (process.platform === "win32") child.kill("SIGKILL");
    else process.kill(-child.pid, "SIGKILL");
  } catch {
    if (!withGroup) child.kill("SIGKILL");
  }
}
