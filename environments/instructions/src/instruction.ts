import type { JsonValue, RandomStream } from "@mrlm/kit";
import type { Item } from "./items.ts";

/** An answer, and the items that it is about. */
export interface Answer {
  readonly text: string;
  /** Lines between the first and the last line that instructions ask for. */
  readonly body: readonly string[];
  readonly items: readonly Item[];
}

/** An instruction with parameters, and its exact check. */
export interface Instruction<Value extends JsonValue> {
  /** Returns the sentence of the task. */
  describe(value: Value): string;
  /** Whether an answer follows the instruction. */
  holds(value: Value, answer: Answer): boolean;
}

/** Form of an answer: the instruction without which no other one has a meaning. It writes an answer, too. */
export interface Form<Value extends JsonValue> extends Instruction<Value> {
  draw(random: RandomStream, level: number): Value;
  /** Returns the lines of an answer. */
  write(value: Value, items: readonly Item[]): string[];
}

/** Returns the words and numbers of a text, in lower case. */
export function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

/** Whether texts are equal, case apart: an instruction of its own is about the case. */
export function isSame(one: string | undefined, other: string): boolean {
  return one?.toLowerCase() === other.toLowerCase();
}
