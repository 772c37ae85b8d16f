import type { JsonObject, ToolDefinition } from "@mrlm/spec";
import type { BlockReader } from "../block-reader.ts";

/** Call of a tool as a model wrote it. */
export interface WrittenCall {
  readonly name: string;
  readonly arguments: JsonObject;
  /** Id that the model gave the call. */
  readonly id?: string;
}

/** Marker at which a block of calls begins. */
export interface Opening {
  readonly marker: string;
  /** Marker that ends the block; `undefined` if the message does. Equal to `marker` if the block is the marker alone. */
  readonly end: string | undefined;
  /** Reason why a block that begins here is malformed. */
  readonly fault?: string;
  /** True if the marker counts only as a special token of the tokenizer, because ordinary text contains the same characters. */
  readonly isToken?: boolean;
}

/** Form in which a model writes calls of tools. */
export interface ToolFormat {
  readonly openings: readonly Opening[];
  /** Markers inside blocks and at their ends. */
  readonly inner: readonly string[];
  /**
   * Returns whether an answer is a block of calls without an opening marker, which ends with the message.
   * @param answer first characters of the answer
   * @returns `undefined` if more characters decide it
   */
  readonly startsBlock?: (answer: string) => boolean | undefined;
  /** Reads a block with its markers. Throws {@link CallFault}. */
  readonly read: (reader: BlockReader, tools: readonly ToolDefinition[] | undefined) => readonly WrittenCall[];
  /**
   * Writes calls, at least one.
   * @param index number of earlier calls in the conversation
   * @param hasToken whether the tokenizer has a token for a marker
   */
  readonly write: (calls: readonly WrittenCall[], index: number, hasToken: (marker: string) => boolean) => string;
  /** Returns the arguments of a call for a chat template, if the template would render them in another form than the model writes. */
  readonly templateArguments?: (given: JsonObject) => JsonObject;
  /**
   * Returns the id of a call for a chat template that accepts ids of one form only.
   * @param index number of earlier calls in the conversation
   */
  readonly templateId?: (call: { readonly id: string; readonly name: string }, index: number) => string;
}

export function markersOf({ openings, inner }: ToolFormat): string[] {
  return [...openings.map(({ marker }) => marker), ...inner];
}

/** Fails if the block has text after its calls. */
export function expectEnd(reader: BlockReader): void {
  reader.skipSpace();
  if (!reader.isAtEnd) reader.expected("the end of the calls");
}
