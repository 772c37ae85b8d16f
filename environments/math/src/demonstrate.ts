import {
  type Demonstration,
  type EnvironmentContext,
  placeAnswer,
  SINGLE_AGENT,
  taskById,
  type TaskId,
  textMessage,
} from "@mrlm/kit";
import type { MathOptions } from "./options.ts";
import { promptOf } from "./prompt.ts";
import { schemaOf, solutionOf } from "./solution.ts";

/** Returns the problem with its worked steps and the answer. The terse style, and replies that consist of the answer, have no steps. */
export async function demonstrate(
  context: EnvironmentContext,
  options: MathOptions,
  id: TaskId,
): Promise<Demonstration> {
  const task = await taskById(context.tasks, id);
  const { steps, answer } = solutionOf(task);
  const schema = schemaOf(task, options);
  const response = placeAnswer(answer, schema);
  const alone = options.style === "terse" || schema === "text";
  return {
    task: id,
    agent: SINGLE_AGENT,
    messages: [
      ...promptOf(task, options),
      textMessage("assistant", alone ? response : [...steps, response].join("\n")),
    ],
  };
}
