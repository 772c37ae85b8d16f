import type { Delta } from "@mrlm/kit/gateway";
import { type ChatRenderer, type CompletionStream, TokenText } from "@mrlm/kit/renderer";
import type { Part } from "@mrlm/spec";
import type { ParseContext } from "@mrlm/spec/host";

/** Turns tokens into the parts of an answer. No part ends within a character. */
export interface TextSink {
  push(tokens: Int32Array): Delta[];
  /** Adds the beginning of the text of a token, whose rest is cut off. */
  pushText(text: string): Delta[];
  end(): Delta[];
}

/** Text of a completion: all tokens but special ones. */
export class PlainText implements TextSink {
  readonly #decoder: TokenText;

  constructor({ tokenizer }: ChatRenderer) {
    this.#decoder = new TokenText(tokenizer, new Map());
  }

  push(tokens: Int32Array): Delta[] {
    return contentOf(
      this.#decoder
        .push(tokens)
        .map((piece) => ("text" in piece ? piece.text : ""))
        .join(""),
    );
  }

  pushText(text: string): Delta[] {
    return contentOf(this.#held() + text);
  }

  end(): Delta[] {
    return contentOf(withoutPartialCharacter(this.#held()));
  }

  #held(): string {
    return this.#decoder
      .end()
      .map((piece) => ("text" in piece ? piece.text : ""))
      .join("");
  }
}

/**
 * Text, reasoning and calls of a chat message. Without tools in the request, calls are text. White space is as in the message of the renderer's `parse`: none around reasoning, before calls and after the last
 * call.
 */
export class ChatText implements TextSink {
  readonly #stream: CompletionStream;
  /** White space that is part of the answer only if more text follows. */
  #space = "";
  #type: Part["type"] | undefined;
  #parts = 0;
  /** Whether the last part has characters other than white space. */
  #hasText = false;

  constructor(renderer: ChatRenderer, context: ParseContext) {
    this.#stream = renderer.stream(context, { readsCalls: (context.tools ?? []).length > 0 });
  }

  push(tokens: Int32Array): Delta[] {
    return this.#deltas(this.#stream.push(tokens));
  }

  pushText(text: string): Delta[] {
    return this.#deltas(this.#stream.pushText(text));
  }

  end(): Delta[] {
    const parts = this.#stream.end();
    const last = parts.at(-1);
    if (last?.type === "text" || last?.type === "thinking")
      parts[parts.length - 1] = { ...last, text: withoutPartialCharacter(last.text) };
    const deltas = this.#deltas(parts);
    const isKept = this.#type === "text" && this.#space !== "" && (this.#hasText || this.#parts === 1);
    return isKept ? [...deltas, { type: "content", text: this.#space }] : deltas;
  }

  #deltas(parts: readonly Part[]): Delta[] {
    return parts.flatMap((part) => this.#delta(part));
  }

  #delta(part: Part): Delta[] {
    if (part.type === "malformed-call") return this.#text("text", part.text);
    if (part.type === "text" || part.type === "thinking") return this.#text(part.type, part.text);
    if (part.type !== "tool-call") return [];
    this.#enter("tool-call");
    this.#space = "";
    return [{ type: "call", call: part }];
  }

  #text(type: "text" | "thinking", text: string): Delta[] {
    if (this.#type !== type) {
      this.#enter(type);
      this.#space = "";
    }
    const all = this.#space + text;
    const shown = all.trimEnd();
    this.#space = all.slice(shown.length);
    // White space at the start of the reasoning is not part of it.
    const written = type === "thinking" && !this.#hasText ? shown.trimStart() : shown;
    if (written === "") {
      if (type === "thinking" && !this.#hasText) this.#space = "";
      return [];
    }
    this.#hasText = true;
    return [{ type: type === "text" ? "content" : "reasoning", text: written }];
  }

  #enter(type: Part["type"]): void {
    this.#type = type;
    this.#parts++;
    this.#hasText = false;
  }
}

function contentOf(text: string): Delta[] {
  return text === "" ? [] : [{ type: "content", text }];
}

/** Removes the replacement character of a character whose last bytes were not sampled. */
function withoutPartialCharacter(text: string): string {
  return text.endsWith("\uFFFD") ? text.slice(0, -1) : text;
}
