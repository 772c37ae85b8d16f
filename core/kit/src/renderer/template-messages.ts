import {
  type JsonObject,
  type Message,
  MrlmError,
  type Part,
  type ToolCallPart,
  type ToolResultPart,
} from "@mrlm/spec";
import { type TemplateMessage, mapStrings } from "./compiled-template.ts";
import { markersOf, type ToolFormat } from "./formats/format.ts";
import { spacedJson } from "./json-reader.ts";
import type { TemplateStyle } from "./template-style.ts";

interface Options {
  readonly format: ToolFormat;
  /** Replaces special tokens in content, except those that are kept. */
  readonly escape: (content: string, kept?: ReadonlySet<string>) => string;
  readonly hasToken: (marker: string) => boolean;
  readonly style: () => TemplateStyle;
}

/** Converts messages to the form that chat templates read. Each tool result becomes a message of its own, in the order of the calls: some templates show no ids. */
export function templateMessages(messages: readonly Message[], options: Options): TemplateMessage[] {
  const converter = new Converter(options);
  const shown: TemplateMessage[] = [];
  let results: TemplateMessage[] = [];
  const showResults = (): void => {
    shown.push(...results.toSorted((one, other) => converter.placeOf(one) - converter.placeOf(other)));
    results = [];
  };
  for (const message of messages) {
    if (message.parts.some(({ type }) => type === "tool-result")) {
      results.push(...converter.convert(message));
      continue;
    }
    showResults();
    shown.push(...converter.convert(message));
  }
  showResults();
  return shown;
}

class Converter {
  readonly #format: ToolFormat;
  readonly #options: Options;
  readonly #markers: ReadonlySet<string>;
  /** Ids for the template, by ids of calls. Demonstrations may use an id for several calls: results belong to the last. */
  readonly #ids = new Map<string, string>();
  /** Numbers of calls in the conversation, by ids for the template. */
  readonly #places = new Map<string, number>();
  /** Number of calls so far. */
  #calls = 0;

  constructor(options: Options) {
    this.#options = options;
    this.#format = options.format;
    this.#markers = new Set(markersOf(options.format));
  }

  convert(message: Message): TemplateMessage[] {
    if (message.parts.some((part) => part.type === "image")) {
      throw new MrlmError(
        "TOKENIZER_INVALID",
        "The conversation holds a picture, which a text model's template cannot render.",
      );
    }
    return message.parts.some((part) => part.type === "tool-result")
      ? this.#results(message)
      : [this.#message(message)];
  }

  /** Returns the number of the call of a result; results of unknown calls are the last. */
  placeOf({ tool_call_id: id }: TemplateMessage): number {
    return this.#places.get(id ?? "") ?? this.#calls;
  }

  /** Text before a result belongs to it, text after the last one to the last. */
  #results({ parts }: Message): TemplateMessage[] {
    const results: { part: ToolResultPart; content: string }[] = [];
    let text = "";
    for (const part of parts) {
      if (part.type === "text") text += part.text;
      else if (part.type === "tool-result") {
        const shown = part.content.map((member) => (member.type === "text" ? member.text : "")).join("");
        results.push({ part, content: text + shown });
        text = "";
      }
    }
    return results.map(({ part, content }, i) => ({
      role: "tool",
      content: this.#escape(i === results.length - 1 ? content + text : content),
      tool_call_id: this.#escape(this.#idOf(part)),
      name: this.#escape(part.name),
    }));
  }

  #message({ role, name, parts }: Message): TemplateMessage {
    const calls = parts.filter((part) => part.type === "tool-call");
    const reasoning = parts.map((part) => (part.type === "thinking" ? part.text : "")).join("");
    const first = this.#calls;
    this.#calls += calls.length;
    const ids = calls.map((call, i) => this.#newId(call, first + i));
    const isWritten = calls.length > 0 && this.#isWritten(parts, calls.length);
    const content = this.#content(parts, isWritten, first);
    return {
      role: role === "tool" ? this.#options.style().toolTextRole : role,
      content: content === "" && calls.length > 0 ? this.#options.style().noContent : content,
      ...(name === undefined ? {} : { name: this.#escape(name) }),
      ...(reasoning === "" ? {} : { reasoning_content: this.#escape(reasoning) }),
      ...(calls.length === 0 || isWritten
        ? {}
        : {
            tool_calls: calls.map((call, i) => ({
              id: this.#escape(ids[i] as string),
              type: "function",
              function: { name: this.#escape(call.name), arguments: this.#arguments(call) },
            })),
          }),
    };
  }

  /** Returns true if the calls of a message become part of its content: beside malformed calls, whose place a template cannot render, or if the template omits them. */
  #isWritten(parts: readonly Part[], calls: number): boolean {
    if (parts.some((part) => part.type === "malformed-call")) return true;
    const { maxCalls, maxCallsBesideText } = this.#options.style();
    return calls > (parts.some((part) => part.type === "text") ? maxCallsBesideText : maxCalls);
  }

  /** Returns text, malformed calls, and the other calls if they are written, in the order of the parts. */
  #content(parts: readonly Part[], isWritten: boolean, first: number): string {
    let content = "";
    let number = first;
    let group: ToolCallPart[] = [];
    const write = (): void => {
      if (group.length === 0) return;
      const separator = /\S/.test(content.at(-1) ?? " ") ? "\n" : "";
      content +=
        separator +
        this.#format.write(
          group.map((call) => this.#escaped(call)),
          number,
          this.#options.hasToken,
        );
      number += group.length;
      group = [];
    };
    for (const part of parts) {
      if (part.type === "tool-call" && isWritten) group.push(part);
      else if (part.type === "text" || part.type === "malformed-call") {
        write();
        content += part.type === "text" ? this.#escape(part.text) : this.#options.escape(part.text, this.#markers);
      }
    }
    write();
    return content;
  }

  #arguments(call: ToolCallPart): JsonObject | string {
    const { arguments: given } = this.#escaped(call);
    if (this.#options.style().arguments === "json") return spacedJson(given);
    return this.#format.templateArguments?.(given) ?? given;
  }

  #escaped({ name, arguments: given }: ToolCallPart): { name: string; arguments: JsonObject } {
    const escape = (text: string): string => this.#escape(text);
    return { name: escape(name), arguments: mapStrings(given, escape) as JsonObject };
  }

  #newId(call: ToolCallPart, index: number): string {
    const id = this.#format.templateId?.(call, index) ?? call.id;
    this.#ids.set(call.id, id);
    this.#places.set(this.#escape(id), index);
    return id;
  }

  #idOf({ id, name }: ToolResultPart): string {
    return this.#ids.get(id) ?? this.#format.templateId?.({ id, name }, this.#calls) ?? id;
  }

  #escape(text: string): string {
    return this.#options.escape(text);
  }
}
