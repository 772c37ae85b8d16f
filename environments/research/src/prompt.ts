import { type Message, requestAnswer, type Task, textMessage } from "@mrlm/kit";
import type { ResearchOptions } from "./options.ts";
import { shownOf } from "./task.ts";

/** Returns the beginning of the conversation of `main`. */
export function mainPrompt(task: Task, { browsers, main_turns, answer_schema, style }: ResearchOptions): Message {
  const { question } = shownOf(task);
  if (style === "terse") return textMessage("user", question);
  return textMessage(
    "user",
    [
      question,
      `Find out by research. The tool browse starts a browser that searches and reads pages. It receives nothing but the goal that you write, and returns a report. You may start ${browsers} ${browsers === 1 ? "browser" : "browsers"} and have ${main_turns} turns, with that of the answer. The first message without a call is your answer.`,
      requestAnswer(answer_schema),
    ].join("\n"),
  );
}

/** Returns the beginning of the conversation of a browser. */
export function browserPrompt(goal: string, { browser_turns, report_characters, style }: ResearchOptions): Message {
  if (style === "terse") return textMessage("user", goal);
  return textMessage(
    "user",
    [
      `Goal: ${goal}`,
      `Search and read pages with your tools. You have ${browser_turns} ${browser_turns === 1 ? "turn" : "turns"}, with that of the report. The first message without a call ends your work: write what you found between <report> and </report>, in at most ${report_characters} characters.`,
    ].join("\n"),
  );
}
