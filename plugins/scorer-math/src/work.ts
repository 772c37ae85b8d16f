/**
 * A deterministic budget of work. Every loop whose length depends on the input spends from it, so the time of a
 * verdict is bounded without a clock and the verdict is the same on every machine.
 */
export class WorkExhausted extends Error {
  override readonly name = "WorkExhausted";
}

/** One step is about the cost of one small big-integer operation (some tens of nanoseconds). */
export class Work {
  readonly limit: number;
  #spent = 0;

  constructor(limit: number) {
    this.limit = limit;
  }

  get spent(): number {
    return this.#spent;
  }

  /** Takes `steps` from the budget; throws `WorkExhausted` when it is empty. */
  spend(steps = 1): void {
    this.#spent += steps;
    if (this.#spent > this.limit) throw new WorkExhausted(`more than ${this.limit} steps of work`);
  }
}
