import { MrlmError } from "@mrlm/spec";

/** Answers that are kept for calls that are repeated. */
const KEPT = 16;

/** Carries out each numbered call once: a repeated one gets the first answer. */
export class NumberedCalls {
  readonly #answers = new Map<bigint, Promise<unknown>>();
  #last = 0n;

  /** The highest number that was carried out. */
  get last(): bigint {
    return this.#last;
  }

  /** A checkpoint was loaded: its numbers count as carried out. */
  raise(call: bigint): void {
    if (call > this.#last) this.#last = call;
  }

  /** Waits until a call that is under way has ended, in whichever way. */
  async settled(call: bigint): Promise<void> {
    await this.#answers.get(call)?.catch(() => undefined);
  }

  /** Number 0 is not numbered. A call that failed may be made again under its number. */
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
    this.#answers.delete(call - BigInt(KEPT));
    answer.catch(() => {
      this.#answers.delete(call);
      if (this.#last === call) this.#last = before;
    });
    return answer;
  }
}
