import type { JsonObject } from "@mrlm/spec";
import type { Delta, ModelCall } from "./codec.ts";
import { hasFormat } from "./instructions.ts";

/** Form of the items of an answer in one API. An item is a text, a reasoning or a call. */
export interface ItemForm {
  /** Returns the events of an item that begins, without its content. */
  begin(item: Delta, index: number): JsonObject[];
  /** Returns the event of a part of the content. */
  delta(part: Delta, index: number): JsonObject;
  /** Returns the events of an item that ends. */
  end(item: Delta, index: number): JsonObject[];
  /** Returns the item in a response that is not streamed. */
  whole(item: Delta, index: number): JsonObject;
}

/** Items of an answer, and their events while they grow. Consecutive parts of text are one item, and so are those of reasoning. */
export class AnswerItems {
  readonly #form: ItemForm;
  readonly #items: Delta[] = [];

  constructor(form: ItemForm) {
    this.#form = form;
  }

  get isEmpty(): boolean {
    return this.#items.length === 0;
  }

  get hasCalls(): boolean {
    return this.#items.some(({ type }) => type === "call");
  }

  /** Adds parts, and returns their events. */
  add(deltas: readonly Delta[]): JsonObject[] {
    return deltas.flatMap((part) => {
      const last = this.#items.at(-1);
      const isLonger = part.type !== "call" && last?.type === part.type;
      const begun = isLonger ? [] : [...this.close(), ...this.#form.begin(part, this.#items.length)];
      if (isLonger) this.#items[this.#items.length - 1] = { ...part, text: last.text + part.text };
      else this.#items.push(part);
      return [...begun, this.#form.delta(part, this.#items.length - 1)];
    });
  }

  /** Returns the events that end the last item. */
  close(): JsonObject[] {
    const last = this.#items.at(-1);
    return last === undefined ? [] : this.#form.end(last, this.#items.length - 1);
  }

  whole(): JsonObject[] {
    return this.#items.map((item, index) => this.#form.whole(item, index));
  }

  /** Whether the answer has the form that a call requires. */
  hasFormat(call: Pick<ModelCall, "format">): boolean {
    const texts = this.#items.flatMap((item) => (item.type === "content" ? [item.text] : []));
    return this.hasCalls || hasFormat(texts.join(""), call);
  }
}
