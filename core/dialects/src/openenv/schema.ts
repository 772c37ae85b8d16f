import type { JsonObject, ToolDefinition } from "@mrlm/spec";

const object = (title: string, properties: JsonObject, required: string[] = []): JsonObject => ({
  title,
  type: "object",
  properties,
  required,
});
const string = { type: "string" };
const METADATA = { type: "object", properties: { finish_reason: { enum: ["stop", "length"] } } };
const TEXT_ACTION = object("MessageAction", { message: string, metadata: METADATA }, ["message"]);
// The title makes clients list the tools.
const TOOL_ACTION: JsonObject = {
  ...object(
    "CallToolAction",
    {
      type: { enum: ["call_tool", "list_tools"] },
      tool_name: string,
      arguments: { type: "object" },
      metadata: METADATA,
    },
    ["type", "tool_name"],
  ),
};
const OBSERVATION = object("Observation", {
  text: string,
  messages: {
    type: "array",
    items: object("Message", { role: string, content: { type: "array" } }, ["role", "content"]),
  },
  tool_name: string,
  result: {},
  error: { anyOf: [object("ToolError", { error_type: string, message: string }), { type: "null" }] },
  metadata: { type: "object" },
});
const STATE = object(
  "State",
  {
    episode_id: { anyOf: [string, { type: "null" }] },
    step_count: { type: "integer", minimum: 0 },
    session_id: string,
    environment: string,
    task: { anyOf: [string, { type: "null" }] },
    done: { type: "boolean" },
    total_reward: { anyOf: [{ type: "number" }, { type: "null" }] },
  },
  ["step_count"],
);

/** Returns the JSON Schemas of actions, observations and states. */
export function schemas(hasTools: boolean): JsonObject {
  return { action: hasTools ? TOOL_ACTION : TEXT_ACTION, observation: OBSERVATION, state: STATE };
}

/** Returns tools in the form of MCP. */
export function toolsOf(tools: readonly ToolDefinition[]): JsonObject[] {
  return tools.map(({ name, description, parameters }) => ({
    name,
    description,
    inputSchema: { type: "object", ...parameters },
  }));
}
