import type { JsonObject } from "./json.ts";
import type { ImagePart, TextPart } from "./message.ts";

/** Description of a tool in the prompt of a policy. */
export interface ToolDefinition {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly parameters: JsonObject;
}

/** Result of a tool call: content, or with `isError` content that describes the failure. */
export interface ToolResult {
  readonly content: readonly (TextPart | ImagePart)[];
  readonly isError: boolean;
}

/** Function that an environment offers to a policy. */
export interface Tool extends ToolDefinition {
  /**
   * Calls the tool. A failure that concerns the policy (invalid arguments, a missing page) is a result with `isError`. A rejection means that the tool
   * is broken: the reward of the step becomes unscored (TOOL_FAILED).
   */
  call(args: JsonObject, options: { readonly signal: AbortSignal }): Promise<ToolResult>;
}
