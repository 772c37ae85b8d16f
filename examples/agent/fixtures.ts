import { callMessage, type Fixture, type Message, type Task } from "@mrlm/kit";
import { articleOf } from "./shop.ts";

export type Public = { readonly order: string };
export type Private = { readonly price: string };

/** Answers of a model that looks both up: demonstrations for a model that starts from random weights. */
export const solve = ({ public: { order }, private: { price } }: Task<Public, Private>): (string | Message)[] => [
  callMessage("order", { id: order }),
  callMessage("price", { article: articleOf(order) }, "2"),
  price,
];

/** Episodes with a known outcome. `mrlm check` and the contract suite play them. */
export const fixtures: readonly Fixture<Public, Private>[] = [
  {
    name: "looks both up",
    kind: "gold",
    task: "eval/0",
    policy: ({ task, turn }) => solve(task)[turn] ?? "",
    reward: 1,
  },
  { name: "declines", kind: "nop", task: "train/0", policy: () => "sorry", reward: 0 },
  { name: "the order", kind: "cheat", task: "train/1", policy: ({ task }) => task.public.order, reward: 0 },
  { name: "a call as text", kind: "malformed", task: "train/2", policy: () => "order(1)", reward: 0 },
  {
    name: "the same calls",
    kind: "determinism",
    seed: 1,
    policy: ({ turn }) => (turn === 0 ? callMessage("order", { id: "417" }) : "1"),
  },
];
