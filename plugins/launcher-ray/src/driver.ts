import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { MrlmError, parseJson } from "@mrlm/spec";
import type { PartEnd } from "@mrlm/spec/host";
import type { Options } from "./options.ts";

const SCRIPT = fileURLToPath(new URL("../python/driver.py", import.meta.url));
/** Longest start: Ray takes about 7 s on an idle machine. */
const READY_MS = 120_000;
const KEPT_STDERR = 4_000;
const HINT =
  "`pip install ray` for a Python of yours, and name it by `launcher: { use: ray, python: PATH }` or MRLM_RAY_PYTHON. An `address` needs a running cluster with the same version of Ray and of Python.";

/** Process for the driver to start. */
export interface DriverProcess {
  readonly id: string;
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cpus: number;
  readonly gpus: number;
  readonly memory: number;
}

/** Message of the driver; the form is in python/driver.py. */
export interface DriverMessage {
  readonly called?: number;
  readonly failed?: string;
  readonly id?: string;
  readonly started?: { readonly node: string; readonly pid: number };
  readonly line?: string;
  readonly ended?: PartEnd;
}

/** Python process that calls Ray. */
export interface Driver {
  send(message: object): void;
  /** Receives each message; set once, before the first call. */
  listen(receive: (message: DriverMessage) => void): void;
  /** Resolves with a description when the process has ended. */
  readonly ended: Promise<string>;
  kill(): void;
}

/** Starts the driver, and waits until it has a cluster. Rejects with LAUNCHER_UNAVAILABLE. */
export async function openDriver({ python, address, cpus }: Options, script = SCRIPT): Promise<Driver> {
  const program = python ?? process.env["MRLM_RAY_PYTHON"] ?? "python3";
  const child = spawn(program, [script], {
    env: { ...process.env, PYTHONDONTWRITEBYTECODE: "1" },
    stdio: ["pipe", "pipe", "pipe"],
    // Ctrl-C reaches the whole foreground group: the driver outlives it until `stop`.
    detached: true,
  });
  let receive: (message: DriverMessage & { ready?: unknown; unavailable?: string }) => void;
  const { promise: ready, resolve, reject } = Promise.withResolvers<void>();
  receive = ({ ready: nodes, unavailable }) => {
    if (nodes !== undefined) resolve();
    else reject(new Error(unavailable ?? "its first message is not known"));
  };
  const ended = follow(child, (message) => receive(message), program);
  const timer = setTimeout(() => reject(new Error(`it was not ready after ${READY_MS / 1000} s`)), READY_MS);
  child.stdin.write(`${JSON.stringify({ init: { address, cpus } })}\n`);
  try {
    await Promise.race([ready, ended.then((text) => Promise.reject(new Error(text)))]);
  } catch (cause) {
    child.kill("SIGKILL");
    const text = (cause as Error).message.replace(/\.$/, "");
    throw new MrlmError("LAUNCHER_UNAVAILABLE", `Ray cannot be used: ${text}.`, { hint: HINT, cause });
  } finally {
    clearTimeout(timer);
  }
  return {
    send: (message) => void child.stdin.write(`${JSON.stringify(message)}\n`),
    listen: (listener) => (receive = listener),
    ended,
    kill: () => void child.kill("SIGKILL"),
  };
}

/** Reads the messages of a driver. Resolves with a description of its end, after its last message. */
async function follow(
  child: ChildProcess,
  receive: (message: DriverMessage) => void,
  program: string,
): Promise<string> {
  let stderr = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => (stderr = (stderr + text).slice(-KEPT_STDERR)));
  child.stdin?.on("error", () => undefined); // The process has ended.
  createInterface({ input: child.stdout as NodeJS.ReadableStream }).on("line", (line) => {
    const message = messageOf(line);
    if (message === undefined) stderr = `${stderr}${line}\n`.slice(-KEPT_STDERR);
    else receive(message);
  });
  const failed = once(child, "error").then(([error]) => `${program} does not start (${(error as Error).message})`);
  const closed = once(child, "close").then(([code, signal]) => {
    const last = stderr.trim().split("\n").at(-1) ?? "";
    return `the driver of Ray ended (${signal ?? `exit code ${code}`})${last === "" ? "" : `: ${last}`}`;
  });
  return await Promise.race([failed, closed]);
}

/** Parses a line of the driver. Returns `undefined` for other lines, which a library may print. */
function messageOf(line: string): DriverMessage | undefined {
  try {
    const value = parseJson(line);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
