import { expect, test } from "@jest/globals";
import type { AlgorithmContext, EngineUnit } from "@mrlm/kit/learning";
import { BigramEngine } from "@mrlm/testing";
import { distillPass } from "../src/distill-pass.ts";
import { groupSample, options, sample } from "./support/groups.ts";

const VOCABULARY = 6;
const logSoftmax = (values: readonly number[]): number[] => {
  const log = Math.log(values.reduce((sum, value) => sum + Math.exp(value), 0));
  return values.map((value) => value - log);
};

/** Returns all log-probabilities after each token. */
async function tableOf(engine: BigramEngine, model: string): Promise<number[][]> {
  const units = Array.from({ length: VOCABULARY }, (_, previous) => ({
    sequences: [
      {
        tokens: Int32Array.of(previous, 0),
        mask: Uint8Array.of(0, 1),
        targets: Int32Array.from({ length: VOCABULARY }, (_, token) => token),
      },
    ],
  }));
  const outputs = await engine.forward({ model, units, outputs: { logprob: true } });
  return outputs.map(({ logprob = [] }) => logSoftmax(Array.from(logprob)));
}

test.each(["all", 2] as const)(
  "over %s tokens, one plain step changes the table by the enumerated gradient of the divergences, weighted as the aggregation states",
  async (distill_top_k) => {
    const engine = new BigramEngine();
    const config = { vocab_size: VOCABULARY, initializer_range: 1 };
    for (const [model, seed] of [
      ["policy", 1],
      ["teacher", 2],
    ] as const) {
      const source = { kind: "random", config, seed, tokenizerFiles: {} } as const;
      await engine.createModel({ model, role: "policy", trainable: true, source });
    }
    const [policy, teacher] = [await tableOf(engine, "policy"), await tableOf(engine, "teacher")];
    // Two episodes of one group: three tokens after 4, 1 and 2, and one token after 3.
    const rows = [
      { tokens: [4, 1, 2, 5], mask: [0, 1, 1, 1] },
      { tokens: [0, 3, 1], mask: [0, 0, 1] },
    ];
    const group = groupSample(sample(0, [rows[0]!.mask], [-1, -1, -1]), sample(0, [rows[1]!.mask], [-1]));
    const units: EngineUnit[] = [
      { sequences: rows.map(({ tokens, mask }) => ({ tokens: Int32Array.from(tokens), mask: Uint8Array.from(mask) })) },
    ];
    const context = {
      engine,
      policy: "policy",
      reference: async () => "teacher",
      sampling: { temperature: 1 },
    } as unknown as AlgorithmContext;
    const settings = options({ distill_coefficient: 0.5, aggregation: "sequence_mean" });
    const { divergence } = await distillPass(context, { ...settings, distill_top_k }, [group], units, 2);
    await engine.optimStep({ model: "policy", learningRate: 1e6, beta1: 0, beta2: 0, epsilon: 1e6, weightDecay: 0 });
    const after = await tableOf(engine, "policy");

    // Divergence over the classes after each token, and its gradient; sequence_mean weighs a token by 1 / (tokens of its episode).
    const wanted = policy.map((row) => row.map(() => 0));
    let total = 0;
    for (const [previous, weight] of [
      [4, 1 / 3],
      [1, 1 / 3],
      [2, 1 / 3],
      [3, 1],
    ] as const) {
      const [own, theirs] = [policy[previous] as number[], teacher[previous] as number[]];
      const best = [...own.keys()].sort((a, b) => (own[b] as number) - (own[a] as number));
      const kept = best.slice(0, distill_top_k === "all" ? VOCABULARY : distill_top_k);
      const rest = (row: readonly number[]): number =>
        row.reduce((sum, log, token) => sum + (kept.includes(token) ? 0 : Math.exp(log)), 0);
      const ratios = own.map((log, token) =>
        kept.includes(token) ? log - (theirs[token] as number) : Math.log(rest(own) / rest(theirs)),
      );
      const value = own.reduce((sum, log, token) => sum + Math.exp(log) * (ratios[token] as number), 0);
      total += value;
      for (const [token, log] of own.entries())
        (wanted[previous] as number[])[token] =
          (0.5 * weight * Math.exp(log) * ((ratios[token] as number) - value)) / 2;
    }
    expect(divergence).toEqual({ sum: expect.closeTo(total, 5), count: 4 });
    // Log-probabilities of logits that moved by the gradient.
    for (const [previous, row] of policy.entries()) {
      const moved = logSoftmax(row.map((log, token) => log - ((wanted[previous] as number[])[token] as number)));
      for (const [token, log] of moved.entries()) expect(after[previous]?.[token]).toBeCloseTo(log, 5);
    }
  },
);
