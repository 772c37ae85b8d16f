import { hostname } from "node:os";
import { type Child, type ChildEnd, onLines, startChild } from "@mrlm/process";
import { MrlmError } from "@mrlm/spec";
import type { Launcher, PartEnd, PartEvent, PartProcess, RunPart } from "@mrlm/spec/host";

type Report = (event: PartEvent) => void;

const GRACE_MS = 10_000;
/** Grace of the processes of a launcher that was killed. */
const ORPHAN_GRACE = { seconds: 5, signal: "SIGTERM" } as const;
/** Longest line of an event, in characters. */
const LINE_LENGTH = 8_192;

/** Starts processes on this machine, each as leader of a process group. */
export class LocalLauncher implements Launcher {
  readonly #gpus: GpuPool;
  readonly #children = new Set<Child>();
  readonly #ends = new Set<Promise<void>>();
  readonly #counts = new Map<string, number>();
  #stopped: Promise<void> | undefined;

  /** @param gpus numbers of the GPUs that processes may use */
  constructor(gpus: readonly number[] = []) {
    this.#gpus = new GpuPool(gpus);
  }

  async start(parts: readonly RunPart[], onEvent: Report): Promise<void> {
    if (this.#stopped !== undefined) throw new MrlmError("LAUNCHER_FAILED", "The launcher was stopped.");
    const started: Child[] = [];
    try {
      for (const part of parts) for (let i = 0; i < part.count; i++) started.push(await this.#startOne(part, onEvent));
    } catch (error) {
      for (const child of started) child.kill();
      throw error;
    }
  }

  stop(graceMs = GRACE_MS): Promise<void> {
    this.#stopped ??= this.#stop(graceMs);
    return this.#stopped;
  }

  async #stop(graceMs: number): Promise<void> {
    await Promise.all([...this.#children].map((child) => child.stop({ termMs: graceMs })));
    await Promise.all(this.#ends);
  }

  async #startOne(part: RunPart, onEvent: Report): Promise<Child> {
    const gpus = this.#gpus.take(part);
    const [command = "", ...args] = part.command;
    const devices = gpus.length === 0 ? {} : { CUDA_VISIBLE_DEVICES: gpus.join(",") };
    const child = startChild({
      command,
      args,
      env: { ...process.env, ...devices, ...part.env },
      orphanGrace: ORPHAN_GRACE,
    });
    if (child.tree === undefined) {
      this.#gpus.giveBack(gpus);
      const { error } = await child.ended;
      throw new MrlmError("LAUNCHER_FAILED", `${command} (${part.kind}) cannot be started: ${error?.message}.`, {
        cause: error,
      });
    }
    this.#children.add(child);
    const number = this.#counts.get(part.kind) ?? 0;
    this.#counts.set(part.kind, number + 1);
    const about: PartProcess = {
      id: `${part.kind}-${number}`,
      kind: part.kind,
      node: hostname(),
      pid: child.tree.pid,
    };
    onEvent({ kind: "started", process: about });
    onLines(child, (line) => onEvent({ kind: "output", process: about, line: line.slice(0, LINE_LENGTH) }));
    const ended = child.ended.then((end) => {
      this.#children.delete(child);
      this.#gpus.giveBack(gpus);
      onEvent({ kind: "ended", process: about, cause: causeOf(end) });
      this.#ends.delete(ended);
    });
    this.#ends.add(ended);
    return child;
  }
}

function causeOf({ code, signal }: ChildEnd): PartEnd {
  return signal === null ? { kind: "exit", code: code ?? 0 } : { kind: "signal", signal };
}

/** GPUs of this machine, each of which one process uses at a time. */
class GpuPool {
  readonly #all: number;
  #free: readonly number[];

  constructor(gpus: readonly number[]) {
    this.#all = gpus.length;
    this.#free = gpus;
  }

  /** Takes the GPUs of a process. Throws LAUNCHER_FAILED if too few are free. */
  take({ kind, gpus = 0 }: RunPart): readonly number[] {
    const count = Math.ceil(gpus);
    if (count > this.#free.length)
      throw new MrlmError(
        "LAUNCHER_FAILED",
        `A process of ${kind} needs ${count} GPUs; ${this.#free.length} of ${this.#all} are free.`,
        { hint: "Name the GPUs of this machine: `launcher: { use: local, gpus: [0, 1] }`, or start fewer processes." },
      );
    const taken = this.#free.slice(0, count);
    this.#free = this.#free.slice(count);
    return taken;
  }

  giveBack(gpus: readonly number[]): void {
    this.#free = [...this.#free, ...gpus].toSorted((one, other) => one - other);
  }
}
