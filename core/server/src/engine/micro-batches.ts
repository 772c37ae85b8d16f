import { MrlmError, type UnitGradients, type UnitOutputs } from "@mrlm/spec";
import { decodeGradients, encodeOutputs, type engineProto as wire } from "@mrlm/wire";

interface Asked {
  readonly index: number;
  readonly outputs: UnitOutputs;
  readonly resolve: (gradients: UnitGradients) => void;
  readonly reject: (error: unknown) => void;
}

/** Questions to the client's loss, sent in micro-batches: what is asked in one turn of the event loop is one of them. */
export class MicroBatches {
  readonly #send: (outputs: wire.MicroBatchOutputs) => void;
  readonly #sent = new Map<number, readonly Asked[]>();
  #asked: Asked[] = [];
  #count = 0;
  #isGivenUp = false;

  constructor(send: (outputs: wire.MicroBatchOutputs) => void) {
    this.#send = send;
  }

  /** The gradients of a unit, from the client. */
  ask(index: number, outputs: UnitOutputs): Promise<UnitGradients> {
    const { promise, resolve, reject } = Promise.withResolvers<UnitGradients>();
    this.#asked.push({ index, outputs, resolve, reject });
    if (this.#asked.length === 1) setImmediate(() => this.#flush());
    return promise;
  }

  answer({ microBatch, units }: wire.MicroBatchGradients): void {
    const asked = this.#sent.get(microBatch) ?? [];
    this.#sent.delete(microBatch);
    asked.forEach(({ resolve, reject, index }, i) => {
      const gradients = units[i];
      if (gradients === undefined)
        return reject(
          new MrlmError("GRADIENT_SHAPE", `Micro-batch ${microBatch} came back without gradients of unit ${index}.`),
        );
      try {
        resolve(decodeGradients(gradients));
      } catch (error) {
        reject(error);
      }
    });
  }

  /** Outputs whose gradients are applied already: no answer is awaited. */
  repeat(outputs: readonly UnitOutputs[]): void {
    this.#send({
      microBatch: this.#count++,
      unitIndices: Array.from(outputs.keys()),
      units: outputs.map(encodeOutputs),
      applied: true,
    });
  }

  /** The client is gone: what was asked has no answer. */
  giveUp(): void {
    this.#isGivenUp = true;
    const waiting = [...this.#asked, ...[...this.#sent.values()].flat()];
    for (const { reject } of waiting) reject(new MrlmError("CANCELLED", "The client of a pass is gone."));
  }

  #flush(): void {
    const asked = this.#asked;
    this.#asked = [];
    if (this.#isGivenUp) return this.giveUp();
    const microBatch = this.#count++;
    this.#sent.set(microBatch, asked);
    this.#send({
      microBatch,
      unitIndices: asked.map(({ index }) => index),
      units: asked.map(({ outputs }) => encodeOutputs(outputs)),
      applied: false,
    });
  }
}
