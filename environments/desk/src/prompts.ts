import { type Message, textMessage } from "@mrlm/kit";
import { type Goal, TODAY } from "./case.ts";
import type { DeskOptions } from "./options.ts";
import { DOMAINS, type PrivateDesk, type PublicDesk } from "./tasks.ts";

/** Returns the first messages of the agent: the policy. The terse style has none. */
export function policyOf({ domain }: PublicDesk, style: DeskOptions["style"]): Message[] {
  if (style === "terse") return [];
  const { noun, rules } = DOMAINS[domain];
  const lines = [
    `You work at the service desk of ${domain === "shop" ? "a shop" : "an airline"}. Today is day ${TODAY}.`,
    "A message of yours either calls tools or is read by the customer.",
    "Decide each request by the first of these rules that applies, and enter the decision with a tool. A decision is final.",
    `Ask for the number of the ${noun} and the surname. If there is no such ${noun} with this surname, refuse. Reason: identity.`,
    ...rules,
    "Ask whether there is anything else. When all requests are decided, call close.",
  ];
  return [textMessage("system", lines.map((line, i) => (i < 3 ? line : `${i - 2}. ${line}`)).join("\n"))];
}

/** Returns the first message of the customer's player: what the customer knows and asks for. */
export function roleOf({ domain, level }: PublicDesk, { goals }: PrivateDesk, style: DeskOptions["style"]): Message {
  const { noun, change, ask } = DOMAINS[domain];
  const [goal] = goals as [Goal];
  if (style === "terse") return textMessage("user", [...factsOf(goals, level, ask), "style: terse"].join("\n"));
  return textMessage(
    "user",
    [
      `You are a customer, and write to a service desk about your ${noun}${goals.length > 1 ? "s, one after the other" : ""}. You know this:`,
      ...factsOf(goals, level, ask),
      level === 1
        ? `Begin with your request, the number and the surname.`
        : `Begin with your ${goals.length > 1 ? "first " : ""}request, such as "I would like to ${ask(goal)}." Give anything else only when you are asked for it. Of a change, give your wish when you are asked for a ${change}, and your second choice when you are asked for another one.`,
      "Stay with what you know, and invent nothing.",
    ].join("\n"),
  );
}

function factsOf(goals: readonly Goal[], level: number, ask: (goal: Goal) => string): string[] {
  return goals.flatMap((goal) => [
    `request: ${ask(goal)}`,
    `number: ${goal.number}`,
    `surname: ${goal.surname}`,
    ...(goal.request === "change" ? [`wish: ${goal.wish}`, `second choice: ${goal.second}`] : []),
    ...(level === 1 ? ["states all at once: yes"] : []),
  ]);
}
