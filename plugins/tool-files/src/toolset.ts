import type { JsonObject, Plugin, RandomStream, TaskId, ToolDefinition, ToolResult as TextResult } from "@mrlm/spec";

/** Result of a tool call. `truncated`: a limit shortened the content, which states it. */
export interface ToolResult extends TextResult {
  readonly truncated?: boolean;
}

/** Function that an environment offers to a policy in one episode. */
export interface Tool extends ToolDefinition {
  call(args: JsonObject, options: { readonly signal: AbortSignal }): Promise<ToolResult>;
}

/** Tools of one episode. The host closes them with its session. */
export interface OpenToolset {
  readonly tools: readonly Tool[];
  close(): Promise<void>;
}

/** Input of `Toolset.open`. */
export interface ToolsetEpisode {
  readonly task: TaskId;
  readonly seed?: number;
  readonly random: RandomStream;
  /** Files of the task: contents by relative path. */
  readonly files: Readonly<Record<string, string | Uint8Array>>;
  readonly signal: AbortSignal;
}

/** Opens tools for one episode. */
export interface Toolset {
  open(episode: ToolsetEpisode): Promise<OpenToolset>;
}

/** Declares toolsets in a plugin. */
export function toolsets<Options>(
  factories: Readonly<Record<string, (context: unknown, options: Options) => Toolset>>,
): NonNullable<Plugin<Options>["tools"]> {
  return factories as unknown as NonNullable<Plugin<Options>["tools"]>;
}
