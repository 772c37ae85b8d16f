import {
  type JsonObject,
  type JsonValue,
  MrlmError,
  type Tool,
  type ToolCallOptions,
  type ToolDefinition,
  type ToolResult,
} from "@mrlm/kit";
import { hash128 } from "@mrlm/kit/service";
import type { ListedTool } from "./connection.ts";
import type { Pool } from "./pool.ts";
import { internSchema } from "./schemas.ts";
import type { Server } from "./server.ts";
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

const MAX_LENGTH = 64;

/** Tool of a server, by the server's names. */
interface ToolOfServer {
  readonly server: string;
  readonly tool: string;
}

/**
 * Returns the names that policies see: `SERVER__TOOL`. Other characters than letters, digits, _ and - become _. A name that is too long, or that another
 * tool has as well, ends with a hash of the original instead. The order of servers and tools does not matter. A
 * server that lists two tools under one name does not start.
 */
export function toolNames(tools: readonly ToolOfServer[]): string[] {
  const plain = tools.map(({ server, tool }) => `${server}__${tool}`);
  const valid = plain.map((name) => name.replace(/[^A-Za-z0-9_-]/g, "_"));
  // A separator that no name contains: ("a", "b__c") and ("a__b", "c") differ.
  const originals = tools.map(({ server, tool }) => `${server}\0${tool}`);
  const sharing = new Map<string, Set<string>>();
  for (const [i, name] of valid.entries()) {
    const others = sharing.get(name) ?? new Set();
    sharing.set(name, others.add(originals[i] as string));
  }
  return valid.map((name, i) => {
    if (name.length <= MAX_LENGTH && sharing.get(name)?.size === 1) return name;
    const [high, low] = hash128(originals[i] as string);
    const hash = `${high.toString(36)}${low.toString(36)}`.padStart(8, "0").slice(0, 8);
    return `${name.slice(0, MAX_LENGTH - 9)}_${hash}`;
  });
}
