import type { ColumnShape } from "./parquet.ts";

const failure: ColumnShape = { fields: { code: "string", message: "string" } };
const call: ColumnShape = {
  fields: { id: "string", type: "string", function: { fields: { name: "string", arguments: "string" } } },
};
const malformedCall: ColumnShape = {
  fields: { at: "int32", text: "string", format: "string", error: "string", offset: "int32" },
};
const tool: ColumnShape = {
  fields: { type: "string", function: { fields: { name: "string", description: "string", parameters: "string" } } },
};
const message: ColumnShape = {
  fields: {
    role: "string",
    content: "string",
    name: "string",
    reasoning_content: "string",
    tool_calls: { list: call },
    malformed_calls: { list: malformedCall },
    tool_call_id: "string",
  },
};
const segment: ColumnShape = {
  fields: {
    tokens: { list: "int32" },
    logprobs: { list: "float" },
    mask: { list: "int32" },
    versions: { list: "int32" },
    parent: "int32",
  },
};
const turn: ColumnShape = {
  fields: { segment: "int32", start: "int32", end: "int32", stop_reason: "string", reward: "double" },
};

/** Returns the Parquet columns of recorded episodes: the fields of a row, with every reward component that occurs. */
export function recordedColumns(components: readonly string[]): Record<string, ColumnShape> {
  return {
    id: "string",
    environment: "string",
    task: "string",
    seed: "int64",
    group: "string",
    member: "int32",
    agent: "string",
    role: "string",
    player: { fields: { kind: "string", name: "string", policy: "string", version: "int32" } },
    renderer: "string",
    messages: { list: message },
    tools: { list: tool },
    fresh_at: { list: "int32" },
    segments: { list: segment },
    turns: { list: turn },
    reward: "double",
    // Parquet has no group without fields.
    ...(components.length === 0
      ? {}
      : { components: { fields: Object.fromEntries(components.map((name) => [name, "double" as const])) } }),
    shared: { fields: { reward: "double", weights: { list: { fields: { agent: "string", weight: "double" } } } } },
    tool_usage: { list: { fields: { name: "string", calls: "int32", errors: "int32", truncated: "int32" } } },
    judgements: {
      list: { fields: { judge: "string", step: "int32", verdict: "string", reason: "string", reward: "double" } },
    },
    grades: {
      list: {
        fields: {
          scorer: "string",
          step: "int32",
          verdict: "string",
          reason: "string",
          extracted: "string",
          reward: "double",
        },
      },
    },
    terminated: "boolean",
    truncated: "boolean",
    truncated_by: "string",
    unscored: failure,
    error: failure,
  };
}
