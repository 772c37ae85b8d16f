import { fileURLToPath } from "node:url";
import {
  type JsonObject,
  type Logger,
  type OpenToolset,
  type PluginContext,
  randomStream,
  type ToolCallOptions,
  type ToolResult,
} from "@mrlm/kit";
import { silentLogger } from "@mrlm/kit/service";
import { type McpOptions, mcpOptions } from "../../src/options.ts";
import { McpToolset } from "../../src/toolset.ts";
import { marked } from "./processes.ts";

export const never = new AbortController().signal;

const script = fileURLToPath(new URL("scripted-server.mjs", import.meta.url));

/** Configuration of the scripted server with some of its flags. */
export function scripted(...flags: readonly string[]) {
  return { command: process.execPath, args: [script, ...flags], env: marked };
}

type Given = Parameters<typeof mcpOptions.parse>[0];

/** Creates a toolset from options as a configuration has them. */
export function toolset(options: Given, logger: Logger = silentLogger): Promise<McpToolset> {
  return McpToolset.create(contextWith(logger), mcpOptions.parse(options) as McpOptions);
}

export function contextWith(logger: Logger): PluginContext {
  const none = async (): Promise<never> => {
    throw new Error("the plugin requires no services");
  };
  return {
    ...{ logger, scorer: none, judge: none, sandbox: none, tools: none, workspaces: none },
    rewardModel: () => ({ score: none }),
    dataPath: (path) => path,
  };
}

/** Logger that keeps its messages. */
export function recordingLogger(): Logger & { readonly lines: string[] } {
  const lines: string[] = [];
  const write = (message: string, fields?: JsonObject): void => {
    lines.push(`${message}${fields === undefined ? "" : ` ${JSON.stringify(fields)}`}`);
  };
  return { lines, debug: write, info: write, warn: write, error: write };
}

/** Opens an episode. */
export function episode(of: McpToolset, files?: Readonly<Record<string, string>>): Promise<OpenToolset> {
  return of.open({
    seed: 1,
    signal: never,
    random: (name) => randomStream(name, 1),
    ...(files === undefined ? {} : { files }),
  });
}

/** Calls a tool by the name that policies see. */
export async function call(
  opened: OpenToolset,
  name: string,
  args: JsonObject = {},
  options: Partial<ToolCallOptions> = {},
): Promise<ToolResult> {
  const tool = opened.tools.find((each) => each.name === name);
  if (tool === undefined) throw new Error(`no tool ${name} among ${opened.tools.map((each) => each.name).join(", ")}`);
  return tool.call(args, { signal: never, ...options });
}

/** Texts of a result, joined. */
export function textOf(result: ToolResult): string {
  return result.content.map((part) => (part.type === "text" ? part.text : `[${part.mediaType}]`)).join("\n");
}
