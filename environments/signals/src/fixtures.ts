import { type Fixture, type FixtureRequest, messageText } from "@mrlm/kit";
import type { SignalsTask } from "./tasks.ts";

type Request = FixtureRequest<SignalsTask>;

const questionOf = ({ messages }: Request): string => messageText(messages.at(-1) as Request["messages"][number]);

/** A code in which the order of the symbols is reversed: any code serves as well as another. */
const MEANING_OF = { a: "6", b: "5", c: "4", d: "3", e: "2", f: "1" };
const SYMBOL_OF = Object.fromEntries(Object.entries(MEANING_OF).map(([symbol, meaning]) => [meaning, symbol]));
const symbolIn = (text: string): string => / ([a-z])\. /.exec(text)?.[1] ?? text;
const reversed = (request: Request): string => {
  const text = questionOf(request);
  return request.role === "sender"
    ? (SYMBOL_OF[/\d/.exec(text)?.[0] ?? ""] ?? "")
    : (MEANING_OF[symbolIn(text) as keyof typeof MEANING_OF] ?? "");
};
/** Names the meaning by a code of its own, in which `-` and unknown symbols stand for 1. */
const firstOr = (request: Request): string => reversed(request) || "1";

const all = (reward: number) => ({ sender: reward, receiver: reward });

export const fixtures: readonly Fixture<SignalsTask>[] = [
  { name: "a code in words", kind: "gold", task: "train/1", policy: reversed, reward: all(1) },
  {
    name: "a code in terse style",
    kind: "gold",
    options: { style: "terse" },
    task: "eval/4",
    policy: reversed,
    reward: all(1),
  },
  {
    name: "a sender that follows the code of the optimal receiver",
    kind: "gold",
    task: "train/2",
    players: { receiver: { scripted: "optimal" } },
    policy: () => " C.",
    reward: all(1),
  },
  {
    name: "a receiver that follows the code of the optimal sender",
    kind: "gold",
    options: { meanings: 20, symbols: 3 },
    task: "train/11",
    players: { sender: { scripted: "optimal", options: { meanings: 20, symbols: 3 } } },
    policy: () => "It is 12.",
    reward: { receiver: 1, sender: 1 },
  },
  {
    name: "a code without a reward of the sender",
    kind: "gold",
    options: { sender_reward: "none" },
    task: "train/0",
    policy: reversed,
    reward: { sender: 0, receiver: 1 },
  },
  { name: "no message", kind: "nop", task: "train/0", policy: () => "", reward: all(0) },
  {
    name: "the meaning itself in place of a symbol",
    kind: "cheat",
    task: "train/3",
    policy: (request) => (request.role === "sender" ? "4" : firstOr(request)),
    reward: all(0),
  },
  {
    name: "the meaning beside the symbol",
    kind: "cheat",
    task: "train/3",
    policy: (request) => (request.role === "sender" ? "a 4" : firstOr(request)),
    reward: all(0),
  },
  {
    name: "all meanings at once",
    kind: "cheat",
    task: "train/3",
    policy: (request) => (request.role === "sender" ? reversed(request) : "1 2 3 4 5 6"),
    reward: all(0),
  },
  {
    name: "a symbol beyond the alphabet of the game, which the receiver does not see",
    kind: "malformed",
    task: "train/5",
    policy: (request) => (request.role === "sender" ? "g" : /symbol g/.test(questionOf(request)) ? "6" : "5"),
    reward: all(0),
  },
  {
    name: "no symbol, and a receiver that guesses",
    kind: "malformed",
    task: "train/0",
    policy: ({ role }) => (role === "sender" ? "No symbol." : "1"),
    reward: all(1),
  },
  { name: "the same game twice", kind: "determinism", seed: 7, policy: ({ role }) => (role === "sender" ? "b" : "2") },
];
