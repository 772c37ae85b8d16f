import { createHash } from "node:crypto";
import type { JsonObject, JsonValue, Message, Observation, Part } from "@mrlm/spec";

/** Returns the parameters of a model's request for an episode: its first observation, and its tools. */
export function createParams({ messages, tools = [] }: Observation): JsonObject {
  return {
    input: messages.map(inputOf),
    ...(tools.length > 0 && {
      tools: tools.map(({ name, description, parameters }) => ({
        type: "function",
        name,
        description,
        parameters: { type: "object", ...parameters },
        strict: false,
      })),
    }),
  };
}

/** Returns a hash of the parameters of a request, by which a row is compared with its episode. */
export function promptHash(params: JsonObject): string {
  return createHash("sha256").update(JSON.stringify(params)).digest("hex").slice(0, 32);
}

/** Returns a message in the form of the Responses API. Results of tools are texts of the user. */
function inputOf({ role, parts }: Message): JsonObject {
  const content = parts.flatMap(contentOf);
  const texts = content.flatMap((part) => (part["type"] === "input_text" ? [part["text"] as string] : []));
  const isText = texts.length === content.length;
  return { role: role === "tool" ? "user" : role, content: isText ? texts.join("\n\n") : (content as JsonValue) };
}

function contentOf(part: Part): JsonObject[] {
  if (part.type === "text" || part.type === "malformed-call") return [{ type: "input_text", text: part.text }];
  if (part.type === "tool-result") return part.content.flatMap(contentOf);
  if (part.type !== "image") return [];
  const { mediaType, source } = part;
  const url = "url" in source ? source.url : `data:${mediaType};base64,${Buffer.from(source.data).toString("base64")}`;
  return [{ type: "input_image", image_url: url, detail: "auto" }];
}
