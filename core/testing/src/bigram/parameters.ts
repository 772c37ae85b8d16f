import { MrlmError } from "@mrlm/spec";
import { randomStream } from "@mrlm/kit";

/** Weights of a bigram model: row `p` of `logits` has the logits of the token after token `p`, `values[p]` the value of the state after it. */
export interface BigramParameters {
  readonly vocabSize: number;
  /** Shape [vocabSize, vocabSize], row-major. */
  readonly logits: Float64Array;
  readonly values: Float64Array;
}

/** Draws logits from a normal distribution of standard deviation `initializer_range` (default 0.02); values are 0. */
export function randomParameters(config: Readonly<Record<string, unknown>>, seed: number): BigramParameters {
  const vocabSize = config["vocab_size"];
  if (typeof vocabSize !== "number" || !Number.isInteger(vocabSize) || vocabSize < 1) {
    throw new MrlmError(
      "OPTIONS_INVALID",
      `A bigram model needs vocab_size in its configuration; it is ${String(vocabSize)}.`,
    );
  }
  const deviation = typeof config["initializer_range"] === "number" ? config["initializer_range"] : 0.02;
  const random = randomStream("bigram", seed);
  const normal = (): number => Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next());
  const logits = Float64Array.from({ length: vocabSize * vocabSize }, () => deviation * normal());
  return { vocabSize, logits, values: new Float64Array(vocabSize) };
}

export function copyParameters({ vocabSize, logits, values }: BigramParameters): BigramParameters {
  return { vocabSize, logits: logits.slice(), values: values.slice() };
}

export function zerosLike({ vocabSize, logits, values }: BigramParameters): BigramParameters {
  return { vocabSize, logits: new Float64Array(logits.length), values: new Float64Array(values.length) };
}

/** Returns the log-probabilities of the token after `previous`: log-softmax of its logits divided by the temperature. */
export function logSoftmaxRow(
  { vocabSize, logits }: BigramParameters,
  previous: number,
  temperature: number,
): Float64Array {
  const row = logits.subarray(previous * vocabSize, (previous + 1) * vocabSize).map((logit) => logit / temperature);
  let highest = -Infinity;
  for (const logit of row) highest = Math.max(highest, logit);
  let total = 0;
  for (const logit of row) total += Math.exp(logit - highest);
  const shift = highest + Math.log(total);
  return row.map((logit) => logit - shift);
}
