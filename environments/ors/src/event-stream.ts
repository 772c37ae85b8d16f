import { MAX_ANSWER_BYTES, reasonOf, tooLarge } from "@mrlm/kit/bridge";
import { MrlmError } from "@mrlm/kit";

/** Event of a stream of server-sent events. */
export interface ServerEvent {
  readonly event: string;
  readonly data: string;
}

/**
 * Reads server-sent events in the form of the HTML standard, without ids and retry times. Ends at the end of the stream. Rejects with BRIDGE_LOST when the
 * connection breaks, BRIDGE_RESPONSE_INVALID for an event of more than 64 MiB, and with the reason of the signal.
 */
export async function* eventsOf(
  body: AsyncIterable<Uint8Array> | null,
  signal: AbortSignal,
): AsyncGenerator<ServerEvent, void> {
  const decoder = new TextDecoder();
  let rest = "";
  let event = "";
  let data: string[] = [];
  let size = 0;
  try {
    for await (const bytes of body ?? []) {
      size += bytes.length;
      if (size > MAX_ANSWER_BYTES) throw tooLarge("An event of the server");
      const text = decoder.decode(bytes, { stream: true });
      const hasLine = /[\r\n]/.test(text) || rest.endsWith("\r");
      rest += text;
      // A long line arrives in many chunks.
      if (!hasLine) continue;
      // A line may end with \r\n, whose second half can be in the next chunk.
      const lines = rest.split(/\r\n|\n|\r(?!$)/);
      rest = lines.pop() ?? "";
      for (const line of lines) {
        const [, field, value = ""] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
        if (line === "") {
          if (data.length > 0) yield { event: event === "" ? "message" : event, data: data.join("\n") };
          event = "";
          data = [];
          size = 0;
        } else if (field === "event") event = value;
        else if (field === "data") data.push(value);
      }
    }
  } catch (cause) {
    if (MrlmError.isInstance(cause)) throw cause;
    signal.throwIfAborted();
    throw new MrlmError("BRIDGE_LOST", `The connection ended in mid-answer: ${reasonOf(cause)}`, { cause });
  }
}
