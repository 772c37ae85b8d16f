import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { sftBatch } from "../src/loss.ts";
import { targetSequence } from "../src/target-sequence.ts";

const sequence = (mask: number[]) =>
  targetSequence({ tokens: new Int32Array(mask.length), mask: Uint8Array.from(mask) }, 1, 0);
const masks = fc.array(fc.integer({ min: 0, max: 1 }), { minLength: 1, maxLength: 12 }).map((mask) => [0, ...mask]);

describe("sftBatch", () => {
  test("numerics 5: closed form of each aggregation on two sequences of 1 and 3 tokens", () => {
    const sequences = [sequence([0, 1]), sequence([0, 0, 1, 1, 1])];
    const weights = (aggregation: "token_mean" | "sequence_mean") => {
      const { gradients, normalizer } = sftBatch(sequences, aggregation);
      return gradients.map(({ logprob }) => Array.from(logprob ?? []).map((g) => g / normalizer));
    };
    expect(weights("token_mean")).toEqual([[-1 / 4], [-1 / 4, -1 / 4, -1 / 4]]);
    expect(weights("sequence_mean").map((row) => row.map((w) => w.toFixed(6)))).toEqual([
      ["-0.500000"],
      ["-0.166667", "-0.166667", "-0.166667"],
    ]);
  });

  test("numerics 2: sequences without a chosen token change nothing, the denominator included", () => {
    fc.assert(
      fc.property(
        fc.array(masks, { minLength: 1, maxLength: 6 }),
        fc.constantFrom("token_mean" as const, "sequence_mean" as const),
        (rows, aggregation) => {
          const kept = rows.filter((mask) => mask.includes(1)).map(sequence);
          expect(sftBatch([...rows.map(sequence), sequence([0, 0, 0])], aggregation)).toEqual(
            sftBatch(kept, aggregation),
          );
        },
      ),
    );
  });

  test("numerics 30: a completion of one token has a gradient", () => {
    expect(Array.from(sftBatch([sequence([0, 1])], "token_mean").gradients[0]?.logprob ?? [])).toEqual([-1]);
  });

  test("the gradient's total weight is -1 in either aggregation", () => {
    fc.assert(
      fc.property(
        fc.array(masks, { minLength: 1, maxLength: 6 }),
        fc.constantFrom("token_mean" as const, "sequence_mean" as const),
        (rows, aggregation) => {
          fc.pre(rows.some((mask) => mask.includes(1)));
          const { gradients, normalizer } = sftBatch(rows.map(sequence), aggregation);
          const total = gradients
            .flatMap(({ logprob }) => Array.from(logprob ?? []))
            .reduce((sum, g) => sum + g / normalizer, 0);
          expect(total).toBeCloseTo(-1, 5);
        },
      ),
    );
  });
});

describe("targetSequence", () => {
  const tokens = Int32Array.of(5, 6, 7, 8, 9, 10, 11);
  const mask = Uint8Array.of(0, 0, 1, 0, 0, 1, 1);

  test("a world model learns what follows the first turn and is no action, never the prompt", () => {
    expect(targetSequence({ tokens, mask }, 0, 1)).toEqual({
      tokens,
      mask: Uint8Array.of(0, 0, 0, 1, 1, 0, 0),
      weights: Float32Array.of(1, 1),
      observed: Uint8Array.of(1, 1),
    });
    expect(targetSequence({ tokens, mask: new Uint8Array(7) }, 0, 1).weights).toHaveLength(0);
  });

  test("both at once, by weights: the loss is their weighted mean", () => {
    const both = targetSequence({ tokens, mask }, 1, 0.5);
    expect([Array.from(both.mask), Array.from(both.weights), Array.from(both.observed)]).toEqual([
      [0, 0, 1, 1, 1, 1, 1],
      [1, 0.5, 0.5, 1, 1],
      [0, 1, 1, 0, 0],
    ]);
    const { gradients, normalizer } = sftBatch([both], "token_mean");
    expect([normalizer, Array.from(gradients[0]?.logprob ?? [])]).toEqual([4, [-1, -0.5, -0.5, -1, -1]]);
  });
});
