import { textMessage } from "@mrlm/kit";
import type { Message, Task } from "@mrlm/spec";
import type { MathOptions } from "./options.ts";
import { schemaOf } from "./solution.ts";

/** Returns the messages of a task. */
export function promptOf(task: Task, options: MathOptions): readonly Message[] {
  const question = String(task.public["question"]);
  return [
    textMessage("user", options.style === "terse" ? question : `${question}\n${request(schemaOf(task, options))}`),
  ];
}

function request(schema: string): string {
  if (schema === "boxed") return "Give your final answer as \\boxed{answer}.";
  if (schema === "gsm8k") return "Give your final answer on the last line, after ####.";
  if (schema === "text") return "Reply with your final answer and nothing else.";
  return `Give your final answer between <${schema}> and </${schema}>.`;
}

/** Writes an answer in its place. */
export function placed(answer: string, schema: string): string {
  if (schema === "boxed") return `\\boxed{${answer}}`;
  if (schema === "gsm8k") return `#### ${answer}`;
  return schema === "text" ? answer : `<${schema}>${answer}</${schema}>`;
}
