import type { Tool } from "@modelcontextprotocol/server";
import type { JsonObject, ToolDefinition } from "@mrlm/spec";

/** Sends an answer. */
export const FINISH = "finish";
/** Shows the task and the latest observation again. */
export const OBSERVE = "observe";

const OWN_TOOLS: readonly Tool[] = [
  {
    name: FINISH,
    description:
      "Sends your answer to the task and ends the episode. If the environment replies instead of ending the episode, its reply is the result.",
    inputSchema: {
      type: "object",
      properties: { answer: { type: "string", description: "The answer, in the form that the task asks for." } },
      required: ["answer"],
      additionalProperties: false,
    },
  },
  {
    name: OBSERVE,
    description:
      "Shows the task, and the latest observation after it. It is no action: it changes nothing and costs no turn.",
    inputSchema: { type: "object", properties: {}, additionalProperties: false },
    annotations: { readOnlyHint: true },
  },
];

/** Returns the tools of an environment in the form of MCP, followed by `finish` and `observe`. */
export function mcpTools(tools: readonly ToolDefinition[]): Tool[] {
  return [
    ...tools.map(({ name, description, parameters }) => ({ name, description, inputSchema: inputSchema(parameters) })),
    ...OWN_TOOLS,
  ];
}

/** Names that tools of an environment cannot have. */
export const TAKEN = {
  names: new Set([FINISH, OBSERVE]),
  use: "MCP clients need for a tool of the server",
  hint: "Rename the tool by an option of its plugin.",
};

/** MCP requires the type `object` at the root of a schema. */
function inputSchema(parameters: JsonObject): Tool["inputSchema"] {
  return { ...parameters, type: "object" };
}
