import { MrlmError } from "@mrlm/spec";

/** Carries out each numbered call once. A repeated call gets the first response. */
export class NumberedCalls {
  readonly #kept: number;
  readonly #answers = new Map<bigint, Promise<unknown>>();
  #last = 0n;

  /** @param kept number of latest calls whose responses are kept for repetitions */
  constructor(kept = 16) {
    this.#kept = kept;
  }

  /** Highest number that was carried out. */
  get last(): bigint {
    return this.#last;
  }

  /** Counts the numbers of a loaded checkpoint as carried out. */
  raise(call: bigint): void {
    if (call > this.#last) this.#last = call;
  }

  /** Waits until a call that is under way has succeeded or failed. */
  async settled(call: bigint): Promise<void> {
    await this.#answers.get(call)?.catch(() => undefined);
  }

  /** Runs a call. 0 means that the call is not numbered. A failed call may be made again under its number. */
  run<T>(call: bigint, work: () => Promise<T>): Promise<T> {
    if (call === 0n) return work();
    const known = this.#answers.get(call);
    if (known !== undefined) return known as Promise<T>;
    if (call <= this.#last)
      throw new MrlmError("CALL_OUT_OF_ORDER", `Call ${call} came after call ${this.#last} had been carried out.`);
    const before = this.#last;
    const answer = work();
    this.#last = call;
    this.#answers.set(call, answer);
    this.#answers.delete(call - BigInt(this.#kept));
    answer.catch(() => {
      this.#answers.delete(call);
      if (this.#last === call) this.#last = before;
    });
    return answer;
  }
}
