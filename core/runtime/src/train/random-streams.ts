import { randomStream } from "@mrlm/kit";
import type { JsonObject, RandomStream } from "@mrlm/spec";

/** Named random streams of one stage. Their positions are part of a checkpoint. */
export class RandomStreams {
  readonly #seed: number;
  readonly #streams = new Map<string, RandomStream>();
  readonly #restored: Readonly<JsonObject>;

  /** @param restored result of `state` */
  constructor(seed: number, restored: JsonObject = {}) {
    this.#seed = seed;
    this.#restored = restored;
  }

  /** Returns the stream of a name: the same one each time. */
  get(name: string): RandomStream {
    const known = this.#streams.get(name);
    if (known !== undefined) return known;
    const stream = randomStream(name, this.#seed);
    const position = this.#restored[name];
    if (typeof position === "string") stream.restore(position);
    this.#streams.set(name, stream);
    return stream;
  }

  state(): JsonObject {
    const present = Array.from(this.#streams, ([name, stream]) => [name, stream.state()] as const);
    return { ...this.#restored, ...Object.fromEntries(present) };
  }
}
