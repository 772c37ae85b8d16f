import type { JsonObject } from "./json.ts";

/** Who speaks. What a policy says is `assistant`; what the world tells it is `user` or `tool`. */
export type MessageRole = "system" | "user" | "assistant" | "tool";

/** Plain text. */
export interface TextPart {
  readonly type: "text";
  readonly text: string;
}

/** Reasoning that a policy's renderer tells apart from its answer. */
export interface ThinkingPart {
  readonly type: "thinking";
  readonly text: string;
}

/** A picture, by its bytes or its address. */
export interface ImagePart {
  readonly type: "image";
  readonly mediaType: string;
  readonly source: { readonly data: Uint8Array } | { readonly url: string };
}

/** A policy's wish to have a tool called. */
export interface ToolCallPart {
  readonly type: "tool-call";
  readonly id: string;
  readonly name: string;
  readonly arguments: JsonObject;
}

/** What a tool answered. */
export interface ToolResultPart {
  readonly type: "tool-result";
  readonly id: string;
  readonly name: string;
  readonly content: readonly (TextPart | ImagePart)[];
  readonly isError: boolean;
}

/** One piece of a message. */
export type Part = TextPart | ThinkingPart | ImagePart | ToolCallPart | ToolResultPart;

/** One turn of a conversation. */
export interface Message {
  readonly role: MessageRole;
  /** The speaker, where several agents share a role. */
  readonly name?: string;
  readonly parts: readonly Part[];
}
