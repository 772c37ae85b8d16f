import { execFile } from "node:child_process";
import { once } from "node:events";
import { promisify } from "node:util";
import { bubblewrapLaunch, type BubblewrapOptions } from "./bubblewrap.ts";
import { findCommand } from "./find-command.ts";
import type { Jail } from "./launch.ts";
import { spawnLaunch } from "./spawn-launch.ts";

const TRIAL_MS = 20_000;
/** What a container or a hardened kernel refuses; the words are the C library's. */
const DENIED = /Operation not permitted|Permission denied|No space left on device|No permissions/i;
const ADVICE =
  "this user may not make namespaces here: the sandboxes guide says how a machine or a container allows it";

/** From the most walls to the fewest. */
const VARIANTS: readonly BubblewrapOptions[] = [
  { seccomp: true, proc: true },
  { seccomp: true, proc: false },
  { seccomp: false, proc: true },
];

let detected: Promise<Jail> | undefined;

/** The best jail that works on this machine; tried out once for each process, because containers often forbid one. */
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

/** Starts bubblewrap itself in the jail. Returns what it complained of, `undefined` if it works. */
async function complaintOf(bubblewrap: string, variant: BubblewrapOptions): Promise<string | undefined> {
  const program = { command: bubblewrap, args: ["--version"], mounts: [{ source: bubblewrap, target: bubblewrap }] };
  const { process: trial, stdio } = spawnLaunch(bubblewrapLaunch(bubblewrap, program, variant));
  let said = "";
  stdio[2]?.on("data", (chunk: Buffer) => (said += chunk.toString()));
  const timer = setTimeout(() => trial.kill("SIGKILL"), TRIAL_MS);
  try {
    const [code, signal] = (await once(trial, "close")) as [number | null, string | null];
    return code === 0 ? undefined : said.trim() || `it ended with ${signal ?? `exit code ${code}`}`;
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
    launch: (program) => bubblewrapLaunch(bubblewrap, program, variant),
  };
}

/** A plain child process: the parent's limits hold it, the operating system does not, but for ending it with its parent where it can. */
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

/** A command before which another one gets SIGKILL when this process ends; empty where there is none. */
async function dieWithParent(): Promise<string[]> {
  const setpriv = process.platform === "linux" ? findCommand("setpriv") : undefined;
  if (setpriv === undefined) return [];
  const prefix = [setpriv, "--pdeathsig", "KILL", "--"];
  // Not every setpriv has that option.
  return promisify(execFile)(setpriv, [...prefix.slice(1), setpriv, "--version"], { env: {}, timeout: TRIAL_MS }).then(
    () => prefix,
    () => [],
  );
}
