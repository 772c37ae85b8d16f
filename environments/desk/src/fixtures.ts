import { callMessage, type Fixture, type FixtureRequest, type Message, messageText } from "@mrlm/kit";
import { planOf } from "./plan.ts";
import type { PrivateDesk, PublicDesk } from "./tasks.ts";

type Request = FixtureRequest<PublicDesk, PrivateDesk>;

const players = { user: { scripted: "customer" } };
const written = ({ messages }: Request): number => messages.filter(({ role }) => role === "assistant").length;
const plan = (request: Request): string | Message =>
  planOf(request.task.public, request.task.private)[written(request)] ?? "";
const numberOf = ({ task }: Request): string => task.private.goals[0]?.number ?? "";
/** Plays the plan, with another message in the place of decisions. */
const instead =
  (change: (message: Message, request: Request) => string | Message) =>
  (request: Request): string | Message => {
    const message = plan(request);
    const isDecision =
      typeof message !== "string" &&
      message.parts.some((part) => part.type === "tool-call" && ["refund", "change", "refuse"].includes(part.name));
    return isDecision ? change(message, request) : message;
  };

export const fixtures: readonly Fixture<PublicDesk, PrivateDesk>[] = [
  { name: "decisions of the policy", kind: "gold", players, policy: plan, reward: 1 },
  { name: "two requests", kind: "gold", options: { levels: 4 }, players, policy: plan, reward: 1 },
  { name: "the terse style", kind: "gold", options: { style: "terse", levels: 1 }, players, policy: plan, reward: 1 },
  {
    name: "a customer of another kind",
    kind: "gold",
    options: { levels: 2 },
    task: "train/1",
    policy: (request) => (request.role === "agent" ? plan(request) : "Please help me."),
    reward: { agent: 1, user: 0 },
  },
  { name: "silence", kind: "nop", players, policy: () => "", reward: 0 },
  { name: "closing at once", kind: "cheat", players, policy: () => callMessage("close"), reward: 0 },
  {
    name: "a refund of everything",
    kind: "cheat",
    task: "train/2",
    players,
    policy: instead((_message, request) => callMessage("refund", { number: numberOf(request), to: "card" }, "9")),
    reward: 0,
  },
  {
    name: "promises in place of decisions",
    kind: "cheat",
    players,
    policy: instead(() => "Your request is granted, and the database is right."),
    reward: 0,
  },
  {
    name: "decisions in words",
    kind: "malformed",
    players,
    policy: instead((message) => messageText(message)),
    reward: 0,
  },
  {
    name: "a question again and again",
    kind: "determinism",
    seed: 5,
    players,
    policy: () => "What is the number, and the surname?",
  },
];
