import { createHash } from "node:crypto";
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

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const LENGTH = 9;

/**
 * Returns a source of ids for the calls of one message. Ids have 9 letters and digits, which Mistral's chat template requires, and are unique in the episode.
 * They depend on nothing but the arguments, so that a repeated episode has the same ids.
 *
 * @param earlier ids of the earlier calls of the episode
 * @returns function that returns the given id if it has the right form and is free, else the next free one
 */
export function callIds(earlier: ReadonlySet<string> = new Set()): (written?: string) => string {
  const taken = new Set(earlier);
  let number = taken.size;
  return (written) => {
    let id = written ?? "";
    while (!/^[A-Za-z0-9]{9}$/.test(id) || taken.has(id)) id = idOf(number++);
    taken.add(id);
    return id;
  };
}

function idOf(number: number): string {
  let rest = createHash("sha256").update(String(number)).digest().readBigUInt64BE();
  return Array.from({ length: LENGTH }, () => {
    const digit = ALPHABET[Number(rest % 62n)] as string;
    rest /= 62n;
    return digit;
  }).join("");
}
