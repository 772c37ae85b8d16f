import type { RequiredTool } from "./task.ts";

/** Required tools of an episode, and those that were called successfully. */
export class RequiredTools {
  readonly #entries: readonly (readonly string[])[];
  readonly #covered = new Set<number>();
  readonly #isStated: boolean;

  /** @param required `undefined` if the task does not state which tools it requires */
  constructor(required: readonly RequiredTool[] | undefined) {
    this.#isStated = required !== undefined;
    this.#entries = (required ?? []).map((entry) => (typeof entry === "string" ? [entry] : entry));
  }

  /** Returns true if a task states its tools, and this one is not among them. */
  isOther(name: string): boolean {
    return this.#isStated && !this.#entries.some((names) => names.includes(name));
  }

  /** Records a successful call. Returns the number of requirements that are met for the first time. */
  cover(name: string): number {
    const before = this.#covered.size;
    for (const [i, names] of this.#entries.entries()) if (names.includes(name)) this.#covered.add(i);
    return this.#covered.size - before;
  }

  /** Share of the requirements that are met; `undefined` without requirements. */
  get coverage(): number | undefined {
    return this.#entries.length === 0 ? undefined : this.#covered.size / this.#entries.length;
  }
}
