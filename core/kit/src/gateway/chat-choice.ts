import type { Delta, ModelCall } from "./codec.ts";
import { hasFormat, SCHEMA_FAILED } from "./instructions.ts";

/** One choice of a chat response: the parts of an answer as events, and as one message. */
export class ChatChoice {
  readonly #index: number;
  readonly #call: Pick<ModelCall, "format">;
  #content = "";
  #reasoning = "";
  readonly #calls: object[] = [];
  #hasBegun = false;

  constructor(index: number, call: Pick<ModelCall, "format">) {
    this.#index = index;
    this.#call = call;
  }

  /** Whether an event has the choice. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** Whether the message so far has the form that its call requires. */
  get hasFormat(): boolean {
    return this.#calls.length > 0 || hasFormat(this.#content, this.#call);
  }

  /** Adds parts to the message. Returns them as the delta of an event. */
  add(deltas: readonly Delta[]): object {
    const merged: { content?: string; reasoning_content?: string; tool_calls?: object[] } = {};
    for (const delta of deltas) {
      if (delta.type === "content") {
        this.#content += delta.text;
        merged.content = (merged.content ?? "") + delta.text;
      } else if (delta.type === "reasoning") {
        this.#reasoning += delta.text;
        merged.reasoning_content = (merged.reasoning_content ?? "") + delta.text;
      } else {
        const { id, name, arguments: given } = delta.call;
        const call = { id, type: "function", function: { name, arguments: JSON.stringify(given) } };
        (merged.tool_calls ??= []).push({ index: this.#calls.length, ...call });
        this.#calls.push(call);
      }
    }
    return merged;
  }

  /** Returns a delta as the choice of an event. The first one names the role. */
  event(delta: object, fields: object = {}): object {
    const begin = this.#hasBegun ? {} : { role: "assistant", content: "" };
    this.#hasBegun = true;
    return { index: this.#index, delta: { ...begin, ...delta }, logprobs: null, finish_reason: null, ...fields };
  }

  /** Returns the choice of the last event. */
  lastEvent(reason: "stop" | "length", fields: object = {}): object {
    return {
      index: this.#index,
      delta: {},
      logprobs: null,
      finish_reason: this.#finishReason(reason),
      ...(!this.hasFormat && SCHEMA_FAILED),
      ...fields,
    };
  }

  /** Returns the choice of a response that is not streamed. */
  whole(reason: "stop" | "length", fields: object = {}): object {
    const hasCalls = this.#calls.length > 0;
    return {
      index: this.#index,
      message: {
        role: "assistant",
        content: this.#content === "" && hasCalls ? null : this.#content,
        refusal: null,
        ...(this.#reasoning !== "" && { reasoning_content: this.#reasoning }),
        ...(hasCalls && { tool_calls: this.#calls }),
      },
      logprobs: null,
      finish_reason: this.#finishReason(reason),
      ...(!this.hasFormat && SCHEMA_FAILED),
      ...fields,
    };
  }

  #finishReason(reason: "stop" | "length"): string {
    return reason === "stop" && this.#calls.length > 0 ? "tool_calls" : reason;
  }
}
