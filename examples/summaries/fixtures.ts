import type { Fixture, FixtureRequest } from "@mrlm/kit";

type Facts = { now: string[]; before: string[] };

const summary = ({ task }: FixtureRequest<{ text: string }, Facts>): string => {
  const [event, day, place, price] = task.private.now;
  return `The ${event} is on ${day} in the ${place}, for ${price}.`;
};

export const fixtures: readonly Fixture<{ text: string }, Facts>[] = [
  { name: "a sentence with all facts", kind: "gold", policy: summary, reward: 1 },
  { name: "nothing", kind: "nop", policy: () => "", reward: 0 },
  { name: "the notice", kind: "cheat", policy: ({ task }) => task.public.text, reward: 0 },
  { name: "the facts as a list", kind: "cheat", policy: ({ task }) => task.private.now.join(", "), reward: 0 },
  {
    name: "what no longer holds, too",
    kind: "cheat",
    policy: (request) => summary(request).replace(".", `, no longer on ${request.task.private.before[0]}.`),
    reward: 0,
  },
  { name: "no sentence", kind: "malformed", policy: () => "?", reward: 0 },
  { name: "a day", kind: "determinism", seed: 5, policy: () => "It is on Monday." },
];
