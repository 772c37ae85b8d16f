import { type Message, type Task, textMessage } from "@mrlm/kit";
import type { CodeOptions } from "./options.ts";
import { holdsCalls } from "./problem/calls.ts";
import { type Problem, problemOf } from "./problem/problem.ts";

const LANGUAGE_NAMES = { python: "Python", typescript: "TypeScript" } as const;

export function promptOf(task: Task, options: CodeOptions): readonly Message[] {
  const question = String(task.public["question"]).trimEnd();
  const problem = problemOf(task);
  if (options.style === "terse") return [textMessage("user", question)];
  const tests = shownTests(question, problem);
  return [
    textMessage(
      "user",
      [request(question, problem), ...(tests.length > 0 ? ["Tests that it must pass:", ...tests] : [])].join("\n\n"),
    ),
  ];
}

function request(question: string, { kind, language }: Problem): string {
  const block = `Reply with it in a \`\`\`${language} block.`;
  if (kind === "function")
    return `Complete this ${LANGUAGE_NAMES[language]} function. ${block}\n\n\`\`\`${language}\n${question}\n\`\`\``;
  return `Write a ${LANGUAGE_NAMES[language]} program that reads standard input and writes standard output. ${block}\n\n${question}`;
}

/** Writes visible tests that the question does not contain. */
function shownTests(question: string, problem: Problem): string[] {
  if (problem.kind === "function") {
    const isAsked = problem.tests.filter(
      ({ visible, counted, shown }) => visible && counted && !holdsCalls(question, shown, problem.entryPoint),
    );
    return isAsked.map(({ shown }) => shown);
  }
  return problem.tests
    .filter(({ visible, input }) => visible && (input.trim() === "" || !question.includes(input.trim())))
    .map(({ input, output }) => `Input:\n${input.trimEnd()}\nOutput:\n${output.trimEnd()}`);
}

/** Writes an answer in the requested form. */
export function placed(code: string, options: CodeOptions): string {
  return options.style === "terse" ? code : `\`\`\`${options.language}\n${code.trimEnd()}\n\`\`\``;
}
