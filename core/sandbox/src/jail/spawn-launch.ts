import { type ChildProcess, spawn } from "node:child_process";
import type { Duplex } from "node:stream";
import { FIRST_EXTRA_FD, type Launch } from "./launch.ts";

/** A started command. */
export interface Started {
  readonly process: ChildProcess;
  /** By descriptor. */
  readonly stdio: readonly Duplex[];
  /** Of the process inside the wrapper, once the wrapper has said it; without a wrapper, of the command itself. */
  readonly pid: Promise<number>;
}

/** Starts a command in a process group of its own: nothing inherited, stderr and the descriptors of `launch` connected to this process. */
export function spawnLaunch(launch: Launch): Started {
  const child = spawn(launch.command, launch.args, {
    cwd: "/",
    env: { ...launch.env },
    detached: true,
    stdio: ["ignore", "ignore", "pipe", "pipe", "pipe", ...launch.descriptors.map(() => "pipe" as const)],
  });
  const stdio = child.stdio as readonly unknown[] as readonly Duplex[];
  // What goes wrong with a pipe, the end of the process tells better.
  for (const stream of stdio) stream?.on("error", () => {});
  let pid = Promise.resolve(child.pid ?? 0);
  launch.descriptors.forEach((descriptor, index) => {
    const stream = stdio[FIRST_EXTRA_FD + index] as Duplex;
    if (descriptor === "pid") pid = readPid(stream);
    else stream.end(descriptor);
  });
  return { process: child, stdio, pid };
}

/** bubblewrap says `{ "child-pid": N }`, and perhaps more. Never rejects: a process that did not start has no id. */
function readPid(stream: Duplex): Promise<number> {
  return new Promise((resolve) => {
    let said = "";
    stream.on("data", (chunk: Buffer) => {
      said += chunk.toString("latin1");
      const pid = /"child-pid": *(\d+)/.exec(said)?.[1];
      if (pid !== undefined) resolve(Number(pid));
    });
    stream.on("close", () => resolve(0));
  });
}
