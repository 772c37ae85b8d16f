import { expect, test } from "@jest/globals";
import { Ajv } from "ajv";
import type { Score } from "@mrlm/kit";
import { grade } from "../src/grade.ts";
import { schemaOf } from "../src/json.ts";
import { instructionsOptions } from "../src/options.ts";
import { questionOf } from "../src/prompt.ts";
import { writeAnswer } from "../src/task.ts";
import { instructionTasks } from "../src/tasks.ts";

test("the right answer of JSON matches the schema that the question shows", async () => {
  const tasks = instructionTasks(instructionsOptions.parse({ forms: ["json"], levels: [1, 5] }));
  const ajv = new Ajv({ strict: true });
  for (let i = 0; i < 100; i++) {
    const shown = (await tasks.get("train", i)).public;
    const { json } = shown.instructions;
    const schema = schemaOf(json as NonNullable<typeof json>);
    expect(questionOf(shown, "words")).toContain(JSON.stringify(schema));
    const answer = writeAnswer(shown);
    expect([ajv.validate(schema, JSON.parse(answer)), ajv.errors]).toEqual([true, null]);
    // White space and the order of keys are free.
    expect((grade(JSON.stringify(reversed(JSON.parse(answer))), shown, "") as Score).value).toBe(1);
  }
});

function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([key, each]) => [key, reversed(each)]),
  );
}
