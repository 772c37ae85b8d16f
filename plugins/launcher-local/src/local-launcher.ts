import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { hostname } from "node:os";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { type Launcher, MrlmError, type RunPart, type PartEnd, type PartEvent, type PartProcess } from "@mrlm/spec";
import { GpuPool } from "./gpu-pool.ts";
import { endMarked, killGroup, MARK } from "./marked-processes.ts";

type Report = (event: PartEvent) => void;

const GRACE_MS = 10_000;
/** Time for the last lines of a process that has ended: others may keep its pipes open. */
const LINES_MS = 500;
/** Longest line of an event, in characters. */
const LINE_LENGTH = 8_192;

/** Starts processes on this machine, each as leader of a process group. */
export class LocalLauncher implements Launcher {
  readonly #id = randomUUID();
  readonly #gpus: GpuPool;
  readonly #groups = new Set<number>();
  readonly #ends = new Set<Promise<void>>();
  readonly #counts = new Map<string, number>();
  #watcher: ChildProcess | undefined;
  #stopped: Promise<void> | undefined;

  /** @param gpus numbers of the GPUs that processes may use */
  constructor(gpus: readonly number[] = []) {
    this.#gpus = new GpuPool(gpus);
  }

  async start(parts: readonly RunPart[], onEvent: Report): Promise<void> {
    if (this.#stopped !== undefined) throw new MrlmError("LAUNCHER_FAILED", "The launcher was stopped.");
    this.#watcher ??= watch(this.#id);
    const started: number[] = [];
    try {
      for (const part of parts) for (let i = 0; i < part.count; i++) started.push(await this.#startOne(part, onEvent));
    } catch (error) {
      for (const group of started) killGroup(group);
      throw error;
    }
  }

  stop(graceMs = GRACE_MS): Promise<void> {
    this.#stopped ??= this.#stop(graceMs);
    return this.#stopped;
  }

  async #stop(graceMs: number): Promise<void> {
    await endMarked(this.#id, () => [...this.#groups], graceMs);
    await Promise.all(this.#ends);
    const watcher = this.#watcher;
    if (watcher === undefined || watcher.exitCode !== null || watcher.signalCode !== null) return;
    watcher.ref();
    const ended = once(watcher, "exit");
    watcher.stdin?.end("done\n");
    await ended;
  }

  /** Starts a process. Returns its id, which is also that of its group. */
  async #startOne(part: RunPart, onEvent: Report): Promise<number> {
    const gpus = this.#gpus.take(part);
    const [program, ...args] = part.command;
    const child = spawn(program, args, {
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
      env: {
        ...process.env,
        ...(gpus.length === 0 ? {} : { CUDA_VISIBLE_DEVICES: gpus.join(",") }),
        ...part.env,
        [MARK]: this.#id,
      },
    });
    const { pid } = child;
    if (pid === undefined) {
      this.#gpus.giveBack(gpus);
      const [error] = (await once(child, "error")) as [Error];
      throw new MrlmError("LAUNCHER_FAILED", `${program} (${part.kind}) cannot be started: ${error.message}.`, {
        cause: error,
      });
    }
    this.#groups.add(pid);
    this.#notify(`+${pid}`);
    const number = this.#counts.get(part.kind) ?? 0;
    this.#counts.set(part.kind, number + 1);
    const about: PartProcess = { id: `${part.kind}-${number}`, kind: part.kind, node: hostname(), pid };
    onEvent({ kind: "started", process: about });
    const ended = follow(child, about, onEvent).then((cause) => {
      killGroup(pid);
      this.#groups.delete(pid);
      this.#notify(`-${pid}`);
      this.#gpus.giveBack(gpus);
      onEvent({ kind: "ended", process: about, cause });
      this.#ends.delete(ended);
    });
    this.#ends.add(ended);
    return pid;
  }

  #notify(line: string): void {
    this.#watcher?.stdin?.write(`${line}\n`);
  }
}

/** Starts the process that ends the processes of a launcher when this one has ended. */
function watch(id: string): ChildProcess {
  const file = import.meta.url.endsWith(".ts") ? "./watcher.ts" : "./watcher.js";
  const watcher = spawn(process.execPath, ["--no-warnings", fileURLToPath(new URL(file, import.meta.url)), id], {
    // Ctrl-C reaches the whole foreground group.
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
    env: {},
  });
  // A start of processes fails by itself where none can be started.
  watcher.on("error", () => undefined);
  watcher.stdin.on("error", () => undefined);
  watcher.unref();
  return watcher;
}

/** Reports the lines of a process. Resolves with the cause of its end. */
async function follow(child: ChildProcess, about: PartProcess, onEvent: Report): Promise<PartEnd> {
  for (const stream of [child.stdout, child.stderr])
    createInterface({ input: stream as NodeJS.ReadableStream }).on("line", (line) =>
      onEvent({ kind: "output", process: about, line: line.slice(0, LINE_LENGTH) }),
    );
  const closed = once(child, "close");
  const [code, signal] = (await once(child, "exit")) as [number | null, string | null];
  const late = setTimeout(() => {
    child.stdout?.destroy();
    child.stderr?.destroy();
  }, LINES_MS);
  await closed;
  clearTimeout(late);
  return signal === null ? { kind: "exit", code: code ?? 0 } : { kind: "signal", signal };
}
