import { type Message, requestAnswer, type Task, textMessage } from "@mrlm/kit";
import type { MathOptions } from "./options.ts";
import { schemaOf } from "./solution.ts";

export function promptOf(task: Task, options: MathOptions): readonly Message[] {
  const question = String(task.public["question"]);
  return [
    textMessage(
      "user",
      options.style === "terse" ? question : `${question}\n${requestAnswer(schemaOf(task, options))}`,
    ),
  ];
}
