import type { JsonObject } from "./json.ts";

/** Author of a message: `assistant` for the policy, `user` and `tool` for the environment. */
export type MessageRole = "system" | "user" | "assistant" | "tool";

/** Plain text. */
export interface TextPart {
  readonly type: "text";
  readonly text: string;
}

/** Reasoning of a policy, which its renderer separates from the answer. */
export interface ThinkingPart {
  readonly type: "thinking";
  readonly text: string;
}

/** Picture as bytes or as a URL. */
export interface ImagePart {
  readonly type: "image";
  readonly mediaType: string;
  readonly source: { readonly data: Uint8Array } | { readonly url: string };
}

/** Request of a policy to call a tool. */
export interface ToolCallPart {
  readonly type: "tool-call";
  readonly id: string;
  readonly name: string;
  readonly arguments: JsonObject;
}

/** Result of a tool call. */
export interface ToolResultPart {
  readonly type: "tool-result";
  /** `id` of the tool call. */
  readonly id: string;
  readonly name: string;
  readonly content: readonly (TextPart | ImagePart)[];
  readonly isError: boolean;
}

/** Part of a message. */
export type Part = TextPart | ThinkingPart | ImagePart | ToolCallPart | ToolResultPart;

/** Message of a conversation. */
export interface Message {
  readonly role: MessageRole;
  /** Name of the author, if several agents share the role. */
  readonly name?: string;
  readonly parts: readonly Part[];
}
