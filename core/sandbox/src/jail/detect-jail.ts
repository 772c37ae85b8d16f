import { execFile } from "node:child_process";
import { once } from "node:events";
import { promisify } from "node:util";
import { bubblewrapLaunch, type BubblewrapOptions } from "./bubblewrap.ts";
import { findCommand } from "./find-command.ts";
import type { Jail } from "./launch.ts";
import { spawnLaunch } from "./spawn-launch.ts";

const TRIAL_MS = 20_000;
/** Messages of the C library when a container or a hardened kernel refuses a call. */
const DENIED = /Operation not permitted|Permission denied|No space left on device|No permissions/i;
const ADVICE =
  "this user may not make namespaces here: the sandboxes guide describes how to allow it on a machine or in a container";

/** Variants of the jail, from the most isolation layers to the fewest. */
const VARIANTS: readonly BubblewrapOptions[] = [
  { seccomp: true, proc: true },
  { seccomp: true, proc: false },
  { seccomp: false, proc: true },
];

let detected: Promise<Jail> | undefined;

/** Returns the best jail that works on this machine. Tries the variants once per process, because containers often forbid some. */
export function detectJail(): Promise<Jail> {
  detected ??= detect();
  return detected;
}

async function detect(): Promise<Jail> {
  if (process.platform !== "linux") return noJail(`bubblewrap is for Linux, and this is ${process.platform}`);
  const bubblewrap = findCommand("bwrap");
  if (bubblewrap === undefined)
    return noJail("the command bwrap is not installed (Debian, Ubuntu: apt install bubblewrap)");
  const complaints: string[] = [];
  for (const variant of VARIANTS) {
    const complaint = await complaintOf(bubblewrap, variant);
    if (complaint === undefined) return jail(bubblewrap, variant, complaints[0]);
    complaints.push(complaint);
  }
  const complaint = complaints[0] ?? "";
  return noJail(`bubblewrap does not work here: ${complaint}${DENIED.test(complaint) ? ` (${ADVICE})` : ""}`);
}

/** Starts bubblewrap itself in the jail. Returns its error message, `undefined` if it works. */
async function complaintOf(bubblewrap: string, variant: BubblewrapOptions): Promise<string | undefined> {
  const program = { command: bubblewrap, args: ["--version"], mounts: [{ source: bubblewrap, target: bubblewrap }] };
  const { process: trial, stdio } = spawnLaunch(bubblewrapLaunch(bubblewrap, program, variant));
  let stderr = "";
  stdio[2]?.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  const timer = setTimeout(() => trial.kill("SIGKILL"), TRIAL_MS);
  try {
    const [code, signal] = (await once(trial, "close")) as [number | null, string | null];
    return code === 0 ? undefined : stderr.trim() || `it ended with ${signal ?? `exit code ${code}`}`;
  } catch (error) {
    return (error as Error).message;
  } finally {
    clearTimeout(timer);
  }
}

function jail(bubblewrap: string, variant: BubblewrapOptions, complaint = ""): Jail {
  return {
    layers: ["bubblewrap", ...(variant.seccomp ? ["seccomp"] : [])],
    missing: variant.seccomp ? [] : [{ layer: "seccomp", reason: complaint }],
    isJailed: true,
    bubblewrap: { path: bubblewrap, ...variant },
    launch: (program) => bubblewrapLaunch(bubblewrap, program, variant),
  };
}

/** Returns a jail that only the parent's limits enforce. Where the operating system can, it ends the child with its parent. */
async function noJail(reason: string): Promise<Jail> {
  const prefix = await dieWithParent();
  return {
    layers: [],
    missing: [
      { layer: "bubblewrap", reason },
      { layer: "seccomp", reason: "bubblewrap loads it" },
    ],
    isJailed: false,
    launch: ({ command, args, env = {} }) => {
      const [first, ...rest] = [...prefix, command, ...args] as [string, ...string[]];
      return { command: first, args: rest, env, descriptors: [] };
    },
  };
}

/** Returns a command prefix that sends SIGKILL to the command when this process ends; empty where there is none. */
async function dieWithParent(): Promise<string[]> {
  const setpriv = process.platform === "linux" ? findCommand("setpriv") : undefined;
  if (setpriv === undefined) return [];
  const prefix = [setpriv, "--pdeathsig", "KILL", "--"];
  // Old versions of setpriv lack the option.
  return promisify(execFile)(setpriv, [...prefix.slice(1), setpriv, "--version"], { env: {}, timeout: TRIAL_MS }).then(
    () => prefix,
    () => [],
  );
}
