import { type Message, requestAnswer, type Task, textMessage } from "@mrlm/kit";
import type { ToolsOptions } from "./options.ts";
import { shownOf } from "./task.ts";

export function promptOf(task: Task, options: ToolsOptions): readonly Message[] {
  const { question } = shownOf(task);
  if (options.style === "terse") return [textMessage("user", question)];
  const limit = `You have ${options.turns} turns, with that of the answer. The first message without a tool call is your answer.`;
  return [textMessage("user", [question, limit, requestAnswer(schemaOf(task, options))].join("\n"))];
}

/** Returns the place of the answer: that of the row of the task, else that of the options. */
export function schemaOf(task: Task, options: ToolsOptions): string {
  return shownOf(task).answer_schema ?? options.answer_schema;
}
