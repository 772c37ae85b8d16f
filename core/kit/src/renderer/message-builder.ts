import type { Message, Part } from "@mrlm/spec";

/** Builds a message from the parts of a {@link CompletionParser}: joins pieces of text and removes the white space between text and calls. */
export class MessageBuilder {
  readonly #parts: Part[] = [];
  /** Pieces of the last part, if it is text or reasoning. */
  #pieces: string[] = [];
  #type: "text" | "thinking" | undefined;
  readonly #keepsMalformed: boolean;

  /** @param keepsMalformed false to convert malformed calls to text */
  constructor(keepsMalformed: boolean) {
    this.#keepsMalformed = keepsMalformed;
  }

  add(part: Part): void {
    if (part.type === "text" || part.type === "thinking") this.#join(part.type, part.text);
    else if (part.type === "malformed-call" && !this.#keepsMalformed) this.#join("text", part.text);
    else {
      // Templates write the white space before a call themselves. A malformed call is text for them.
      this.#close(part.type === "tool-call" ? "call" : "text");
      this.#parts.push(part);
    }
  }

  build(): Message {
    this.#close("end");
    return { role: "assistant", parts: this.#parts };
  }

  #join(type: "text" | "thinking", text: string): void {
    if (this.#type !== type) this.#close("text");
    this.#type = type;
    this.#pieces.push(text);
  }

  #close(next: "call" | "text" | "end"): void {
    const text = this.#pieces.join("");
    if (this.#type === "thinking") this.#parts.push({ type: "thinking", text: text.trim() });
    else if (this.#type === "text") {
      // White space beside a malformed call is kept, so that its tokens stay the same.
      const isBeside = this.#parts.at(-1)?.type === "malformed-call";
      const kept = next === "call" && !(isBeside && text.trim() === "") ? text.trimEnd() : text;
      const isDropped = next === "end" && text.trim() === "" && this.#parts.length > 0 && !isBeside;
      if (kept !== "" && !isDropped) this.#parts.push({ type: "text", text: kept });
    }
    this.#pieces = [];
    this.#type = undefined;
  }
}
