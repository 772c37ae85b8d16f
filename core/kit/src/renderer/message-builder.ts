import type { Message, Part } from "@mrlm/spec";

/** Builds a message from the parts of a {@link CompletionParser}, which come in pieces. */
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
      this.#close();
      this.#parts.push(part);
    }
  }

  build(): Message {
    this.#close();
    // Templates write the white space around calls themselves. Beside a malformed call the renderer writes all calls, and white space must stay.
    const isExact = this.#parts.some(({ type }) => type === "malformed-call");
    return { role: "assistant", parts: isExact ? this.#parts : withoutSpace(this.#parts) };
  }

  #join(type: "text" | "thinking", text: string): void {
    if (this.#type !== type) this.#close();
    this.#type = type;
    this.#pieces.push(text);
  }

  #close(): void {
    const text = this.#pieces.join("");
    if (this.#type === "thinking") this.#parts.push({ type: "thinking", text: text.trim() });
    else if (text !== "") this.#parts.push({ type: "text", text });
    this.#pieces = [];
    this.#type = undefined;
  }
}

/** Returns the parts without the white space before calls and after the last one. A message of white space alone is kept. */
function withoutSpace(parts: readonly Part[]): Part[] {
  return parts
    .map((part, i) =>
      part.type === "text" && parts[i + 1]?.type === "tool-call" ? { ...part, text: part.text.trimEnd() } : part,
    )
    .filter((part, i) => part.type !== "text" || (part.text !== "" && (i === 0 || part.text.trim() !== "")));
}
