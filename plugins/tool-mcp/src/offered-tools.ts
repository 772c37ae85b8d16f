import {
  type JsonObject,
  type JsonValue,
  MrlmError,
  type Tool,
  type ToolCallOptions,
  type ToolDefinition,
  type ToolResult,
} from "@mrlm/kit";
import type { ListedTool } from "./connection.ts";
import { internSchema } from "./schemas.ts";
import type { Pool } from "./pool.ts";
import type { Server } from "./server.ts";
import { toolNames } from "./tool-names.ts";
import { errorResult, text, toolResult } from "./tool-result.ts";

/** Tool that the options offer, with the name that policies see. */
export interface OfferedTool {
  readonly server: Server;
  readonly tool: ListedTool;
  readonly name: string;
}

/** Returns the tools of servers that the options offer. */
export function offeredTools(
  listed: readonly { readonly server: Server; readonly tools: readonly ListedTool[] }[],
): OfferedTool[] {
  const offered = listed.flatMap(({ server, tools }) => {
    const { tools: allowed } = server.settings;
    return tools
      .filter(({ name }) => allowed === undefined || allowed.includes(name))
      .map((tool) => ({ server, tool }));
  });
  const names = toolNames(offered.map(({ server, tool }) => ({ server: server.name, tool: tool.name })));
  return offered.map((each, i) => ({ ...each, name: names[i] as string }));
}

/** Throws OPTIONS_INVALID for a tool of the options that its server does not list. */
export function assertListed(server: Server, tools: readonly ListedTool[]): void {
  const names = tools.map(({ name }) => name);
  const index = server.settings.tools?.findIndex((name) => !names.includes(name)) ?? -1;
  if (index < 0) return;
  const path = ["servers", server.name, "tools", index];
  const message = `server ${server.name} has no tool "${server.settings.tools?.[index]}"; it has: ${names.join(", ") || "none"}`;
  throw new MrlmError("OPTIONS_INVALID", `Options of plugin @mrlm/tool-mcp: ${path.join(".")}: ${message}.`, {
    cause: { issues: [{ path, message }] },
  });
}

/** Keywords whose values a server writes for readers. A secret with the value of a name or a type must not change any other. */
const ANNOTATIONS = new Set(["title", "description", "$comment", "default", "examples", "enum", "const"]);
/** Keywords whose keys are names. */
const NAMED = new Set(["properties", "patternProperties", "dependentSchemas", "$defs", "definitions"]);

/** Describes a tool to policies, without secrets: a server may write them into a description or a default. */
export function definitionOf({ server, tool, name }: OfferedTool): ToolDefinition {
  const redact = (text: string): string => server.redact(text);
  const schema = JSON.stringify(tool.parameters);
  const isClean = redact(schema) === schema;
  const parameters = isClean ? tool.parameters : internSchema(withoutSecrets(tool.parameters, redact) as JsonObject);
  return { name, description: redact(tool.description), parameters };
}

function withoutSecrets(schema: JsonValue, redact: (text: string) => string): JsonValue {
  if (Array.isArray(schema)) return schema.map((each) => withoutSecrets(each, redact));
  if (typeof schema !== "object" || schema === null) return schema;
  const changed = Object.entries(schema as JsonObject).map(([key, value]): [string, JsonValue] => {
    if (ANNOTATIONS.has(key)) return [key, JSON.parse(redact(JSON.stringify(value))) as JsonValue];
    if (!NAMED.has(key) || typeof value !== "object" || value === null) return [key, withoutSecrets(value, redact)];
    const named = Object.entries(value as JsonObject);
    return [key, Object.fromEntries(named.map(([name, each]) => [name, withoutSecrets(each, redact)]))];
  });
  return Object.fromEntries(changed);
}

/** Creates a tool that calls its server once for each call. */
export function callableTool(
  offered: OfferedTool,
  pool: Pool,
  /** Returns a notice for the policy that belongs before the next result, if there is one. */
  notice: () => string | undefined,
): Tool {
  const { server, tool } = offered;
  const { timeout_ms, max_timeout_ms, output_bytes } = server.settings;
  const call = async (args: JsonObject, options: ToolCallOptions): Promise<ToolResult> => {
    const result = await resultOf(args, options);
    const before = notice();
    return before === undefined ? result : { ...result, content: [text(before), ...result.content] };
  };
  const resultOf = async (args: JsonObject, options: ToolCallOptions): Promise<ToolResult> => {
    try {
      const answer = await pool.call(tool.name, args, options);
      return "error" in answer
        ? errorResult(server.redact(answer.error))
        : toolResult(tool, answer.result, server.redact);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      // The cause may quote a secret.
      // oxlint-disable-next-line eslint/preserve-caught-error
      throw new Error(`MCP server ${server.name}: ${server.redact(reason)}`);
    }
  };
  return {
    ...definitionOf(offered),
    timeoutMs: timeout_ms,
    maxTimeoutMs: Math.max(timeout_ms, max_timeout_ms),
    outputBytes: output_bytes,
    call,
  };
}
