import {
  callTools,
  type Demonstration,
  type EnvironmentContext,
  type Message,
  MrlmError,
  placeAnswer,
  SINGLE_AGENT,
  taskById,
  type TaskId,
  textMessage,
} from "@mrlm/kit";
import { definitionOf } from "./environment.ts";
import { openTools } from "./open-tools.ts";
import type { ToolsOptions } from "./options.ts";
import { plannedMessages } from "./plan.ts";
import { promptOf, schemaOf } from "./prompt.ts";
import { hiddenOf } from "./task.ts";

/**
 * Returns the worked solution of a generated task with the results of its calls.
 * @throws DEMONSTRATION_REFUSED for a row of a file, which has no worked solution; TOOL_FAILED if a call has no result to learn from
 */
export async function demonstrate(
  context: EnvironmentContext,
  options: ToolsOptions,
  id: TaskId,
): Promise<Demonstration> {
  const task = await taskById(context.tasks, id);
  const { plan, answer } = hiddenOf(task);
  if (plan === undefined)
    throw new MrlmError(
      "DEMONSTRATION_REFUSED",
      `Task ${id} of tools@2 comes from a file and has no worked solution.`,
      {
        hint: "Generated tasks have one. Train by SFT on them, or on a file of conversations.",
      },
    );
  const { signal } = new AbortController();
  const open = await openTools(context, options, task, { seed: 0, signal });
  const messages: Message[] = [...promptOf(task, options)];
  for (const message of plannedMessages(plan)) {
    const results = await callTools(open.tools, message, { signal });
    const failed = results.flatMap(({ parts }) => parts).find((part) => part.type === "tool-result" && part.isError);
    if (failed?.type === "tool-result")
      throw new MrlmError(
        "TOOL_FAILED",
        `The worked solution of task ${id} calls ${failed.name}, which returned an error: ${textOf(failed.content)}`,
        { hint: "Demonstrations need working tools. Check the options of the tool's plugin." },
      );
    messages.push(message, ...results);
  }
  messages.push(textMessage("assistant", placeAnswer(answer, schemaOf(task, options))));
  return { task: id, agent: SINGLE_AGENT, messages, tools: open.tools.map(definitionOf) };
}

function textOf(content: readonly { readonly type: string; readonly text?: string }[]): string {
  return content.map(({ text = "" }) => text).join("");
}
