import { expect, test } from "@jest/globals";
import { type Case, decide, type Goal } from "../src/case.ts";
import { flights } from "../src/flights.ts";
import { shop } from "../src/shop.ts";

const order = (facts: Case["facts"], changes: Partial<Case> = {}): Case => ({
  number: "A10",
  surname: "Costa",
  subject: "lamp",
  value: "red",
  free: ["blue"],
  status: "open",
  facts: { kind: "goods", delivered: "day 50", opened: "no", paid: "card", ...facts },
  ...changes,
});
const flight = (facts: Case["facts"], value = "65"): Case => ({
  number: "A10",
  surname: "Costa",
  subject: "Oslo to Lima",
  value,
  free: ["66"],
  status: "open",
  facts: { fare: "flex", cancelled: "no", paid: "voucher", ...facts },
});
const goal = (changes: Partial<Goal> = {}): Goal => ({
  number: "A10",
  surname: "Costa",
  subject: "lamp",
  request: "refund",
  wish: "blue",
  second: "green",
  ...changes,
});

test.each([
  [order({}), goal(), "refund: card"],
  [order({ opened: "yes" }), goal(), "refund: voucher"],
  [order({ delivered: "day 30" }), goal(), "refund: card"],
  [order({ delivered: "day 29" }), goal(), "refuse: late"],
  [order({ delivered: "not yet", kind: "food" }), goal(), "refuse: transit"],
  [order({ kind: "food", delivered: "day 10" }), goal(), "refuse: food"],
  [order({ kind: "food" }), goal({ surname: "Bauer" }), "refuse: identity"],
  [order({}), goal({ request: "change" }), "change: blue"],
  [order({}), goal({ request: "change", wish: "black", second: "blue" }), "change: blue"],
  [order({ opened: "yes" }), goal({ request: "change", wish: "black" }), "refund: voucher"],
] as const)("a shop decides %j, asked %j: %s", (found, asked, expected) => {
  const { action, value } = decide(shop, found, asked);
  expect(`${action}: ${value}`).toBe(expected);
});

test.each([
  [flight({}), goal(), "refund: voucher"],
  [flight({ cancelled: "yes", fare: "basic" }), goal(), "refund: card"],
  [flight({ cancelled: "yes" }, "59"), goal(), "refuse: departed"],
  [flight({}, "61"), goal(), "refuse: soon"],
  [flight({ fare: "basic" }, "62"), goal(), "refuse: basic"],
  [flight({}), goal({ request: "change", wish: "66", second: "67" }), "change: 66"],
  [flight({}), goal({ request: "change", wish: "67", second: "68" }), "refuse: full"],
] as const)("an airline decides %j, asked %j: %s", (found, asked, expected) => {
  const { action, value } = decide(flights, found, asked);
  expect(`${action}: ${value}`).toBe(expected);
});
