import assert from "node:assert/strict";
import type { ToolDefinition } from "@mrlm/spec";
import { Defect } from "../check/defect.ts";
import { compileSchema, PARAMETERS } from "../check/compile-schema.ts";
import { type ToolCheck, withEpisode } from "./tool-subject.ts";

/** Checks of the definitions of tools: names, descriptions, JSON Schemas, and equality with the opened tools. */
export const definitionChecks: readonly ToolCheck[] = [
  {
    code: "TOOL_DEFINITION_INVALID",
    name: "has the tools that it announces, in every episode",
    run: async (subject) => {
      const definitionsOf = (tools: readonly ToolDefinition[]): ToolDefinition[] =>
        tools.map(({ name, description, parameters }) => ({ name, description, parameters }));
      const episode = (): Promise<ToolDefinition[]> => withEpisode(subject, async ({ tools }) => definitionsOf(tools));
      const first = await episode();
      assert.deepEqual(await episode(), first, "Two episodes have different tools.");
      const { definitions } = subject.toolset;
      if (definitions !== undefined)
        assert.deepEqual(first, definitionsOf(definitions), "An episode has other tools than `definitions`.");
    },
  },
  {
    code: "TOOL_DEFINITION_INVALID",
    name: "names and describes each tool",
    run: (subject) =>
      withEpisode(subject, async ({ tools }) => {
        assert(tools.length > 0, "It has no tools.");
        for (const { name, description } of tools) {
          assert.match(name, /^[A-Za-z0-9_-]{1,64}$/);
          assert(description.trim().length > 0, `Tool ${name} has no description.`);
        }
        assert.equal(new Set(tools.map(({ name }) => name)).size, tools.length, "Two tools have one name.");
        const called = new Set(subject.calls.map(({ tool }) => tool));
        const missing = tools.filter(({ name }) => !called.has(name));
        if (missing.length > 0)
          throw new Defect("EXAMPLES_INVALID", `\`calls\` lacks ${missing.map(({ name }) => name).join(", ")}.`);
      }),
  },
  {
    code: "TOOL_DEFINITION_INVALID",
    name: "has JSON Schemas of arguments that compile in strict mode and describe each argument",
    run: (subject) =>
      withEpisode(subject, async ({ tools }) => {
        for (const { name, parameters } of tools) {
          assert.equal(parameters["type"], "object", `The parameters of ${name} are not of type "object".`);
          assert.doesNotThrow(
            () => compileSchema(parameters, PARAMETERS),
            `The parameters of ${name} are no valid JSON Schema.`,
          );
          assert.deepEqual(
            JSON.parse(JSON.stringify(parameters)),
            parameters,
            `The parameters of ${name} are no JSON.`,
          );
        }
      }),
  },
];
