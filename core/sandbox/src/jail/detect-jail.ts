import { execFile } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { bubblewrapLaunch } from "./bubblewrap.ts";
import type { Jail } from "./launch.ts";
import { noJail } from "./no-jail.ts";

const run = promisify(execFile);

/** Of /tmp in a jail. */
const TMP_BYTES = 64 * 1024 * 1024;
const TRIAL_MS = 20_000;

let detected: Promise<Jail> | undefined;

/** The best jail that works on this machine; tried out once for each process. */
export function detectJail(): Promise<Jail> {
  detected ??= detect();
  return detected;
}

async function detect(): Promise<Jail> {
  if (process.platform !== "linux") return noJail(`bubblewrap is for Linux, and this is ${process.platform}`);
  const bubblewrap = findCommand("bwrap");
  if (bubblewrap === undefined) return noJail("the command bwrap is not installed (Debian, Ubuntu: apt install bubblewrap)");
  try {
    await tryOut(bubblewrap);
  } catch (error) {
    const said = (error as { stderr?: string }).stderr?.trim() || String(error);
    return noJail(`bubblewrap does not work here: ${said}`);
  }
  return {
    layers: ["bubblewrap"],
    missing: [],
    isJailed: true,
    launch: (program) => bubblewrapLaunch(bubblewrap, program, { tmpBytes: TMP_BYTES }),
  };
}

/** Containers often forbid namespaces: only a trial shows it. */
async function tryOut(bubblewrap: string): Promise<void> {
  const node = process.execPath;
  const { args } = bubblewrapLaunch(bubblewrap, { command: node, args: ["--version"], mounts: [{ source: node, target: node }] }, { tmpBytes: TMP_BYTES });
  await run(bubblewrap, args.filter((arg, index) => arg !== "--info-fd" && args[index - 1] !== "--info-fd"), { env: {}, timeout: TRIAL_MS });
}

/** Path of a command that can be executed. */
export function findCommand(name: string): string | undefined {
  const folders = [...(process.env["PATH"] ?? "").split(delimiter), "/usr/bin", "/bin", "/usr/local/bin"].filter(Boolean);
  return folders.map((folder) => join(folder, name)).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
