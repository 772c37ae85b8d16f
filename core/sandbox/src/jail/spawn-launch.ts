import { type ChildProcess, spawn, type StdioOptions } from "node:child_process";
import type { Duplex } from "node:stream";
import { FIRST_EXTRA_FD, type Launch } from "./launch.ts";

/** Started command. */
export interface Started {
  readonly process: ChildProcess;
  /** Streams by descriptor. */
  readonly stdio: readonly Duplex[];
  /** Process id of the child, once the wrapper has reported it; without a wrapper, of the command itself. */
  readonly pid: Promise<number>;
  /** Starts the program, where the wrapper waits. */
  start(): void;
}

/** First descriptors of a child of a pool: an error stream, and its messages. */
const MESSAGES = ["ignore", "ignore", "pipe", "pipe", "pipe"] as const;

/**
 * Starts a command in a new process group, without inherited descriptors.
 * @param first its descriptors before those of `launch`, which are pipes
 */
export function spawnLaunch(launch: Launch, first: Extract<StdioOptions, readonly unknown[]> = [...MESSAGES]): Started {
  const child = spawn(launch.command, launch.args, {
    cwd: "/",
    env: { ...launch.env },
    detached: true,
    stdio: [...first, ...launch.descriptors.map(() => "pipe" as const)],
  });
  const stdio = child.stdio as readonly unknown[] as readonly Duplex[];
  // The exit of the process explains errors of its pipes better.
  for (const stream of stdio) stream?.on("error", () => {});
  let pid = Promise.resolve(child.pid ?? 0);
  let start = (): void => undefined;
  launch.descriptors.forEach((descriptor, index) => {
    const stream = stdio[FIRST_EXTRA_FD + index] as Duplex;
    if (descriptor === "pid") pid = readPid(stream);
    else if (descriptor === "start") start = () => void stream.end("1");
    else stream.end(descriptor);
  });
  return { process: child, stdio, pid, start };
}

/** Reads `{ "child-pid": N }`, which bubblewrap writes. Never rejects: a process that did not start has no id. */
function readPid(stream: Duplex): Promise<number> {
  return new Promise((resolve) => {
    let text = "";
    stream.on("data", (chunk: Buffer) => {
      text += chunk.toString("latin1");
      const pid = /"child-pid": *(\d+)/.exec(text)?.[1];
      if (pid !== undefined) resolve(Number(pid));
    });
    stream.on("close", () => resolve(0));
  });
}
