import { type JsonObject, score, type Scorer, toolset, type Tool, type Toolset } from "@mrlm/kit";
import { type BareEnvironment, bareEnvironment } from "@mrlm/testing";
import { tools } from "../../src/index.ts";
import type { ToolsOptions } from "../../src/options.ts";

export type Prepared = BareEnvironment<ToolsOptions>;

/** Scorer that compares whole texts. */
export const exact: Scorer = {
  score: async ({ answer, expected }) => ({
    reward: score(Number(answer === expected)),
    verdict: answer === expected ? "equivalent" : "different",
    reason: "compared as text",
  }),
};

/** Returns a tool that repeats its argument. */
export function echo(name: string): Tool {
  return {
    name,
    description: "Repeats a text.",
    parameters: { type: "object", properties: { text: { type: "string" } } },
    call: async ({ text }) => ({ content: [{ type: "text", text: String(text) }], isError: text === "fail" }),
  };
}

/** Prepares the environment with toolsets in place of those of plugins. */
export async function prepare(
  given: JsonObject,
  toolsets: Readonly<Record<string, Toolset>> = { "calculator@1": toolset([echo("calculator")]) },
): Promise<Prepared> {
  return bareEnvironment(
    tools,
    { toolsets: Object.keys(toolsets), ...given },
    {
      tools: toolsets,
      scorers: { "math@2": exact, "exact@1": exact },
    },
  );
}
