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
  // Plain loops: runs on this model spend much of their time here, and a callback for each element doubles it.
  const row = new Float64Array(vocabSize);
  const start = previous * vocabSize;
  let highest = -Infinity;
  for (let token = 0; token < vocabSize; token++) {
    const logit = (logits[start + token] as number) / temperature;
    row[token] = logit;
    highest = Math.max(highest, logit);
  }
  let total = 0;
  for (let token = 0; token < vocabSize; token++) total += Math.exp((row[token] as number) - highest);
  const shift = highest + Math.log(total);
  for (let token = 0; token < vocabSize; token++) row[token] = (row[token] as number) - shift;
  return row;
}
