import { expect, test } from "@jest/globals";
import { differenceOf, type EngineCall, survivingCalls } from "./support/engine-calls.ts";

const pass = (digest: string): EngineCall => ({ kind: "pass", model: "policy", digest });
const save = (checkpoint: string): EngineCall => ({ kind: "save", checkpoint });
const load = (checkpoint: string): EngineCall => ({ kind: "load", checkpoint });

const undisturbed = [pass("a"), save("1-0"), pass("b"), save("2-0"), pass("c"), save("3-1")];

test("calls that survive are those between the checkpoints that were read, whichever process made them", () => {
  const processes = [
    [pass("lost")],
    [pass("a"), save("1-0"), pass("b"), save("2-0"), pass("lost")],
    // Its checkpoint was not completed: the next process begins with the one before.
    [load("2-0"), pass("lost"), save("3-1")],
    [load("2-0")],
    [load("2-0"), pass("c"), save("3-1")],
  ];
  expect(differenceOf(survivingCalls(processes), undisturbed)).toBe(undefined);
});

test.each([
  [
    "a batch that is learnt twice",
    [load("1-0"), pass("a"), pass("b"), save("2-0"), pass("c"), save("3-1")],
    "is pass policy a instead of pass policy b",
  ],
  ["a batch that is lost", [load("1-0"), pass("c"), save("2-0")], "is pass policy c instead of pass policy b"],
  ["a run that ends early", [load("1-0"), pass("b"), save("2-0")], "is missing instead of pass policy c"],
])("%s is found", (_, resumed, difference) => {
  const calls = survivingCalls([[pass("a"), save("1-0"), pass("lost")], resumed]);
  expect(differenceOf(calls, undisturbed)).toContain(
    `(after checkpoint ${difference.includes("missing") ? "2-0" : "1-0"}) ${difference}`,
  );
});

test("a checkpoint that no process wrote is an error", () => {
  expect(() =>
    survivingCalls([
      [pass("a"), save("1-0")],
      [load("2-0"), pass("c")],
    ]),
  ).toThrow("No process wrote checkpoint 2-0");
});
