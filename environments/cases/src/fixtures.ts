import { fileURLToPath } from "node:url";
import type { Fixture, FixtureRequest, JsonObject } from "@mrlm/kit";
import { listOf } from "./read-cases.ts";

const optionsOf = (name: string): JsonObject => ({
  data: { path: fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url)), eval_share: 0.25 },
});
const [rows, promptfoo] = [optionsOf("plurals.jsonl"), optionsOf("promptfooconfig.yaml")];
const shared = { options: rows, task: "train/0" } as const;

/** Answers what the file expects; nothing where it expects nothing. */
function expected({ task }: FixtureRequest): string {
  const { list, index } = task.private as { readonly list: string; readonly index: number };
  return listOf(list).cases[index]?.expected ?? "";
}

/** Episodes with a known outcome. `mrlm improve` plays the policies of `gold` and `nop` under its own options. */
export const fixtures: readonly Fixture<never, never>[] = [
  { ...shared, name: "expected answer", kind: "gold", policy: expected, reward: 1 },
  { ...shared, name: "nothing", kind: "nop", policy: () => "", reward: 0 },
  {
    ...shared,
    name: "a sentence around the answer",
    kind: "malformed",
    policy: (request) => `It is ${expected(request)}.`,
    reward: 0,
  },
  { ...shared, name: "the question", kind: "cheat", policy: ({ messages }) => JSON.stringify(messages), reward: 0 },
  {
    ...shared,
    name: "the answer and others",
    kind: "cheat",
    policy: (request) => `${expected(request)} mice`,
    reward: 0,
  },
  { ...shared, name: "twice", kind: "determinism", policy: expected },
  { ...shared, options: promptfoo, name: "JSON that is right", kind: "gold", policy: expected, reward: 1 },
  {
    ...shared,
    options: promptfoo,
    name: "JSON that is wrong",
    kind: "malformed",
    policy: () => '{"capital": "Atlantis"}',
    reward: 0.25,
  },
];
