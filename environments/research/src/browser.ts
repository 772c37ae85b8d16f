import { type Message, messageText, type Reward, score, toolCalls } from "@mrlm/kit";
import type { BrowseResult } from "./browse-calls.ts";
import type { Conversation } from "./conversation.ts";
import type { ResearchOptions } from "./options.ts";

/** Browser at work: one agent with one goal. */
export class Browser {
  readonly conversation: Conversation;
  readonly #options: ResearchOptions;
  #turns = 0;
  #hasFault = false;

  constructor(conversation: Conversation, options: ResearchOptions) {
    this.conversation = conversation;
    this.#options = options;
  }

  /** Counts a turn and its faults: malformed calls, and calls of tools that do not exist. */
  act(message: Message, tools: readonly string[]): "calls" | "report" | "over" {
    this.#turns++;
    const malformed = message.parts.some(({ type }) => type === "malformed-call");
    const calls = toolCalls(message);
    if (malformed || calls.some(({ name }) => !tools.includes(name))) this.#hasFault = true;
    if (calls.length === 0 && !malformed) return "report";
    return this.#turns < this.#options.browser_turns ? "calls" : "over";
  }

  /** Returns the report for `main` and the reward of the browser. */
  report(message: Message): { readonly result: BrowseResult; readonly reward: Reward } {
    const text = reportOf(messageText(message));
    const limit = this.#options.report_characters;
    if (text === undefined) return this.#without("The browser wrote no report.");
    if (text.length > limit) return this.#without(`The browser's report was longer than ${limit} characters.`);
    return { result: { text, isError: false }, reward: this.#formatReward(!this.#hasFault) };
  }

  /** Returns the result of a browser that ended without a report. */
  unfinished(): ReturnType<Browser["report"]> {
    return this.#without("The browser ended before its report.");
  }

  #without(text: string): ReturnType<Browser["report"]> {
    return { result: { text, isError: true }, reward: this.#formatReward(false) };
  }

  #formatReward(isRight: boolean): Reward {
    const format = Number(isRight);
    return score(this.#options.rewards.browser_format * format, { format });
  }
}

/** Returns the one report of a text; `undefined` if there is none, several, or an empty one. */
function reportOf(text: string): string | undefined {
  const [, before = "", report = "", after = ""] = /^(.*?)<report>(.*)<\/report>(.*)$/s.exec(text) ?? [];
  const hasOthers = [before, report, after].some((part) => /<\/?report>/.test(part));
  return hasOthers || report.trim() === "" ? undefined : report.trim();
}
