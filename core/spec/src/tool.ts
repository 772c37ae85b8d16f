import type { JsonObject } from "./json.ts";
import type { ImagePart, TextPart } from "./message.ts";

/** What a policy is told about a tool. */
export interface ToolDefinition {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly parameters: JsonObject;
}

/** What a tool answers: content, or content that says why it failed. */
export interface ToolResult {
  readonly content: readonly (TextPart | ImagePart)[];
  readonly isError: boolean;
}

/** A tool that environments offer to policies. */
export interface Tool extends ToolDefinition {
  /**
   * Calls the tool. A failure that the policy should see (bad arguments, no such page) is a result with `isError`; a thrown
   * error means that the tool itself is broken and makes the step's reward unscored.
   */
  call(args: JsonObject, options: { readonly signal: AbortSignal }): Promise<ToolResult>;
}
