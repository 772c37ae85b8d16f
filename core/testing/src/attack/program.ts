import type { Message } from "@mrlm/spec";
import { messageText, textMessage, toolCalls } from "@mrlm/kit";
import { keyOf } from "./arena.ts";
import { BARE, type Frame } from "./frames.ts";
import { type Family, joinTexts, quote, type Text } from "./text.ts";
import type { View } from "./view.ts";

/** Map from what an agent has read to its next message, which neither knows nor computes the answer. */
export interface Program {
  readonly family: Family;
  readonly words: string;
  /** Number of alternatives among which its text is one. */
  readonly among?: number;
  /** Whether it has messages of its own after those of the first two turns. */
  readonly isLong?: boolean;
  /** Form of its messages, and the text of each slot: other programs are made of them. */
  readonly made?: { readonly frame: Frame; readonly texts: readonly Text[] };
  /** Returns the next message; `undefined` where the program does not apply. */
  act(view: View): Message | undefined;
}

/** Makes a program that writes a text in a form, in each turn. A missing slot holds what gold wrote there in another task. */
export function inFrame(frame: Frame, texts: readonly (Text | undefined)[]): Program {
  const given = texts.filter((text) => text !== undefined);
  const [first] = given;
  const slots = given.map(({ words }) => words).join("; ");
  return {
    family: first?.family ?? "gold",
    words:
      frame === BARE ? slots : first === undefined ? `what gold writes ${frame.words}` : `${slots}, ${frame.words}`,
    ...(first?.among !== undefined && { among: first.among }),
    ...(given.length === texts.length && { made: { frame, texts: given } }),
    act: (view) => {
      const values = texts.map((text, i) => (text === undefined ? (frame.typical[i] ?? "") : text.of(view)));
      return values.some((value) => value === undefined) ? undefined : frame.fill(values as string[]);
    },
  };
}

/** Makes a program that writes the same messages in each episode; the last one continues. */
export function inOrder(family: Family, words: string, path: readonly Message[]): Program {
  return { family, words, act: ({ turn }) => path[turn] ?? path.at(-1) };
}

/** Makes a program of one for each agent. */
export function inRoles(programs: ReadonlyMap<string, Program>): Program {
  return {
    family: "roles",
    words: [...programs].map(([agent, { words }]) => `${agent}: ${words}`).join("; "),
    act: (view) => programs.get(view.agent)?.act(view),
  };
}

/** Makes a program whose n-th message is that of the n-th program; the last one continues. */
export function inTurn(family: Family, programs: readonly Program[]): Program {
  return {
    family,
    words: programs.map(({ words }, i) => (i === 0 ? words : `then ${words}`)).join("; "),
    isLong: programs.length > 2,
    ...(programs.at(-1)?.among !== undefined && { among: programs.at(-1)?.among as number }),
    act: (view) => (programs[view.turn] ?? programs.at(-1))?.act(view),
  };
}

/** Makes a program of two: one text after the other, in the form of the first where both have one. */
export function inSequence(one: Program, other: Program, separator: string): Program {
  const [first, second] = [one.made, other.made];
  if (first !== undefined && second !== undefined && first.frame.slots === 1 && first.frame === second.frame) {
    const text = joinTexts(first.texts[0] as Text, second.texts[0] as Text, separator);
    return inFrame(first.frame, [text]);
  }
  return {
    family: one.family,
    words: `${one.words}, followed by ${other.words}`,
    act: (view) => {
      const [before, after] = [one.act(view), other.act(view)];
      if (before === undefined || after === undefined) return undefined;
      if (toolCalls(before).length + toolCalls(after).length > 0)
        return { ...before, parts: [...before.parts, ...after.parts] };
      return textMessage("assistant", `${messageText(before)}${separator}${messageText(after)}`);
    },
  };
}

/** Keeps the first program of those that write the same in all given views, and none that applies in no view. */
export class DistinctPrograms {
  readonly #views: readonly View[];
  readonly #known = new Set<string>();

  constructor(views: readonly View[]) {
    this.#views = views;
  }

  isNew(program: Program): boolean {
    const messages = this.#views.map((view) => program.act(view));
    if (messages.every((message) => message === undefined)) return false;
    const written = messages.map((message) => (message === undefined ? "" : keyOf(message))).join("\u{1}");
    // Views of later turns are few: what differs there alone shows in the words.
    const key = program.isLong === true ? program.words : written;
    if (this.#known.has(key)) return false;
    this.#known.add(key);
    return true;
  }
}

/** Shows a message in one line. */
export function describeMessage(message: Message): string {
  const calls = toolCalls(message).map((call) => `${call.name}(${JSON.stringify(call.arguments)})`);
  const text = messageText(message);
  return [...(text === "" && calls.length > 0 ? [] : [quote(text, 100)]), ...calls].join(" ");
}
