import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { tokenDivergence } from "../src/token-divergence.ts";

const logit = fc.double({ min: -3, max: 3, noNaN: true });
/** Logits of the policy and of the teacher for each token of a vocabulary. */
const logits = fc.array(fc.tuple(logit, logit), { minLength: 3, maxLength: 7 });

const logSoftmax = (values: readonly number[]): number[] => {
  const log = Math.log(values.reduce((sum, value) => sum + Math.exp(value), 0));
  return values.map((value) => value - log);
};
const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** Exact divergence over some tokens and the rest as one, and its derivative with respect to each logit, by enumeration of the whole vocabulary. */
function exact(pairs: readonly (readonly [number, number])[], kept: readonly number[]) {
  const [policy, teacher] = [logSoftmax(pairs.map(([own]) => own)), logSoftmax(pairs.map(([, theirs]) => theirs))];
  const isKept = (token: number): boolean => kept.includes(token);
  const restOf = (of: readonly number[]): number => sum(of.filter((_, token) => !isKept(token)).map(Math.exp));
  const [rest, theirs] = [restOf(policy), restOf(teacher)];
  // Logarithm of the ratio of the class of each token.
  const ratios = policy.map((log, token) =>
    isKept(token) ? log - (teacher[token] as number) : Math.log(rest) - Math.log(theirs),
  );
  const value = sum(policy.map((log, token) => Math.exp(log) * (ratios[token] as number)));
  // For classes c with probability P_c: dD/dz_j = p_j (log P_c(j) / Q_c(j) - D).
  const byLogit = policy.map((log, token) => Math.exp(log) * ((ratios[token] as number) - value));
  return { policy, teacher, value, byLogit };
}

/** Derivatives with respect to the logits, as the engine has them of the derivatives with respect to log-probabilities. */
function throughSoftmax(slopes: ArrayLike<number>, kept: readonly number[], policy: readonly number[]): number[] {
  const total = sum(Array.from(slopes));
  return policy.map((log, token) => {
    const at = kept.indexOf(token);
    return (at < 0 ? 0 : (slopes[at] as number)) - Math.exp(log) * total;
  });
}

const distance = (found: readonly number[], wanted: readonly number[]): number =>
  Math.max(...found.map((value, i) => Math.abs(value - (wanted[i] as number))));

describe("tokenDivergence", () => {
  test.each([
    ["the whole vocabulary", (size: number) => size],
    ["all tokens but two", (size: number) => size - 2],
    ["the most likely token", () => 1],
  ])("over %s: value and gradient are those of enumeration, to 1e-9", (_, keptOf) => {
    fc.assert(
      fc.property(logits, (pairs) => {
        const order = [...pairs.keys()].sort((a, b) => (pairs[b]?.[0] as number) - (pairs[a]?.[0] as number));
        const kept = order.slice(0, keptOf(pairs.length));
        const { policy, teacher, value, byLogit } = exact(pairs, kept);
        const at = (values: readonly number[]): number[] => kept.map((token) => values[token] as number);
        const found = tokenDivergence(at(policy), at(teacher));
        expect(Math.abs(found.value - value)).toBeLessThan(1e-9);
        expect(distance(throughSoftmax(found.slopes, kept, policy), byLogit)).toBeLessThan(1e-9);
      }),
    );
  });

  test("fewer tokens give a smaller divergence: the bias of a top k has one sign", () => {
    fc.assert(
      fc.property(logits, (pairs) => {
        const values = pairs.map((_, k) => exact(pairs, [...pairs.keys()].slice(0, k + 1)).value);
        for (const [k, value] of values.slice(1).entries())
          expect(value).toBeGreaterThanOrEqual((values[k] as number) - 1e-12);
      }),
    );
  });

  const example = [
    [1.5, -0.5],
    [0.5, 1],
    [-1, 0.25],
    [0, 0],
  ] as const;
  const kept = [0, 1];
  const { policy, teacher, byLogit } = exact(example, kept);
  const [own, theirs] = [policy.slice(0, 2), teacher.slice(0, 2)];
  const found = tokenDivergence(own, theirs);

  test.each<[string, number[]]>([
    ["a rest that is left out", own.map((log, i) => Math.exp(log) * (log - (theirs[i] as number)))],
    ["the forward divergence", theirs.map((log) => -Math.exp(log))],
    ["a term that counts twice", Array.from(found.slopes, (slope) => 2 * slope)],
    ["targets that are off by one", Array.from(found.slopes).toReversed()],
  ])("%s is found", (_, slopes) => {
    expect(distance(throughSoftmax(found.slopes, kept, policy), byLogit)).toBeLessThan(1e-9);
    expect(distance(throughSoftmax(slopes, kept, policy), byLogit)).toBeGreaterThan(1e-2);
  });

  test("a teacher that gives the rest no probability, and float32 sums above 1, stay finite", () => {
    const { value, slopes } = tokenDivergence([Math.log(0.6)], [0]);
    expect([value, ...slopes].every(Number.isFinite)).toBe(true);
    expect(tokenDivergence([Math.log(0.5), Math.log(0.5000001)], [Math.log(0.5), Math.log(0.5)]).value).toBeCloseTo(
      0,
      6,
    );
  });
});
