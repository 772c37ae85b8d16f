import { MrlmError } from "@mrlm/spec";
import type { RunPart } from "@mrlm/spec/host";

/** GPUs of this machine, each of which one process uses at a time. */
export class GpuPool {
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
