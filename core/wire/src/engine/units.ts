import type { EngineUnit, OutputSelection, UnitGradients, UnitOutputs } from "@mrlm/spec";
import { EMPTY, bytesOf, floatsOf, integersOf, plainBytes } from "../bytes.ts";
import type { Codec } from "../codec.ts";
import type * as wire from "../gen/mrlm/engine/v1/engine.ts";

/** Codec: unit, and the gradients that are sent with it. */
export const unitCodec = {
  /**
   * Encodes a unit as views of its arrays. Gradients that are known beforehand cover the whole unit and are split at the boundaries of its sequences.
   */
  encode({ sequences }: EngineUnit, gradients?: UnitGradients): wire.Unit {
    let start = 0;
    return {
      sequences: sequences.map(({ tokens, mask, targets }) => {
        const known = { gradLogprob: EMPTY, gradEntropy: EMPTY, gradValue: EMPTY };
        const sequence = { tokens: bytesOf(tokens), mask, ...known, targets: bytesOf(targets) };
        if (gradients === undefined) return sequence;
        const end = start + (targets?.length ?? maskedCount(mask));
        sequence.gradLogprob = bytesOf(gradients.logprob?.subarray(start, end));
        sequence.gradEntropy = bytesOf(gradients.entropy?.subarray(start, end));
        sequence.gradValue = bytesOf(gradients.value?.subarray(start, end));
        start = end;
        return sequence;
      }),
    };
  },

  decode({ sequences }: wire.Unit): EngineUnit {
    return {
      sequences: sequences.map(({ tokens, mask, targets }) => ({
        tokens: integersOf(tokens),
        mask: plainBytes(mask),
        ...(targets.length > 0 && { targets: integersOf(targets) }),
      })),
    };
  },

  /** Returns the gradients that were sent with a unit, joined over its sequences. */
  decodeGradients({ sequences }: wire.Unit): UnitGradients {
    return {
      ...joined(
        "logprob",
        sequences.map((sequence) => sequence.gradLogprob),
        sequences,
      ),
      ...joined(
        "entropy",
        sequences.map((sequence) => sequence.gradEntropy),
        sequences,
      ),
      ...joined(
        "value",
        sequences.map((sequence) => sequence.gradValue),
        sequences,
      ),
    };
  },
};

function joined(
  name: keyof UnitGradients,
  pieces: Uint8Array[],
  sequences: wire.Sequence[],
): UnitGradients | undefined {
  if (pieces.every((piece) => piece.length === 0)) return undefined;
  const whole = pieces.map((piece, i) =>
    piece.length === 0 ? new Float32Array(outputCount(sequences[i] as wire.Sequence)) : floatsOf(piece),
  );
  const result = new Float32Array(whole.reduce((sum, piece) => sum + piece.length, 0));
  let offset = 0;
  for (const piece of whole) {
    result.set(piece, offset);
    offset += piece.length;
  }
  return { [name]: result };
}

function outputCount({ mask, targets }: wire.Sequence): number {
  return targets.length > 0 ? targets.length / 4 : maskedCount(mask);
}

/** Counts the positions whose outputs are requested. */
export function maskedCount(mask: Uint8Array): number {
  let count = 0;
  for (let i = 0; i < mask.length; i++) count += mask[i] as number;
  return count;
}

/** Codec: selection of outputs. */
export const selectionCodec: Codec<OutputSelection, wire.OutputSelection, wire.OutputSelection | undefined> = {
  encode: ({ logprob = false, entropy = false, value = false, finalValue = false, top = 0 }) => ({
    logprob,
    entropy,
    value,
    finalValue,
    top,
  }),

  decode: (selection) => {
    const { top = 0, ...flags } = selection ?? {};
    return top > 0 ? { ...flags, top } : flags;
  },
};

/** Codec: outputs of a unit. */
export const outputsCodec = {
  encode({ logprob, entropy, value, finalValue, topTokens, topLogprob }: UnitOutputs): wire.UnitOutputs {
    return {
      logprob: bytesOf(logprob),
      entropy: bytesOf(entropy),
      value: bytesOf(value),
      finalValue: bytesOf(finalValue),
      topTokens: bytesOf(topTokens),
      topLogprob: bytesOf(topLogprob),
    };
  },

  /** Returns the requested outputs. An output of a unit without masked positions is an empty array, not omitted. */
  decode(outputs: wire.UnitOutputs, selection: OutputSelection): UnitOutputs {
    return {
      ...(selection.logprob && { logprob: floatsOf(outputs.logprob) }),
      ...(selection.entropy && { entropy: floatsOf(outputs.entropy) }),
      ...(selection.value && { value: floatsOf(outputs.value) }),
      ...(selection.finalValue && { finalValue: floatsOf(outputs.finalValue) }),
      ...((selection.top ?? 0) > 0 && {
        topTokens: integersOf(outputs.topTokens),
        topLogprob: floatsOf(outputs.topLogprob),
      }),
    };
  },
};

/** Codec: gradients of a unit. */
export const gradientsCodec: Codec<UnitGradients, wire.UnitGradients> = {
  encode: ({ logprob, entropy, value }) => ({
    logprob: bytesOf(logprob),
    entropy: bytesOf(entropy),
    value: bytesOf(value),
  }),

  /** Decodes the gradients of a unit. Empty bytes stand for zeros; such a gradient is omitted. */
  decode: ({ logprob, entropy, value }) => ({
    ...(logprob.length > 0 && { logprob: floatsOf(logprob) }),
    ...(entropy.length > 0 && { entropy: floatsOf(entropy) }),
    ...(value.length > 0 && { value: floatsOf(value) }),
  }),
};
