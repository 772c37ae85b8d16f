import type { Message } from "@mrlm/spec";
import type { Codec, Delta, ModelAnswer, ModelCall } from "./codec.ts";

/** Returns the body of the response to a call in parts: one, or an event each. @param id of the response */
export function writeAnswer(codec: Codec, call: ModelCall, { message, ...end }: ModelAnswer, id: string): string[] {
  const writer = codec.begin(call, { id, created: 0, inputTokens: 0 });
  const begun = writer.add(deltasOf(message));
  const { events, whole } = writer.end(end);
  if (!call.stream) return [JSON.stringify(whole)];
  const written = [...begun, ...events].map((event) => codec.event(event));
  return codec.streamEnd === "" ? written : [...written, codec.streamEnd];
}

/** Returns the parts of an answer, without pictures. Text that stands together is one part, with the text of malformed calls. */
function deltasOf({ parts }: Message): Delta[] {
  const deltas: Delta[] = [];
  for (const part of parts) {
    if (part.type === "tool-call") deltas.push({ type: "call", call: part });
    else if (part.type === "thinking") deltas.push({ type: "reasoning", text: part.text });
    else if ((part.type === "text" || part.type === "malformed-call") && part.text !== "") {
      const last = deltas.at(-1);
      if (last?.type === "content") deltas.pop();
      deltas.push({ type: "content", text: (last?.type === "content" ? last.text : "") + part.text });
    }
  }
  return deltas;
}
