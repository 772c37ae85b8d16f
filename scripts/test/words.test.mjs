import { expect, test } from "@jest/globals";
import { phrasesIn } from "../lib/words.mjs";

/** @param {string} text */
const found = (text, path = "core/kit/src/a.ts") => phrasesIn(path, text).map(({ phrase }) => phrase);

test.each([
  ["/** What a run tells while it goes on. */", ["/** What", "tells", "goes on"]],
  [" * Which walls stand between a submission and the host.", ["* Which", "walls"]],
  ["// The engine says so.", ["says"]],
  ["// Another wall around it.", ["Another wall"]],
  ["/** Tries until patience ends. */", ["patience"]],
  ["/** A lock that nobody else has. */", ["nobody"]],
])("%s", (text, phrases) => {
  expect(found(text)).toEqual(phrases);
});

test.each([
  "/** Event emitted during a run. */",
  "/** Wall-clock seconds of a step. */",
  "const wall = performance.now();",
  "// What is 6 x 7?",
  "const described = whatIs(value);",
  'expect(message).toBe("the engine says so"); // words: quoted',
])("%s is allowed", (text) => {
  expect(found(text)).toEqual([]);
});

test("some words are ruled out in some folders only", () => {
  expect(found("// The judge grades it.", "core/sandbox/src/a.ts")).toEqual(["judge"]);
  expect(found("// The judge grades it.")).toEqual([]);
  expect(found("# What it is", "docs/a.md")).toEqual([]);
  expect(found("# What it is", "a.yaml")).toEqual(["# What"]);
});
