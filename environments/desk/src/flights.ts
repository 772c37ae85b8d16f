import { type Domain, TODAY } from "./case.ts";

/** Days before departure until which a booking can be changed. */
const DAYS = 2;

/** Cancellations and changes of flights. */
export const flights: Domain = {
  noun: "booking",
  change: "day",
  rules: [
    "A flight of a day before today is neither cancelled nor changed. Reason: departed.",
    "Else, if the airline cancelled the flight, the next two rules do not apply.",
    `Else a flight that departs in fewer than ${DAYS} days is neither cancelled nor changed. Reason: soon.`,
    "Else a booking of the fare basic is neither cancelled nor changed. Reason: basic.",
    "A refund goes to what the booking was paid with. If the airline cancelled the flight, it goes to the card in any case.",
    "For a change, use the day that the customer asks for if it is free, else the customer's second choice if that is free. If neither is free, refuse. Reason: full.",
  ],
  reasons: ["departed", "soon", "basic", "full"],
  subjects: ["Oslo to Lima", "Cairo to Rome", "Kyoto to Oslo", "Lima to Quito", "Rome to Malta", "Malta to Cairo"],
  values: Array.from({ length: 12 }, (_, i) => String(TODAY - 3 + i)),
  drawFacts: (random) => ({
    fare: random.pick(["basic", "flex"]),
    cancelled: random.pick(["yes", "no", "no"]),
    paid: random.pick(["card", "voucher"]),
  }),
  refusal({ fare, cancelled }, value) {
    const days = Number(value) - TODAY;
    if (days < 0) return "departed";
    if (cancelled === "yes") return undefined;
    if (days < DAYS) return "soon";
    return fare === "basic" ? "basic" : undefined;
  },
  refundTo: ({ cancelled, paid }) => (cancelled === "yes" ? "card" : (paid as string)),
  withoutChange: () => ({ action: "refuse", value: "full" }),
  ask: ({ request, subject }) =>
    request === "refund" ? `cancel the flight from ${subject}` : `move the flight from ${subject} to another day`,
  brief: ({ fare, cancelled, paid }, value) =>
    [
      fare === "basic" ? "b" : "x",
      String(Number(value) - TODAY).padStart(2, "0"),
      cancelled === "yes" ? "k" : "n",
      paid === "card" ? "c" : "v",
    ].join(""),
};
