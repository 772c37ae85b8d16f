import { expect, test } from "@jest/globals";
import { parseRequirement } from "../src/evaluation/requirement.ts";
import { summariseEpisodes } from "../src/evaluation/summarise.ts";

const summary = {
  ...summariseEpisodes([]),
  accuracy: 1,
  strictAccuracy: 0.5,
  reward: 0.25,
  components: { format: 0.75 },
  passAtK: [{ k: 4, value: 0.9, interval: null, all: { value: 0.1, interval: null }, tasks: 3 }],
};
const result = { environment: "math@2", tasks: 3, greedy: summary, sampled: { ...summary, reward: 0.5 } };

test.each([
  ["accuracy >= 0.8", 0.5, false],
  ["accuracy>=0.5", 0.5, true],
  ["reward > 0.25", 0.25, false],
  ["sampled.reward > 0.25", 0.5, true],
  ["reward:format < 1", 0.75, true],
  ["reward:absent < 1", null, false],
  ["pass@4 >= 0.9", 0.9, true],
  ["pass^4 <= 0.1", 0.1, true],
  ["pass@8 >= 0", null, false],
  ["failed <= 0", 0, true],
])("%s: failures count as wrong, and a missing number does not hold", (text, number, isMet) => {
  const { numberOf, holds } = parseRequirement(text);
  const found = numberOf(result);
  expect([found, found !== null && holds(found)]).toEqual([number, isMet]);
});

test.each(["accuracy", "accuracy = 0.8", "accuracy >= high", "acuracy >= 0.8", "toString >= 0", "pass@x >= 1", ""])(
  "%s is refused with an example",
  (text) => {
    expect(() => parseRequirement(text)).toThrow(expect.objectContaining({ code: "USAGE" }));
  },
);
