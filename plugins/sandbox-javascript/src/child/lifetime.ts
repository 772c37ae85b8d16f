import type { ChildResult } from "@mrlm/sandbox/child";
import { Ended } from "./ended.ts";

/** How long a request may still take, and how it has ended. */
export class Lifetime {
  readonly #deadline: number;
  #ended: Ended | undefined;

  constructor(wallMs: number) {
    this.#deadline = performance.now() + wallMs;
  }

  /** Whole milliseconds from now, as isolated-vm takes them: at least 1. */
  get leftMs(): number {
    return Math.max(1, Math.ceil(this.#deadline - performance.now()));
  }

  /** isolated-vm's own clock may ring a little early. */
  get isOver(): boolean {
    return performance.now() >= this.#deadline - 2;
  }

  /** Ends the request with this result, unless it has ended before. An error of ours does not keep its class on its way through isolates: this does. */
  end(result: ChildResult): Ended {
    this.#ended ??= new Ended(result);
    return this.#ended;
  }

  get ended(): Ended | undefined {
    return this.#ended;
  }
}
