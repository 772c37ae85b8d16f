import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import type { AnswerLogprobs } from "../src/losses/pair-loss.ts";
import { type PreferenceLossOptions, preferenceLoss } from "../src/losses/index.ts";
import { lossNames } from "../src/losses/index.ts";

const base: PreferenceLossOptions = {
  loss: "sigmoid",
  beta: 0.1,
  label_smoothing: 0,
  simpo_margin: 0.5,
  kto_desirable_weight: 1,
  kto_undesirable_weight: 1,
  nll_coefficient: 0,
};
const logprob = fc.double({ min: -30, max: 0, noNaN: true });
const answer: fc.Arbitrary<AnswerLogprobs> = fc.record({
  policy: logprob,
  reference: logprob,
  tokens: fc.integer({ min: 1, max: 20 }),
});
const options: fc.Arbitrary<PreferenceLossOptions> = fc.record({
  loss: fc.constantFrom(...lossNames),
  beta: fc.double({ min: 0.01, max: 2, noNaN: true }),
  label_smoothing: fc.double({ min: 0, max: 0.4, noNaN: true }),
  simpo_margin: fc.double({ min: 0, max: 2, noNaN: true }),
  kto_desirable_weight: fc.double({ min: 0, max: 2, noNaN: true }),
  kto_undesirable_weight: fc.double({ min: 0, max: 2, noNaN: true }),
  nll_coefficient: fc.double({ min: 0, max: 1, noNaN: true }),
});
const [won, lost]: AnswerLogprobs[] = [
  { policy: -4, reference: -5, tokens: 2 },
  { policy: -9, reference: -6, tokens: 3 },
];
const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x));

describe("preferenceLoss", () => {
  // r_w = 1, r_l = -3, β = 0.1; means 0.5 and -1.
  test.each<[string, Partial<PreferenceLossOptions>, number]>([
    ["sigmoid", {}, -Math.log(sigmoid(0.4))],
    ["cDPO", { label_smoothing: 0.2 }, -0.8 * Math.log(sigmoid(0.4)) - 0.2 * Math.log(sigmoid(-0.4))],
    ["hinge", { loss: "hinge" }, 0.6],
    ["numerics 42: ipo, of mean log-probabilities", { loss: "ipo" }, (1.5 - 5) ** 2],
    [
      "simpo, of mean log-probabilities and no reference",
      { loss: "simpo", beta: 2 },
      -Math.log(sigmoid(2 * (-2 + 3) - 0.5)),
    ],
    [
      "kto",
      { loss: "kto", kto_undesirable_weight: 1.5 },
      1 - sigmoid(0.1 * (1 - 0.5)) + 1.5 * (1 - sigmoid(0.1 * (0.5 + 3))),
    ],
    [
      "orpo, of means and their odds",
      { loss: "orpo", beta: 0.5 },
      2 - 0.5 * Math.log(sigmoid(-2 - Math.log(1 - Math.exp(-2)) + 3 + Math.log(1 - Math.exp(-3)))),
    ],
    ["with the chosen answer's likelihood", { nll_coefficient: 0.5 }, -Math.log(sigmoid(0.4)) + 0.5 * 2],
  ])("golden number: %s", (_name, changes, expected) => {
    expect(
      preferenceLoss(won as AnswerLogprobs, lost as AnswerLogprobs, { ...base, ...changes }, 0.5).loss,
    ).toBeCloseTo(expected, 12);
  });

  test("numerics 40: at the reference the loss is ln 2 and its gradient is not 0", () => {
    const same = (policy: number): AnswerLogprobs => ({ policy, reference: policy, tokens: 5 });
    const { loss, chosenSlope, rejectedSlope } = preferenceLoss(same(-7), same(-3), base);
    expect([loss, chosenSlope, rejectedSlope]).toEqual([Math.LN2, -0.05, 0.05]);
  });

  test("slopes are the finite differences of the loss", () => {
    fc.assert(
      fc.property(
        answer,
        answer,
        options,
        fc.double({ min: 0, max: 3, noNaN: true }),
        (chosen, rejected, settings, divergence) => {
          const h = 1e-5;
          const at = (by: number, other: number): number =>
            preferenceLoss(
              { ...chosen, policy: chosen.policy + by },
              { ...rejected, policy: rejected.policy + other },
              settings,
              divergence,
            ).loss;
          const { chosenSlope, rejectedSlope } = preferenceLoss(chosen, rejected, settings, divergence);
          fc.pre(
            settings.loss !== "hinge" ||
              Math.abs(1 - settings.beta * (chosen.policy - chosen.reference - rejected.policy + rejected.reference)) >
                1e-3,
          );
          // The odds of a probability of 1 are infinite, and curved without bound near it.
          fc.pre(settings.loss !== "orpo" || [chosen, rejected].every(({ policy, tokens }) => policy / tokens < -1e-2));
          const scale = 1 + Math.abs(chosenSlope) + Math.abs(rejectedSlope) + Math.abs(at(0, 0));
          expect(Math.abs(chosenSlope - (at(h, 0) - at(-h, 0)) / (2 * h))).toBeLessThan(1e-5 * scale);
          expect(Math.abs(rejectedSlope - (at(0, h) - at(0, -h)) / (2 * h))).toBeLessThan(1e-5 * scale);
        },
      ),
    );
  });

  test("kto: the terms of a pair are those of its two single answers, and an absent answer has none", () => {
    const absent: AnswerLogprobs = { policy: 0, reference: 0, tokens: 0 };
    fc.assert(
      fc.property(answer, answer, options, fc.double({ min: 0, max: 3, noNaN: true }), (chosen, rejected, drawn, z) => {
        const settings = { ...drawn, loss: "kto" } as const;
        const pair = preferenceLoss(chosen, rejected, settings, z);
        const desirable = preferenceLoss(chosen, absent, settings, z);
        const undesirable = preferenceLoss(absent, rejected, settings, z);
        expect(desirable.loss + undesirable.loss).toBeCloseTo(pair.loss, 10);
        expect([desirable.chosenSlope, desirable.rejectedSlope]).toEqual([pair.chosenSlope, 0]);
        expect([undesirable.chosenSlope === 0, undesirable.rejectedSlope]).toEqual([true, pair.rejectedSlope]);
      }),
    );
  });

  test("numerics 42: finite for every length and however far the policy has gone", () => {
    const far: AnswerLogprobs = { policy: -1e6, reference: -1, tokens: 1 };
    const certain: AnswerLogprobs = { policy: 0, reference: -1, tokens: 3 };
    for (const loss of lossNames) {
      for (const [chosen, rejected] of [
        [far, won],
        [won, far],
        [certain, far],
        [far, certain],
        [certain, certain],
      ] as const) {
        expect(
          Object.values(preferenceLoss(chosen as AnswerLogprobs, rejected as AnswerLogprobs, { ...base, loss })).every(
            Number.isFinite,
          ),
        ).toBe(true);
      }
    }
  });

  test("a longer answer has the same loss in ipo, simpo and orpo if its mean is the same", () => {
    const longer = (one: AnswerLogprobs): AnswerLogprobs => ({
      policy: 3 * one.policy,
      reference: 3 * one.reference,
      tokens: 3 * one.tokens,
    });
    for (const loss of ["ipo", "simpo", "orpo"] as const) {
      const short = preferenceLoss(won as AnswerLogprobs, lost as AnswerLogprobs, { ...base, loss }).loss;
      expect(
        preferenceLoss(longer(won as AnswerLogprobs), longer(lost as AnswerLogprobs), { ...base, loss }).loss,
      ).toBeCloseTo(short, 12);
    }
  });
});
