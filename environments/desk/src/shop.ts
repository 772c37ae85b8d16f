import { type Domain, TODAY } from "./case.ts";

const FOOD = ["coffee", "honey", "cheese", "tea", "chocolate"];
/** Days after delivery in which an order is taken back. */
const DAYS = 30;

/** Returns and exchanges of a shop. */
export const shop: Domain = {
  noun: "order",
  change: "color",
  rules: [
    "An order that has not been delivered is not taken back. Reason: transit.",
    "Else food is not taken back. Reason: food.",
    `Else an order that was delivered more than ${DAYS} days ago is not taken back. Reason: late.`,
    "A refund goes to what the order was paid with. If the item was opened, it goes to a voucher in any case.",
    "For an exchange, use the color that the customer asks for if it is free, else the customer's second choice if that is free. If neither is free, make a refund.",
  ],
  reasons: ["transit", "food", "late"],
  subjects: [...FOOD, "kettle", "lamp", "jacket", "backpack", "radio", "blanket", "clock"],
  values: ["red", "blue", "green", "white", "black", "yellow"],
  drawFacts: (random, subject) => ({
    kind: FOOD.includes(subject) ? "food" : "goods",
    delivered: random.integer(0, 4) === 0 ? "not yet" : `day ${TODAY - random.integer(1, 58)}`,
    opened: random.pick(["yes", "no"]),
    paid: random.pick(["card", "voucher"]),
  }),
  refusal({ delivered, kind }) {
    if (delivered === "not yet") return "transit";
    if (kind === "food") return "food";
    return ageOf(delivered) > DAYS ? "late" : undefined;
  },
  refundTo,
  withoutChange: (facts) => ({ action: "refund", value: refundTo(facts) }),
  ask: ({ request, subject }) => (request === "refund" ? `return the ${subject}` : `exchange the ${subject}`),
  brief: ({ kind, delivered, opened, paid }) =>
    [
      kind === "food" ? "f" : "g",
      delivered === "not yet" ? "--" : String(ageOf(delivered)).padStart(2, "0"),
      opened === "yes" ? "o" : "s",
      paid === "card" ? "c" : "v",
    ].join(""),
};

function refundTo({ opened, paid }: { readonly [name: string]: string }): string {
  return opened === "yes" ? "voucher" : (paid as string);
}

function ageOf(delivered = ""): number {
  return TODAY - Number(delivered.replace("day ", ""));
}
