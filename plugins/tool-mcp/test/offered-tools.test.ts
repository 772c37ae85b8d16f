import { expect, test } from "@jest/globals";
import type { OfferedTool } from "../src/offered-tools.ts";
import { definitionOf } from "../src/offered-tools.ts";

test("a secret with the value of an argument's name or type changes neither, and is hidden in texts", () => {
  const server = { redact: (text: string) => text.replaceAll("query", "[MODE]").replaceAll("string", "[KIND]") };
  const parameters = {
    type: "object",
    required: ["query"],
    properties: { query: { type: "string", description: "a query", default: "string" }, default: { type: "string" } },
  };
  const offered = { server, tool: { name: "search", description: "a string", parameters }, name: "everything__search" };
  expect(definitionOf(offered as unknown as OfferedTool)).toEqual({
    name: "everything__search",
    description: "a [KIND]",
    parameters: {
      type: "object",
      required: ["query"],
      properties: {
        query: { type: "string", description: "a [MODE]", default: "[KIND]" },
        default: { type: "string" },
      },
    },
  });
});
