import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { pairLoss, stepLoss } from "../src/losses.ts";

/** Number with its derivatives with respect to the inputs: automatic differentiation in forward mode. */
class Dual {
  readonly value: number;
  readonly slopes: readonly number[];

  constructor(value: number, slopes: readonly number[]) {
    this.value = value;
    this.slopes = slopes;
  }

  static inputs(values: readonly number[]): Dual[] {
    return values.map(
      (value, i) =>
        new Dual(
          value,
          Array.from(values, (_, k) => Number(k === i)),
        ),
    );
  }

  #with(other: Dual, value: number, own: number, others: number): Dual {
    return new Dual(
      value,
      this.slopes.map((slope, i) => own * slope + others * (other.slopes[i] as number)),
    );
  }

  plus(other: Dual): Dual {
    return this.#with(other, this.value + other.value, 1, 1);
  }

  times(other: Dual): Dual {
    return this.#with(other, this.value * other.value, other.value, this.value);
  }

  scaled(factor: number, shift = 0): Dual {
    return this.#with(this, factor * this.value + shift, factor, 0);
  }

  /** Returns -log σ(x) = -log(1 / (1 + e^-x)). */
  negativeLogSigmoid(): Dual {
    const exp = Math.exp(-this.value);
    return this.#with(this, -Math.log(1 / (1 + exp)), -exp / (1 + exp), 0);
  }
}

/** Bradley-Terry with margin and centring, as the papers write it. */
function directPair([chosen, rejected]: Dual[], margin: number, center: number): Dual {
  const [won, lost] = [chosen as Dual, rejected as Dual];
  const sum = won.plus(lost);
  return won.plus(lost.scaled(-1)).scaled(1, -margin).negativeLogSigmoid().plus(sum.times(sum).scaled(center));
}

function directSteps(scores: readonly Dual[], labels: readonly number[]): Dual {
  return scores
    .map((score, k) => {
      const label = labels[k] as number;
      return score
        .negativeLogSigmoid()
        .scaled(label)
        .plus(
          score
            .scaled(-1)
            .negativeLogSigmoid()
            .scaled(1 - label),
        );
    })
    .reduce((sum, each) => sum.plus(each));
}

const score = fc.double({ min: -8, max: 8, noNaN: true });
const margin = fc.double({ min: 0, max: 3, noNaN: true });
const center = fc.double({ min: 0, max: 0.5, noNaN: true });

/** Largest difference of a loss and its slopes from those of the formula. */
function distance({ loss, slopes }: { loss: number; slopes: readonly number[] }, direct: Dual): number {
  return Math.max(
    Math.abs(loss - direct.value),
    ...slopes.map((slope, i) => Math.abs(slope - (direct.slopes[i] as number))),
  );
}

describe("pairLoss", () => {
  test("is the formula, and its slopes are the derivatives, to 1e-9", () => {
    fc.assert(
      fc.property(score, score, margin, center, (won, lost, m, c) => {
        expect(distance(pairLoss([won, lost], m, c), directPair(Dual.inputs([won, lost]), m, c))).toBeLessThan(1e-9);
      }),
    );
  });

  test.each([
    ["a swapped pair", pairLoss([-0.5, 1], 0.5, 0.1)],
    ["a missing margin", pairLoss([1, -0.5], 0, 0.1)],
    ["a margin of the other sign", pairLoss([1, -0.5], -0.5, 0.1)],
    ["no centring", pairLoss([1, -0.5], 0.5, 0)],
  ])("%s is found", (_, faulty) => {
    expect(distance(faulty, directPair(Dual.inputs([1, -0.5]), 0.5, 0.1))).toBeGreaterThan(1e-2);
  });

  test("golden numbers, and no overflow", () => {
    expect(pairLoss([0, 0], 0, 0)).toEqual({ loss: Math.LN2, slopes: [-0.5, 0.5] });
    expect(pairLoss([2, 0.5], 1, 0).loss).toBeCloseTo(Math.log(1 + Math.exp(-0.5)), 12);
    expect(pairLoss([-1000, 1000], 0, 0)).toEqual({ loss: 2000, slopes: [-1, 1] });
    expect(pairLoss([1000, -1000], 0, 0)).toEqual({ loss: 0, slopes: [0, 0] });
  });

  test("without a margin and centring, a shift of both scores changes nothing: the slopes add to 0", () => {
    fc.assert(
      fc.property(score, score, margin, (won, lost, m) => {
        const { slopes } = pairLoss([won, lost], m, 0);
        expect(Math.abs((slopes[0] as number) + (slopes[1] as number))).toBeLessThan(1e-12);
      }),
    );
  });
});

describe("stepLoss", () => {
  test("is the cross-entropy, and its slopes are the derivatives, to 1e-9", () => {
    const steps = fc.array(fc.tuple(score, fc.double({ min: 0, max: 1, noNaN: true })), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(steps, (each) => {
        const [scores, labels] = [each.map(([s]) => s), each.map(([, label]) => label)];
        expect(distance(stepLoss(scores, labels), directSteps(Dual.inputs(scores), labels))).toBeLessThan(1e-9);
      }),
    );
  });

  test("labels that are off by one step, or inverted, are found", () => {
    const direct = directSteps(Dual.inputs([1, -2, 0.5]), [1, 0, 1]);
    expect(distance(stepLoss([1, -2, 0.5], [1, 1, 0]), direct)).toBeGreaterThan(0.1);
    expect(distance(stepLoss([1, -2, 0.5], [0, 1, 0]), direct)).toBeGreaterThan(0.1);
  });
});
