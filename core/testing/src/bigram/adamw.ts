import type { OptimStepOptions } from "@mrlm/spec";
import { type BigramParameters, zerosLike } from "./parameters.ts";

/** AdamW (arXiv 1711.05101) with bias correction, for one model. */
export class BigramAdamW {
  step = 0;
  readonly #first: BigramParameters;
  readonly #second: BigramParameters;

  constructor(parameters: BigramParameters) {
    this.#first = zerosLike(parameters);
    this.#second = zerosLike(parameters);
  }

  /** Arrays of the state, which checkpoints read and overwrite in place. */
  get arrays(): readonly Float64Array[] {
    return [this.#first.logits, this.#first.values, this.#second.logits, this.#second.values];
  }

  /** Updates the parameters in place with `scale` times the gradients. */
  apply(parameters: BigramParameters, gradients: BigramParameters, scale: number, options: OptimStepOptions): void {
    const { learningRate, beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8, weightDecay = 0 } = options;
    this.step++;
    const correction1 = 1 - beta1 ** this.step;
    const correction2 = 1 - beta2 ** this.step;
    for (const name of ["logits", "values"] as const) {
      const weights = parameters[name];
      const first = this.#first[name];
      const second = this.#second[name];
      gradients[name].forEach((raw, i) => {
        const gradient = raw * scale;
        const m = beta1 * (first[i] as number) + (1 - beta1) * gradient;
        const v = beta2 * (second[i] as number) + (1 - beta2) * gradient * gradient;
        first[i] = m;
        second[i] = v;
        const update = m / correction1 / (Math.sqrt(v / correction2) + epsilon);
        weights[i] = (weights[i] as number) * (1 - learningRate * weightDecay) - learningRate * update;
      });
    }
  }
}
