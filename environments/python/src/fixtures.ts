import { fileURLToPath } from "node:url";
import { type Fixture, type FixtureRequest, type JsonObject, messageText } from "@mrlm/kit";
import type { PrivateTask, PublicTask } from "./tasks.ts";

type Request = FixtureRequest<PublicTask, PrivateTask>;

const file = fileURLToPath(new URL("../fixtures/samples.py", import.meta.url));
const sums: JsonObject = { kind: "gymnasium", name: `${file}:Sums`, reward_range: [0, 1] };
const corridor: JsonObject = { kind: "gymnasium", name: `${file}:Corridor`, reward_range: [0, 1] };
const nim: JsonObject = {
  kind: "pettingzoo",
  name: `${file}:Nim`,
  agents: ["first", "second"],
  reward_range: [-1, 1],
};
const reversed: JsonObject = { kind: "reasoning_gym", name: `${file}:Reversed` };

const lastText = ({ messages }: Request): string => messageText(messages.at(-1) as never);
const sum = (request: Request): string => {
  const [, one, other] = /(\d+) \+ (\d+) =$/.exec(lastText(request)) ?? [];
  return String(Number(one) + Number(other));
};
const towards = (request: Request): string => (/"goal":-/.test(lastText(request)) ? "0" : "1");
const tagged = ({ task }: Request): string => `<answer>${task.private.answer}</answer>`;

/** Episodes of environments that need the standard library alone. */
export const fixtures: readonly Fixture<PublicTask, PrivateTask>[] = [
  { name: "the reference answer", kind: "gold", options: reversed, policy: tagged, reward: 1 },
  { name: "three sums", kind: "gold", options: sums, policy: sum, reward: 1 },
  {
    name: "steps to the goal",
    kind: "gold",
    options: corridor,
    policy: (request) => `To the goal: <action>${towards(request)}</action>`,
    reward: 1,
  },
  {
    name: "two players that take one",
    kind: "gold",
    options: nim,
    task: "train/0",
    policy: () => "1",
    reward: { first: -1, second: 1 },
  },
  { name: "nothing", kind: "nop", options: reversed, policy: () => "", reward: 0 },
  { name: "no action", kind: "nop", options: corridor, policy: () => "", reward: 0 },
  { name: "the question", kind: "cheat", options: reversed, policy: lastText, reward: 0 },
  {
    name: "letters of the answer in another order",
    kind: "cheat",
    options: reversed,
    task: "train/0",
    policy: ({ task }) => `<answer>${[...(task.private.answer ?? "")].toSorted().join("")}</answer>`,
    reward: 0,
  },
  {
    name: "the answer without its tag",
    kind: "malformed",
    options: reversed,
    policy: ({ task }) => task.private.answer ?? "",
    reward: 0,
  },
  {
    name: "an action outside of the space",
    kind: "malformed",
    options: nim,
    task: "train/0",
    policy: () => "3",
    reward: { first: -1, second: 0 },
  },
  {
    name: "a walk",
    kind: "determinism",
    options: corridor,
    seed: 4,
    policy: ({ turn }) => String(turn % 3 > 0 ? 1 : 0),
  },
  { name: "an answer", kind: "determinism", options: reversed, seed: 4, policy: () => "<answer>abc</answer>" },
];
