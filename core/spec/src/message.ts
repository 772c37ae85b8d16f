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

/** Call of a tool that its policy wrote wrongly. No tool runs. */
export interface MalformedCallPart {
  readonly type: "malformed-call";
  /** Text of the call with its markers. Rendered again, it has the same tokens. */
  readonly text: string;
  /** Name of the form in which calls were expected, e.g. "hermes". */
  readonly format: string;
  /** Reason, for the policy to read. */
  readonly error: string;
  /** Offset in `text`, in UTF-16 units, of the character at which the fault was found. */
  readonly offset: number;
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

export type Part = TextPart | ThinkingPart | ImagePart | ToolCallPart | MalformedCallPart | ToolResultPart;

/** Message of a conversation. */
export interface Message {
  readonly role: MessageRole;
  /** Name of the author, if several agents share the role. */
  readonly name?: string;
  readonly parts: readonly Part[];
}
