import { type Fixture, type FixtureRequest, messageText } from "@mrlm/kit";
import { optimalMove } from "./rules.ts";
import type { NimTask } from "./tasks.ts";

type Request = FixtureRequest<NimTask>;

const pileOf = ({ messages }: Request): number =>
  Number(/\d+/.exec(messageText(messages.at(-1) as Request["messages"][number]))?.[0]);
const optimal = (request: Request): string => String(optimalMove(pileOf(request)));

export const fixtures: readonly Fixture<NimTask>[] = [
  { name: "optimal play from 21", kind: "gold", task: "train/20", policy: optimal, reward: { first: 1, second: -1 } },
  { name: "optimal play from 20", kind: "gold", task: "train/19", policy: optimal, reward: { first: -1, second: 1 } },
  {
    name: "optimal play against a random player",
    kind: "gold",
    task: "train/20",
    seed: 3,
    players: { second: { scripted: "random" } },
    policy: optimal,
    reward: 1,
  },
  {
    name: "the winning move of a position",
    kind: "gold",
    options: { style: "terse" },
    task: "eval/0",
    policy: optimal,
    reward: { first: 1, second: -1 },
  },
  { name: "no move", kind: "nop", task: "train/4", policy: () => "", reward: { first: -1, second: 1 } },
  {
    name: "more than the rules allow, to take the last one",
    kind: "cheat",
    task: "train/20",
    policy: (request) => String(pileOf(request)),
    reward: { first: -1, second: 1 },
  },
  {
    name: "every move at once",
    kind: "cheat",
    task: "train/6",
    policy: () => "1 2 3",
    reward: { first: -1, second: 1 },
  },
  {
    name: "a losing move of a position",
    kind: "cheat",
    task: "eval/15",
    policy: () => "3",
    reward: { first: -1, second: 1 },
  },
  {
    name: "words, after a legal move",
    kind: "malformed",
    task: "train/8",
    policy: ({ role }) => (role === "first" ? "2" : "I take some."),
    reward: { first: 1, second: -1 },
  },
  {
    name: "the same game twice",
    kind: "determinism",
    seed: 7,
    policy: ({ turn }) => String(1 + (turn % 3)),
  },
];
