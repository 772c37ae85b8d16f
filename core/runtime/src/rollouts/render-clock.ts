import type { Renderer } from "@mrlm/spec";

/** Stopwatch over the time in which this process renders conversations and reads answers, in seconds. Nothing else of its thread runs meanwhile. */
export class RenderClock {
  #seconds = 0;
  readonly #timed = new WeakMap<Renderer, Renderer>();

  /** Returns a renderer whose work is measured; the same one for the same renderer. */
  of(renderer: Renderer): Renderer {
    const known = this.#timed.get(renderer);
    if (known !== undefined) return known;
    const { fingerprint, stopTokenIds, vocabSize } = renderer;
    const timed: Renderer = {
      fingerprint,
      stopTokenIds,
      vocabSize,
      render: (...given) => this.#measure(() => renderer.render(...given)),
      extend: (...given) => this.#measure(() => renderer.extend(...given)),
      parse: (...given) => this.#measure(() => renderer.parse(...given)),
      supervise: (...given) => this.#measure(() => renderer.supervise(...given)),
      decode: (tokens) => renderer.decode(tokens),
    };
    this.#timed.set(renderer, timed);
    return timed;
  }

  /** Returns the seconds since the last lap. */
  lap(): number {
    const seconds = this.#seconds;
    this.#seconds = 0;
    return seconds;
  }

  #measure<T>(work: () => T): T {
    const began = performance.now();
    try {
      return work();
    } finally {
      this.#seconds += (performance.now() - began) / 1000;
    }
  }
}
