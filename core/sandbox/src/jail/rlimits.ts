import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import { findCommand } from "./find-command.ts";

const run = promisify(execFile);

/** Returns why limits of the kernel cannot be set here; `undefined` if they can. */
export function rlimitsMissing(): string | undefined {
  if (process.platform !== "linux") return `prlimit is for Linux, and this is ${process.platform}`;
  return prlimit() === undefined ? "the command prlimit (util-linux) is not installed" : undefined;
}

/** Limits of a process that the kernel enforces; see getrlimit(2). */
export interface ProcessLimits {
  /** Private writable memory in bytes, touched or not. It may be raised later; the other limits cannot. */
  readonly data: number;
  readonly openFiles: number;
  readonly fileBytes: number;
}

/** Sets the limits of a running process and disables core dumps. Rejects if the system refuses. */
export async function limitProcess(pid: number, { data, openFiles, fileBytes }: ProcessLimits): Promise<void> {
  const command = prlimit();
  if (command === undefined) return;
  await run(
    command,
    ["--pid", String(pid), "--core=0", `--data=${data}:`, `--nofile=${openFiles}`, `--fsize=${fileBytes}`],
    { env: {} },
  );
}

/** Returns the memory of a process that RLIMIT_DATA counts, in bytes. */
export function dataBytesOf(pid: number): number {
  return Number(/^VmData:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "latin1"))?.[1]) * 1024;
}

let found: string | undefined | null = null;

function prlimit(): string | undefined {
  if (found === null) found = findCommand("prlimit");
  return found;
}
