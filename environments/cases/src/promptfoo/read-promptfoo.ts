import { isObject, type Message, messageText } from "@mrlm/kit";
import { parseJson } from "@mrlm/kit/service";
import { type Case, invalidCase } from "../case.ts";
import { expectedText, readPrompt } from "../prompt.ts";
import { type Assertion, readConfiguration } from "./configuration.ts";
import { compileGrade, rewardOf } from "./grade.ts";
import { render, type Vars } from "./template.ts";

/** Reads the tests of a configuration of promptfoo. Rejects with DATA_INVALID, with test and remedy, for what promptfoo would do otherwise. */
export async function readPromptfoo(path: string, text: string, version: string): Promise<Case[]> {
  const { prompt, defaultTest, tests } = await readConfiguration(path, text);
  const template = parsePrompt(prompt);
  return Promise.all(
    tests.map(async ({ test, place }): Promise<Case> => {
      const vars = { ...defaultTest.vars, ...test.vars };
      checkVars(vars, place);
      const assertions = [...defaultTest.assert, ...test.assert];
      if (assertions.length === 0)
        throw invalidCase(place, "the test has no assertions, by which every answer is right", "Give it `assert`.");
      const threshold = test.threshold ?? defaultTest.threshold;
      const grade = await compileGrade(assertions, threshold, { vars, place, path, version });
      const messages = promptOf(template, vars, place);
      const context = { prompt: textOf(template, messages), vars, test: { ...test, vars, assert: assertions } };
      return {
        ...{ messages, expected: expectedOf(assertions, vars, place), place },
        grade: async (output) => rewardOf(await grade(output, context), place),
      };
    }),
  );
}

/** Returns a list of messages, or the text as it is. */
function parsePrompt(prompt: string): unknown {
  try {
    const parsed = parseJson(prompt);
    return Array.isArray(parsed) ? parsed : prompt;
  } catch {
    return prompt;
  }
}

function promptOf(template: unknown, vars: Vars, place: string): readonly Message[] {
  if (typeof template === "string") return readPrompt(render(template, vars, place), place);
  const messages = (template as readonly unknown[]).map((each) =>
    isObject(each) && typeof each["content"] === "string"
      ? { ...each, content: render(each["content"], vars, place) }
      : each,
  );
  return readPrompt(messages, place);
}

/** Returns the prompt as functions receive it: a text, or the JSON of messages. */
function textOf(template: unknown, messages: readonly Message[]): string {
  if (typeof template === "string") return messages.map(messageText).join("");
  return JSON.stringify(messages.map((message) => ({ role: message.role, content: messageText(message) })));
}

/** Throws DATA_INVALID for variables from which promptfoo makes several tests, or a text that is not in the file. */
function checkVars(vars: Vars, place: string): void {
  for (const [name, value] of Object.entries(vars)) {
    const what = Array.isArray(value)
      ? "is a list, of which promptfoo makes several tests"
      : typeof value === "string" && value.startsWith("file://")
        ? "names a file"
        : typeof value === "string" && /\{\{|\{%/.test(value)
          ? "is a template"
          : undefined;
    if (what !== undefined) throw invalidCase(place, `the variable ${name} ${what}`, "Write its text into the test.");
  }
}

/** Returns the answer to learn from: the value of an assertion `equals`, else the variable `expected`. */
function expectedOf(assertions: readonly Assertion[], vars: Vars, place: string): string | undefined {
  const [equals] = assertions.flatMap((each) => (each.type === "equals" && !("assert" in each) ? [each.value] : []));
  if (typeof equals === "string") return render(equals, vars, place);
  return expectedText(equals ?? vars["expected"]);
}
