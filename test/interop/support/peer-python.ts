import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { test } from "@jest/globals";
import { ROOT } from "../../e2e/support/mrlm.ts";

const run = promisify(execFile);
const INSTALL_MS = 540_000;

/** Program of another framework, with the packages that it needs. */
export interface Peer {
  /** Folder with `requirements.txt`, and `no-deps.txt` for packages without their dependencies. */
  readonly folder: string;
  /** Another folder with these files, whose virtual environment is used. */
  readonly environment?: string;
  /** Name of the program in the folder. */
  readonly program: string;
  /** Version of the Python that makes its virtual environment: `3.13`. Default: that of `python3`. */
  readonly python?: string;
  /** Variables of its process, beside those of this one. */
  readonly env?: Readonly<Record<string, string>>;
}

/**
 * Registers the test of a peer: makes its virtual environment, which is cached, runs its program, and reads the JSON in the last line. The test is skipped,
 * with the reason, where the environment cannot be made: no network, or no such Python.
 */
export async function testPeer(
  name: string,
  peer: Peer,
  body: (play: (...args: readonly string[]) => Promise<unknown>) => Promise<void>,
): Promise<void> {
  const found = await interpreterOf(peer);
  if ("reason" in found) return test.skip(`${name} (${found.reason})`, () => undefined);
  const program = join(ROOT, peer.folder, peer.program);
  test(
    name,
    () =>
      body(async (...args) => {
        const env = { ...process.env, HF_HUB_OFFLINE: "1", ...peer.env };
        const { stdout } = await run(found.python, [program, ...args], { env, timeout: 240_000, maxBuffer: 1 << 26 });
        return JSON.parse(stdout.trim().split("\n").at(-1) ?? "");
      }),
    300_000,
  );
}

/** Server of another framework. */
export interface PeerServer {
  /** Ports by the names that the program printed. */
  readonly ports: Readonly<Record<string, number>>;
  close(): Promise<void>;
}

/** Registers the test of a peer's server: as {@link testPeer}, with a program that prints its ports as one line of JSON and ends with its standard input. */
export async function testPeerServer(
  name: string,
  peer: Peer,
  body: (start: () => Promise<PeerServer>) => Promise<void>,
): Promise<void> {
  const found = await interpreterOf(peer);
  if ("reason" in found) return test.skip(`${name} (${found.reason})`, () => undefined);
  const program = join(ROOT, peer.folder, peer.program);
  test(
    name,
    async () => {
      const started: PeerServer[] = [];
      try {
        await body(async () => {
          const server = await startServer(found.python, program);
          started.push(server);
          return server;
        });
      } finally {
        await Promise.all(started.map((server) => server.close()));
      }
    },
    300_000,
  );
}

async function startServer(python: string, program: string): Promise<PeerServer> {
  const child = spawn(python, [program], { stdio: ["pipe", "pipe", "pipe"] });
  let log = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (log = (log + text).slice(-4_000)));
  const ended = once(child, "close");
  for await (const line of createInterface({ input: child.stdout })) {
    if (!line.startsWith("{")) continue;
    return {
      ports: JSON.parse(line) as Record<string, number>,
      async close() {
        child.stdin.end();
        await ended;
      },
    };
  }
  throw new Error(`${program} ended without its ports:\n${log}`);
}

/** Returns the interpreter of the virtual environment of a folder, which is made once, or the reason why there is none. */
export async function interpreterOf({
  folder,
  environment = folder,
  python,
}: Omit<Peer, "program">): Promise<{ python: string } | { reason: string }> {
  const setup = join(ROOT, "benchmarks/train/peers/setup_environment.py");
  try {
    const requirements = join(ROOT, environment, "requirements.txt");
    // The versions of pyenv are found by this variable. Some peers ask for a later patch of Python than they need.
    const versions = python === undefined ? {} : { PYENV_VERSION: python, PIP_IGNORE_REQUIRES_PYTHON: "1" };
    const { stdout } = await run(`python${python ?? "3"}`, [setup, "--requirements", requirements], {
      timeout: INSTALL_MS,
      env: { ...process.env, ...versions },
    });
    return { python: stdout.trim().split("\n").at(-1) ?? "" };
  } catch (error) {
    const lines = (error instanceof Error ? error.message : String(error)).trim().split("\n");
    return { reason: (lines.at(-1) ?? "").slice(0, 200) };
  }
}
