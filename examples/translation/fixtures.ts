import type { Fixture } from "@mrlm/kit";

export const fixtures: readonly Fixture<{ german: string }, { english: string }>[] = [
  { name: "the reference", kind: "gold", policy: ({ task }) => task.private.english, reward: 1 },
  { name: "nothing", kind: "nop", policy: () => "", reward: 0 },
  { name: "the German sentence", kind: "cheat", policy: ({ task }) => task.public.german, reward: 0 },
  {
    name: "the reference three times",
    kind: "cheat",
    policy: ({ task }) => Array.from({ length: 3 }, () => task.private.english).join(" "),
    reward: 0,
  },
  { name: "another sentence", kind: "malformed", policy: () => "It is what it is.", reward: 0 },
  { name: "one word", kind: "determinism", seed: 5, policy: () => "The" },
];
