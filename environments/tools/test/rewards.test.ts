import { describe, expect, test } from "@jest/globals";
import type { Score } from "@mrlm/kit";
import { rewardOf } from "../src/rewards.ts";

const none = { required_tool: 0, other_tool: 0, unknown_tool: 0, malformed: 0 };
const valueOf = (...given: Parameters<typeof rewardOf>): number => (rewardOf(...given) as Score).value;

describe("outcome", () => {
  const outcome = { preset: "outcome" } as const;

  test.each([
    ["a right answer in the second of five turns", { answer: 1, coverage: 1, share: 2 / 5 }, 0.7 + 0.2 + 0.06],
    ["a right answer in the last turn", { answer: 1, coverage: 1, share: 1 }, 0.9],
    ["a right answer by one of two tools", { answer: 1, coverage: 1 / 2, share: 2 / 5 }, 0.7 + 0.1 + 0.06],
    ["a right answer to a task that requires no tool", { answer: 1, coverage: undefined, share: 1 / 5 }, 0.9 + 0.08],
    ["a right answer without any required tool", { answer: 1, coverage: 0, share: 1 / 5 }, 0],
    ["half an answer", { answer: 0.5, coverage: 1, share: 2 / 5 }, 0.35],
    ["a wrong answer with all tools", { answer: 0, coverage: 1, share: 2 / 5 }, 0],
    ["a wrong answer to a task that requires no tool", { answer: 0, coverage: undefined, share: 2 / 5 }, 0],
  ])("%s", (_name, end, expected) => expect(valueOf(outcome, none, end)).toBeCloseTo(expected, 12));

  test("calls earn nothing, and wrong ones cost 0.2 and 0.1 each", () => {
    expect(valueOf(outcome, { ...none, required_tool: 3, other_tool: 2 })).toBe(0);
    expect(valueOf(outcome, { ...none, unknown_tool: 2, malformed: 3 })).toBeCloseTo(-0.7, 12);
  });

  test("components are counts and shares, not weighted", () => {
    expect(rewardOf(outcome, { ...none, unknown_tool: 2 }, { answer: 1, coverage: 1 / 2, share: 2 / 5 })).toMatchObject(
      {
        components: { answer: 1, coverage: 0.5, efficiency: 0.6, malformed: 0, unknown_tool: 2 },
      },
    );
  });
});

describe("shaped", () => {
  const shaped = { preset: "shaped" } as const;

  test.each([
    ["a right answer", { answer: 1, coverage: 1, share: 2 / 5 }, 0.5 + 0.3 + 0.12],
    ["a wrong answer with all tools", { answer: 0, coverage: 1, share: 2 / 5 }, 0.3],
    ["a wrong answer with one of two tools", { answer: 0, coverage: 1 / 2, share: 2 / 5 }, 0.15],
    ["a wrong answer to a task that requires no tool", { answer: 0, coverage: undefined, share: 1 / 5 }, 0],
  ])("%s", (_name, end, expected) => expect(valueOf(shaped, none, end)).toBeCloseTo(expected, 12));

  test("pays 0.3 for a required tool, and -0.1, -0.2 and -0.1 for other, unknown and malformed calls", () => {
    expect(valueOf(shaped, { ...none, required_tool: 2 })).toBeCloseTo(0.6, 12);
    expect(valueOf(shaped, { ...none, other_tool: 1 })).toBeCloseTo(-0.1, 12);
    expect(valueOf(shaped, { ...none, unknown_tool: 1 })).toBeCloseTo(-0.2, 12);
    expect(valueOf(shaped, { ...none, malformed: 1 })).toBeCloseTo(-0.1, 12);
  });
});

test("a weight replaces that of the preset", () => {
  const end = { answer: 1, coverage: 1, share: 2 / 5 };
  expect(valueOf({ preset: "outcome", coverage: 0, malformed: -1 }, { ...none, malformed: 1 }, end)).toBeCloseTo(
    -0.24,
    12,
  );
});
