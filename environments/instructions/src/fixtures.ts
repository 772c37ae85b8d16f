import type { Fixture, FixtureRequest } from "@mrlm/kit";
import { selectedOf } from "./items.ts";
import { questionOf } from "./prompt.ts";
import { type InstructionTask, writeAnswer } from "./task.ts";

type Request = FixtureRequest<InstructionTask>;

const right = ({ task }: Request): string => writeAnswer(task.public);
const namesOf = (items: readonly { readonly name: string }[]): string => items.map(({ name }) => name).join(", ");

export const fixtures: readonly Fixture<InstructionTask>[] = [
  { name: "an answer that follows all instructions", kind: "gold", policy: right, reward: 1 },
  { name: "the most instructions", kind: "gold", options: { levels: 5 }, policy: right, reward: 1 },
  { name: "the terse style", kind: "gold", options: { style: "terse" }, policy: right, reward: 1 },
  { name: "nothing", kind: "nop", policy: () => "", reward: 0 },
  { name: "the question", kind: "cheat", policy: ({ task }) => questionOf(task.public, "words"), reward: 0 },
  { name: "the names of all items", kind: "cheat", policy: ({ task }) => namesOf(task.public.items), reward: 0 },
  {
    name: "sentences without an item",
    kind: "cheat",
    options: { forms: ["prose"] },
    policy: ({ task }) =>
      selectedOf(task.public)
        .map(() => "This sentence has as many words as it needs.")
        .join("\n"),
    reward: 0,
  },
  {
    name: "a list of JSON in words",
    kind: "malformed",
    options: { forms: ["json"], levels: 1 },
    policy: ({ task }) => namesOf(selectedOf(task.public)),
    reward: 0,
  },
  { name: "one item", kind: "determinism", seed: 5, policy: ({ task }) => task.public.items[0]?.name ?? "" },
];
