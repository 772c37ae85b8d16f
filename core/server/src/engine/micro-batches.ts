import { MrlmError, type UnitGradients, type UnitOutputs } from "@mrlm/spec";
import { gradientsCodec, outputsCodec, type engineProto as wire } from "@mrlm/wire";

interface LossRequest {
  readonly index: number;
  readonly outputs: UnitOutputs;
  readonly resolve: (gradients: UnitGradients) => void;
  readonly reject: (error: unknown) => void;
}

/** Requests to the client's loss function. The requests of one turn of the event loop form a micro-batch. */
export class MicroBatches {
  readonly #send: (outputs: wire.MicroBatchOutputs) => void;
  readonly #sent = new Map<number, readonly LossRequest[]>();
  #unsent: LossRequest[] = [];
  #count = 0;
  #isCancelled = false;

  constructor(send: (outputs: wire.MicroBatchOutputs) => void) {
    this.#send = send;
  }

  /** Requests the gradients of a unit from the client. */
  request(index: number, outputs: UnitOutputs): Promise<UnitGradients> {
    const { promise, resolve, reject } = Promise.withResolvers<UnitGradients>();
    this.#unsent.push({ index, outputs, resolve, reject });
    if (this.#unsent.length === 1) setImmediate(() => this.#flush());
    return promise;
  }

  answer({ microBatch, units }: wire.MicroBatchGradients): void {
    const requests = this.#sent.get(microBatch) ?? [];
    this.#sent.delete(microBatch);
    requests.forEach(({ resolve, reject, index }, i) => {
      const gradients = units[i];
      if (gradients === undefined)
        return reject(new MrlmError("GRADIENT_SHAPE", `Micro-batch ${microBatch} has no gradients for unit ${index}.`));
      try {
        resolve(gradientsCodec.decode(gradients));
      } catch (error) {
        reject(error);
      }
    });
  }

  /** Sends outputs whose gradients are already applied, so that no response is expected. */
  repeat(outputs: readonly UnitOutputs[]): void {
    this.#send({
      microBatch: this.#count++,
      unitIndices: Array.from(outputs.keys()),
      units: outputs.map(outputsCodec.encode),
      applied: true,
    });
  }

  /** Rejects every request, because the client is gone. */
  cancel(): void {
    this.#isCancelled = true;
    const waiting = [...this.#unsent, ...[...this.#sent.values()].flat()];
    for (const { reject } of waiting) reject(new MrlmError("CANCELLED", "The client of a pass is gone."));
  }

  #flush(): void {
    const requests = this.#unsent;
    this.#unsent = [];
    if (this.#isCancelled) return this.cancel();
    const microBatch = this.#count++;
    this.#sent.set(microBatch, requests);
    this.#send({
      microBatch,
      unitIndices: requests.map(({ index }) => index),
      units: requests.map(({ outputs }) => outputsCodec.encode(outputs)),
      applied: false,
    });
  }
}
