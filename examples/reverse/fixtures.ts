import type { Fixture } from "@mrlm/kit";

/** Episodes with a known outcome. `mrlm check` and the contract suite play them. */
export const fixtures: readonly Fixture<{ number: string }, { answer: string }>[] = [
  { name: "the answer", kind: "gold", task: "eval/0", policy: ({ task }) => task.private.answer, reward: 1 },
  { name: "nothing", kind: "nop", task: "train/1", policy: () => "", reward: 0 },
  { name: "the field", kind: "cheat", task: "train/2", policy: () => "task.private.answer", reward: 0 },
  { name: "no number", kind: "malformed", task: "train/3", policy: () => "?", reward: 0 },
  { name: "twice the same", kind: "determinism", seed: 5, policy: ({ turn }) => String(turn) },
];
