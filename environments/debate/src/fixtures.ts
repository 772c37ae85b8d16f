import { divide, type Fixture, type FixtureRequest, type Message } from "@mrlm/kit";
import { debateOptions } from "./options.ts";
import { propositions } from "./propositions.ts";
import { workedDebate } from "./worked-debate.ts";
import type { Side } from "./sides.ts";
import type { PrivateTask, PublicTask } from "./tasks.ts";

type Request = FixtureRequest<PublicTask, PrivateTask>;

const { eval_share: share, task_seed: seed } = debateOptions.parse({});
const { train } = divide(propositions, share, seed);
const task = `train/${train.findIndex(({ question }) => question === workedDebate.question)}`;

/** Number of turns that the agent has had. */
const roundOf = ({ messages }: Request): number => messages.filter(({ role }) => role === "assistant").length;
const argument = (request: Request): string => workedDebate[request.role as Side][roundOf(request)] ?? "";
/** Returns other messages for one side, and the worked debate for the other. */
const against =
  (side: Side, write: (request: Request) => string | Message) =>
  (request: Request): string | Message =>
    request.role === side ? write(request) : argument(request);
const thoughtAndCall: Message = {
  role: "assistant",
  parts: [
    { type: "thinking", text: "I have the better arguments." },
    { type: "tool-call", id: "1", name: "win", arguments: {} },
  ],
};

/** Scores of the worked debate by `rules@1`. */
const HONEST = { pro: 0.7833333333333333, con: 0.7316666666666667 };

export const fixtures: readonly Fixture<PublicTask, PrivateTask>[] = [
  {
    name: "an honest debate",
    kind: "gold",
    options: { turns: 2 },
    task,
    policy: argument,
    reward: { pro: HONEST.pro - HONEST.con, con: HONEST.con - HONEST.pro },
  },
  {
    name: "an honest debate, each side for itself, by step",
    kind: "gold",
    options: { turns: 2, rewards: { kind: "individual", when: "step" } },
    task,
    policy: argument,
    reward: HONEST,
  },
  {
    name: "an honest debate at the same time, for both sides together",
    kind: "gold",
    options: { turns: 2, order: "simultaneous", rewards: { kind: "cooperative", when: "step" } },
    task,
    policy: argument,
    reward: 0.7575,
  },
  {
    name: "an honest side against stock arguments",
    kind: "gold",
    options: { turns: 2 },
    task,
    seed: 3,
    players: { con: { scripted: "stock" } },
    policy: argument,
    reward: 0.6636153769841269,
  },
  { name: "two silent sides", kind: "nop", policy: () => "", reward: 0 },
  {
    name: "phrases without an argument",
    kind: "cheat",
    options: { turns: 2, rewards: { kind: "individual" } },
    task,
    policy: against("pro", () => workedDebate.stuffing),
    reward: { pro: 0, con: HONEST.con },
  },
  {
    name: "the other side's arguments again",
    kind: "cheat",
    options: { turns: 2, rewards: { kind: "individual" } },
    task,
    policy: against("con", (request) => `As has been stated: ${workedDebate.pro[roundOf(request)]}`),
    reward: { pro: HONEST.pro, con: 0 },
  },
  {
    name: "the proposition again and again",
    kind: "cheat",
    options: { turns: 2, rewards: { kind: "individual" } },
    task,
    policy: against("con", () => `${workedDebate.question} `.repeat(4)),
    reward: { pro: HONEST.pro, con: 0 },
  },
  {
    name: "a thought and a call without an argument",
    kind: "malformed",
    options: { turns: 2, rewards: { kind: "individual" } },
    task,
    policy: against("con", () => thoughtAndCall),
    reward: { pro: HONEST.pro, con: 0 },
  },
  {
    name: "the same debate twice",
    kind: "determinism",
    options: { turns: 3, rewards: { when: "step" } },
    seed: 11,
    players: { con: { scripted: "stock" } },
    policy: ({ turn, task: { public: shown } }) => `${turn}: ${shown.background.slice(0, 40 * turn)}`,
  },
];
