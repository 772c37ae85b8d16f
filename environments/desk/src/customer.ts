import { messageText, MrlmError, type Observation, type Policy, textMessage } from "@mrlm/kit";

/** Facts of the customer for which a question asks. */
const QUESTIONS: readonly (readonly [fact: string, words: RegExp])[] = [
  ["number", /\b(?:number|order|booking|reference)s?\b/i],
  ["surname", /name/i],
  ["wish", /\b(?:colou?rs?|days?|dates?|wish|prefer|which)\b/i],
  ["second choice", /\b(?:second|other|another|alternatives?|instead|otherwise)\b/i],
];
const ELSE = /\belse\b|\bfurther\b|\banything more\b/i;

/** Scripted policies of the role `user`. */
export const scriptedPolicies = {
  /** A customer who answers by the words of a question, truthfully. */
  customer: (_context: unknown, options: unknown): Policy => {
    if (Object.keys(options ?? {}).length > 0)
      throw new MrlmError("OPTIONS_INVALID", "The scripted policy `customer` of desk@1 has no options.");
    let requests: readonly ReadonlyMap<string, string>[] | undefined;
    let at = 0;
    const reply = (text: string): string => {
      if (requests === undefined) {
        requests = readFacts(text);
        return opening(requests[0]);
      }
      const facts = requests[at];
      const answers = QUESTIONS.flatMap(([fact, words]) => {
        const value = words.test(text) ? facts?.get(fact) : undefined;
        return value === undefined ? [] : [`My ${fact} is ${value}.`];
      });
      if (ELSE.test(text)) return at + 1 < requests.length ? opening(requests[++at]) : "No, thank you.";
      return answers.length > 0 ? answers.join(" ") : "I have nothing to add.";
    };
    return {
      act: async ({ agent, messages }: Observation) => ({
        agent,
        message: textMessage("assistant", reply(messages.map(messageText).join("\n"))),
        finishReason: "stop",
      }),
    };
  },
};

/** Reads the facts of each request from the first message. */
function readFacts(text: string): ReadonlyMap<string, string>[] {
  const requests: Map<string, string>[] = [];
  for (const [, name = "", value = ""] of text.matchAll(
    /^(request|number|surname|wish|second choice|states all at once|style): (.+)$/gm,
  )) {
    if (name === "request") requests.push(new Map());
    requests.at(-1)?.set(name, value);
  }
  return requests;
}

function opening(facts: ReadonlyMap<string, string> = new Map()): string {
  const request = `I would like to ${facts.get("request") ?? "ask something"}`;
  if (!facts.has("states all at once")) return `${request}.`;
  if (facts.has("style")) return `${facts.get("number")} ${facts.get("surname")}`;
  return `${request}. The number is ${facts.get("number")}, and the surname is ${facts.get("surname")}.`;
}
