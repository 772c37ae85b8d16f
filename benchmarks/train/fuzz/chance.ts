import { randomStream } from "@mrlm/kit";
import type { JsonObject, JsonValue } from "@mrlm/spec";

/** Draws for one configuration: the same name, the same draws. */
export class Chance {
  readonly #stream;

  constructor(name: string) {
    this.#stream = randomStream(name, 0);
  }

  /** Returns true with this probability. */
  of(probability: number): boolean {
    return this.#stream.next() < probability;
  }

  pick<T>(values: readonly T[]): T {
    return this.#stream.pick(values);
  }

  integer(low: number, high: number): number {
    return this.#stream.integer(low, high);
  }

  /** Returns `least` to `most` of the values, in random order. */
  some<T>(values: readonly T[], least: number, most: number): T[] {
    return this.#stream.shuffle(values).slice(0, this.integer(least, most));
  }

  /** Returns `{ [key]: value }` with this probability, else an empty object. */
  maybe(probability: number, key: string, values: readonly JsonValue[]): JsonObject {
    return this.of(probability) ? { [key]: this.pick(values) } : {};
  }
}
