import { expect, test } from "@jest/globals";
import { paceBound } from "../../benchmarks/async/pace-bound.ts";

test("the bound: a take in turn with a lag of 0, lag + 1 takes in the time of one with equal durations, one take in the time of learning at most", () => {
  const durations = Array.from({ length: 40 }, () => 4);
  const last = (lag: number, learnSeconds: number): number =>
    paceBound({ lag, groups: 2, learnSeconds, durations }).at(-1) as number;
  expect(last(0, 1)).toBe(20 * 4 + 19);
  // The takes at 4, 5, 6 and 7 s, at 9, 10, 11 and 12 s, ...
  expect(last(3, 1)).toBe(4 + 4 * 5 + 3);
  expect(last(3, 10)).toBe(4 + 19 * 10);
});
