import type { Trainer } from "@mrlm/spec/host";

/** Stopwatch over the compute time of the engine, in seconds. Each reading is one `describe()`. */
export class EngineClock {
  readonly #engine: Trainer;
  #before: number;

  private constructor(engine: Trainer, before: number) {
    this.#engine = engine;
    this.#before = before;
  }

  static async start(engine: Trainer): Promise<EngineClock> {
    return new EngineClock(engine, (await engine.describe()).computeSeconds);
  }

  /** Returns the compute seconds since the start or the last lap. */
  async lap(): Promise<number> {
    const { computeSeconds } = await this.#engine.describe();
    const seconds = computeSeconds - this.#before;
    this.#before = computeSeconds;
    return seconds;
  }
}
