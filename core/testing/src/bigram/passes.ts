import { type EngineUnit, MrlmError, type OutputSelection, type UnitGradients, type UnitOutputs } from "@mrlm/spec";
import { type BigramParameters, logSoftmaxRow } from "./parameters.ts";

/** Computes the outputs of one unit. */
export function forwardUnit(
  parameters: BigramParameters,
  unit: EngineUnit,
  outputs: OutputSelection,
  temperature: number,
): UnitOutputs {
  const masked = maskedPositions(unit);
  const logprob = new Float32Array(masked.length);
  const entropy = new Float32Array(masked.length);
  const value = new Float32Array(masked.length);
  const { top = 0 } = outputs;
  const topTokens = new Int32Array(masked.length * top);
  masked.forEach(({ previous, token }, i) => {
    const row = logSoftmaxRow(parameters, previous, temperature);
    logprob[i] = row[token] as number;
    entropy[i] = entropyOf(row);
    value[i] = parameters.values[previous] as number;
    const order = Array.from(row.keys()).sort((a, b) => (row[b] as number) - (row[a] as number) || a - b);
    topTokens.set(order.slice(0, top), i * top);
  });
  const lasts = unit.sequences.map(({ tokens }) => tokens[tokens.length - 1] as number);
  const topLogprob = Float32Array.from(topTokens, (token, i) => {
    const { previous } = masked[Math.floor(i / top)] as (typeof masked)[number];
    return logSoftmaxRow(parameters, previous, temperature)[token] as number;
  });
  return {
    ...(top > 0 && { topTokens, topLogprob }),
    ...(outputs.logprob && { logprob }),
    ...(outputs.entropy && { entropy }),
    ...(outputs.value && { value }),
    ...(outputs.finalValue && { finalValue: Float32Array.from(lasts, (token) => parameters.values[token] as number) }),
  };
}

/**
 * Adds `scale` times the gradient of the sum over all outputs of (output × its given gradient) to `into`. With l the log-softmax of a row at
 * temperature T, p = exp(l) and H its entropy: dl[t]/dlogit[j] = (1{j=t} - p[j]) / T and
 * dH/dlogit[j] = -p[j] (l[j] + H) / T.
 */
export function backwardUnit(
  parameters: BigramParameters,
  unit: EngineUnit,
  gradients: UnitGradients,
  pass: { readonly temperature: number; readonly scale: number; readonly into: BigramParameters },
): void {
  const { temperature, scale, into } = pass;
  const { vocabSize } = parameters;
  maskedPositions(unit).forEach(({ previous, token }, i) => {
    const byLogprob = ((gradients.logprob?.[i] ?? 0) * scale) / temperature;
    const byEntropy = ((gradients.entropy?.[i] ?? 0) * scale) / temperature;
    into.values[previous] = (into.values[previous] as number) + (gradients.value?.[i] ?? 0) * scale;
    if (byLogprob === 0 && byEntropy === 0) return;
    const row = logSoftmaxRow(parameters, previous, temperature);
    const entropy = entropyOf(row);
    row.forEach((log, j) => {
      const at = previous * vocabSize + j;
      const p = Math.exp(log);
      const change = byLogprob * ((j === token ? 1 : 0) - p) - byEntropy * p * (log + entropy);
      into.logits[at] = (into.logits[at] as number) + change;
    });
  });
}

/** Returns the entropy in nats. */
function entropyOf(row: Float64Array): number {
  return row.reduce((sum, log) => sum - Math.exp(log) * log, 0);
}

/** Returns the masked tokens of a unit, or their targets, each with the previous token. */
export function maskedPositions({ sequences }: EngineUnit): { previous: number; token: number }[] {
  return sequences.flatMap(({ tokens, mask, targets }) => {
    const masked = Array.from(mask.keys()).filter((t) => mask[t] === 1);
    const each = targets === undefined ? 1 : targets.length / masked.length;
    return masked.flatMap((t, i) =>
      Array.from({ length: each }, (_, k) => ({
        previous: tokens[t - 1] as number,
        token: (targets === undefined ? tokens[t] : targets[i * each + k]) as number,
      })),
    );
  });
}

/** Throws unless the model can evaluate the unit. */
export function checkUnit(
  { sequences }: EngineUnit,
  limits: { readonly vocabSize: number; readonly maxPositions: number },
  index: number,
): void {
  sequences.forEach(({ tokens, mask, targets = tokens }, s) => {
    const where = `Sequence ${s} of unit ${index}`;
    const fault = (problem: string): MrlmError => new MrlmError("SEQUENCE_INVALID", `${where} ${problem}.`);
    if (tokens.length === 0) throw fault("has no tokens");
    if (tokens.length !== mask.length) throw fault(`has ${tokens.length} tokens and a mask of ${mask.length}`);
    if (mask[0] !== 0) throw fault("asks for the outputs of its first token, which has nothing before it");
    const masked = mask.reduce((sum, chosen) => sum + chosen, 0);
    if (targets !== tokens && !(targets.length > 0 && targets.length % masked === 0))
      throw fault(`has ${targets.length} targets for ${masked} masked positions`);
    const outside = targets.find((token) => token < 0 || token >= limits.vocabSize);
    if (targets !== tokens && outside !== undefined) throw fault(`has the target ${outside}`);
    const bad = tokens.findIndex((token) => token < 0 || token >= limits.vocabSize);
    if (bad >= 0) throw fault(`has token ${tokens[bad]} at position ${bad}; the vocabulary has ${limits.vocabSize}`);
    if (tokens.length > limits.maxPositions) {
      throw new MrlmError(
        "SEQUENCE_TOO_LONG",
        `${where} has ${tokens.length} tokens; the model takes ${limits.maxPositions}.`,
      );
    }
  });
}

/** Throws unless each gradient has one number for each masked position. */
export function checkGradients(unit: EngineUnit, gradients: UnitGradients, index: number): void {
  const count = maskedPositions(unit).length;
  for (const [name, gradient] of Object.entries(gradients) as [string, Float32Array | undefined][]) {
    if (gradient !== undefined && gradient.length !== count) {
      throw new MrlmError(
        "GRADIENT_SHAPE",
        `The gradient of ${name} of unit ${index} has ${gradient.length} numbers for ${count} masked positions.`,
      );
    }
  }
}
