import { type AlgorithmContext, MrlmError, type SupervisedSequence } from "@mrlm/kit/learning";
import type { SftOptions } from "./options.ts";

/** Limit of the length of sequences, from the model's positions and the options. */
export interface LengthLimit {
  readonly tokens: number;
  /** Number of rows that were cut or left out so far. */
  readonly touched: number;
  /** Applies the limit to the sequences of one row. Throws DATA_INVALID for a longer sequence with `on_overlong: refuse`. */
  apply(sequences: readonly SupervisedSequence[], place: string): readonly SupervisedSequence[];
}

export async function lengthLimit(
  { engine, policy }: AlgorithmContext,
  { max_length, on_overlong }: Pick<SftOptions, "max_length" | "on_overlong">,
): Promise<LengthLimit> {
  const { models } = await engine.describe();
  const positions = models.find(({ model }) => model === policy)?.maxPositions ?? Number.POSITIVE_INFINITY;
  const tokens = Math.min(positions, max_length ?? Number.POSITIVE_INFINITY);
  let touched = 0;
  return {
    tokens,
    get touched() {
      return touched;
    },
    apply(sequences, place) {
      if (sequences.every((sequence) => sequence.tokens.length <= tokens)) return sequences;
      if (on_overlong === "refuse") {
        const longest = Math.max(...sequences.map((sequence) => sequence.tokens.length));
        throw new MrlmError("DATA_INVALID", `${place} has ${longest} tokens; ${tokens} are allowed.`, {
          hint: `Shorten or remove it, ${tokens < positions ? "raise max_length, " : ""}or choose on_overlong: truncate (cuts the end off) or skip.`,
        });
      }
      touched++;
      if (on_overlong === "skip") return [];
      return sequences
        .map((sequence) => ({ tokens: sequence.tokens.subarray(0, tokens), mask: sequence.mask.subarray(0, tokens) }))
        .filter(({ mask }) => mask.includes(1));
    },
  };
}
