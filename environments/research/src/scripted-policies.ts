import {
  type EnvironmentContext,
  type JsonObject,
  type Message,
  MrlmError,
  placeAnswer,
  type Policy,
  roleOf,
  textMessage,
  toolCalls,
} from "@mrlm/kit";
import { SUMMARY_REQUEST, textOf } from "./conversation.ts";
import { chainOf, sentenceOf } from "./relations.ts";

/** Response of a script to the whole conversation of an agent. */
type Script = (agent: string, messages: readonly Message[]) => Message;

/**
 * Policies for generated questions in the form `<answer>` and `style: prose`:
 * - `researcher` starts a browser for each fact, and as a browser searches, opens the page and reports the fact;
 * - `guesser` answers, or reports, a random number without a call.
 */
export const scriptedPolicies = {
  researcher: (_context: EnvironmentContext, options: unknown): Policy => policyOf(options, research),
  guesser: (context: EnvironmentContext, options: unknown, seed: number): Policy => {
    const random = context.random("research/guesser", seed);
    return policyOf(options, (agent) => {
      const number = String(random.integer(0, 9_999));
      return respond(roleOf(agent) === "main" ? placeAnswer(number, "answer") : report(number));
    });
  },
};

function policyOf(options: unknown, script: Script): Policy {
  if (Object.keys(options ?? {}).length > 0)
    throw new MrlmError("OPTIONS_INVALID", "The scripted policies of research@2 have no options.");
  let messages: readonly Message[] = [];
  return {
    act: async (observation) => {
      messages = [...(observation.isFresh === true ? [] : messages), ...observation.messages];
      const message = script(observation.agent, messages);
      messages = [...messages, message];
      return { agent: observation.agent, message, finishReason: "stop" };
    },
  };
}

/** The script `researcher`. It needs the conversation alone. */
export const research: Script = (agent, messages) => {
  const shown = messages.map(textOf);
  const isSummary = shown.at(-1)?.includes(SUMMARY_REQUEST) === true;
  return roleOf(agent) === "main" ? planned(messages, shown, isSummary) : browsed(agent, messages, shown, isSummary);
};

/** Message of `main`: the next fact of the chain, of the thing that the last report names. */
function planned(messages: readonly Message[], shown: readonly string[], isSummary: boolean): Message {
  const chain = chainOf(shown[0] ?? "");
  if (chain === undefined) return respond(placeAnswer("unknown", "answer"));
  const { done, found } = progressOf(messages, shown);
  const name = done === 0 ? chain.start : found;
  if (isSummary) return respond(`Found after ${done} calls: ${found}`);
  const fact = chain.facts[done];
  if (fact === undefined) return respond(placeAnswer(name, "answer"));
  return call("main", messages, "browse", { goal: `the ${fact} of ${name}` });
}

/** Returns the number of calls of `main` so far and the last report, in any context. */
function progressOf(messages: readonly Message[], shown: readonly string[]): { done: number; found: string } {
  const last = shown.findLast((text) => !text.includes(SUMMARY_REQUEST)) ?? "";
  const [, done, noted] = /Found after (\d+) calls: (.*)/.exec(shown.at(1) ?? "") ?? [];
  const listed = (last.match(/^\d+\. browse /gm) ?? []).length;
  const called = messages.filter((message) => toolCalls(message).length > 0).length;
  const isNoted = noted !== undefined && called === 0;
  return {
    done: listed > 0 ? listed : Number(done ?? 0) + called,
    found: isNoted ? noted : (last.split("\n").at(-1) ?? ""),
  };
}

/** Message of a browser: a search, then the page with the name, then the fact on it. */
function browsed(agent: string, messages: readonly Message[], shown: readonly string[], isSummary: boolean): Message {
  const [, fact = "", name = ""] = /^(?:Goal: )?the (.+) of (\S+)$/m.exec(shown[0] ?? "") ?? [];
  const known = shown.slice(1).join("\n");
  const value = new RegExp(sentenceOf(fact, name, "(\\w+)").replace(/\.$/, "\\.")).exec(known)?.[1];
  const url = new RegExp(`https?://\\S*/${name.toLowerCase()}\\.md`).exec(known)?.[0];
  if (isSummary)
    return respond(value === undefined ? `The page is ${url ?? "unknown"}` : sentenceOf(fact, name, value));
  if (value !== undefined) return respond(report(value));
  return url === undefined ? call(agent, messages, "search", { query: name }) : call(agent, messages, "fetch", { url });
}

function report(text: string): string {
  return `<report>${text}</report>`;
}

function respond(text: string): Message {
  return textMessage("assistant", text);
}

function call(agent: string, messages: readonly Message[], name: string, given: JsonObject): Message {
  const id = `${agent}-${messages.length}`;
  return { role: "assistant", parts: [{ type: "tool-call", id, name, arguments: given }] };
}
