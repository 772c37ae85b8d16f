import type { Message, Part } from "@mrlm/spec";

/** Text or image of ORS. */
export type Block =
  | { readonly type: "text"; readonly text: string; readonly detail: null }
  | { readonly type: "image"; readonly data: string; readonly mimeType: string; readonly detail: null };

/** Block that only messages have. */
type MessageBlock =
  | Block
  | { readonly type: "reasoning"; readonly text: string; readonly signature: null; readonly detail: null }
  | {
      readonly type: "tool_call";
      readonly id: string;
      readonly name: string;
      readonly input: object;
      readonly detail: null;
    }
  | {
      readonly type: "tool_result";
      readonly tool_call_id: string;
      readonly blocks: readonly Block[];
      readonly is_error: boolean;
      readonly detail: null;
    };

/** Message of ORS. There is no role for tools. */
export interface OrsMessage {
  readonly role: "system" | "user" | "assistant";
  readonly blocks: readonly MessageBlock[];
  readonly detail: null;
}

/** Types of blocks in messages. */
export const BLOCK_TYPES = ["text", "image", "reasoning", "tool_call", "tool_result"] as const;

const detail = null;

/** Returns the texts and images of messages, without their roles. */
export function blocksOf(messages: readonly Message[]): Block[] {
  return messages.flatMap(({ parts }) => parts.flatMap(contentOf));
}

/** Returns messages with their roles. Results of tools are in messages of `user`. */
export function orsMessages(messages: readonly Message[]): OrsMessage[] {
  return messages.map(({ role, parts }) => ({
    role: role === "tool" ? "user" : role,
    blocks: parts.flatMap((part): readonly MessageBlock[] => {
      switch (part.type) {
        case "thinking":
          return [{ type: "reasoning", text: part.text, signature: null, detail }];
        case "tool-call":
          return [{ type: "tool_call", id: part.id, name: part.name, input: part.arguments, detail }];
        case "tool-result": {
          const blocks = part.content.flatMap(contentOf);
          return [{ type: "tool_result", tool_call_id: part.id, blocks, is_error: part.isError, detail }];
        }
        default:
          return contentOf(part);
      }
    }),
    detail,
  }));
}

/** Returns the blocks of a part that is text, an image, or a result of these. The protocol has no image by URL. */
function contentOf(part: Part): readonly Block[] {
  if (part.type === "text") return part.text === "" ? [] : [{ type: "text", text: part.text, detail }];
  if (part.type === "malformed-call") return [{ type: "text", text: part.text, detail }];
  if (part.type === "tool-result") return part.content.flatMap(contentOf);
  if (part.type !== "image") return [];
  const { mediaType, source } = part;
  return "url" in source
    ? [{ type: "text", text: `Image: ${source.url}`, detail }]
    : [{ type: "image", data: Buffer.from(source.data).toString("base64"), mimeType: mediaType, detail }];
}
