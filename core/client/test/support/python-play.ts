import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { randomStream } from "@mrlm/kit";
import { PluginHost } from "@mrlm/runtime";
import { FIRST_CALLS } from "./disturbed-play.ts";
import { type Drops, fragileProxy } from "./fragile-proxy.ts";

const run = promisify(execFile);
const FOLDER = fileURLToPath(new URL("../../python/", import.meta.url));
const DISTURBED = `${FOLDER}tests/disturbed.py`;
const RESTARTED = `${FOLDER}tests/restarted.py`;
const ENV = { ...process.env, PYTHONPATH: FOLDER, GRPC_VERBOSITY: "NONE" };
const SESSIONS = 4;

const plugins = await PluginHost.discover({ directory: fileURLToPath(new URL("../../../../", import.meta.url)) });
/** Python that has grpcio: that of the engine. `undefined` where it is not installed. */
export const python = (await (await plugins.engine("torch")).locate())?.executable;

/** Output of `disturbed.py`. */
interface Played {
  readonly losses: { readonly step?: number; readonly reset?: number };
  readonly episodes: readonly number[];
  readonly seen: unknown;
}

/** Calls of mrlm-client that lost their connection, and what its sessions saw with and without the losses. */
export interface PythonPlay {
  readonly midStep: number;
  readonly midReset: number;
  readonly disturbed: unknown;
  readonly undisturbed: unknown;
}

/**
 * Plays `chain` sessions by mrlm-client through proxies that reset each connection after a random number of bytes, until enough calls lost their connection.
 * Then plays the same calls without the proxies.
 */
export async function playByPython(
  port: number,
  { seed, mode, midStep, midReset }: { seed: number; mode: "sync" | "async"; midStep: number; midReset: number },
): Promise<PythonPlay> {
  const random = randomStream("drops", seed);
  const drops: Drops = {
    next() {
      const [least, most] = random.pick(FIRST_CALLS);
      const bytes = Math.ceil(least * (most / least) ** random.next());
      return { side: random.next() < 0.5 ? "client" : "server", bytes };
    },
    onDrop: () => undefined,
  };
  // A connection of each session: a call that fails first has lost its own.
  const proxies = await Promise.all(Array.from({ length: SESSIONS }, () => fragileProxy(port, drops)));
  const play = async (ports: readonly number[], ...options: readonly string[]): Promise<Played> => {
    const addresses = ports.map((each) => `127.0.0.1:${each}`);
    const args = [DISTURBED, mode, ...[seed, midStep, midReset].map(String), ...addresses, ...options];
    const { stdout } = await run(python as string, args, { env: ENV, maxBuffer: 1 << 28 });
    return JSON.parse(stdout) as Played;
  };
  try {
    const first = await play(proxies.map((proxy) => proxy.port));
    const again = await play(
      proxies.map(() => port),
      "--episodes",
      first.episodes.join(","),
    );
    const { step = 0, reset = 0 } = first.losses;
    return { midStep: step, midReset: reset, disturbed: first.seen, undisturbed: again.seen };
  } finally {
    for (const proxy of proxies) proxy.close();
  }
}

/** Plays by mrlm-client while `restart` kills the server and starts it again. @returns what the program printed */
export async function playOverRestart(port: number, restart: () => Promise<void>): Promise<unknown> {
  const child = spawn(python as string, [RESTARTED, `127.0.0.1:${port}`], {
    env: ENV,
    stdio: ["pipe", "pipe", "inherit"],
  });
  const lines = createInterface({ input: child.stdout });
  await once(lines, "line");
  await restart();
  const last = once(lines, "line");
  child.stdin.end("\n");
  const [line] = (await last) as [string];
  return JSON.parse(line);
}
