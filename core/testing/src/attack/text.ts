import type { Area, View } from "./view.ts";
import { KINDS, type SpanKind } from "./spans.ts";

/** Families of programs, in the order in which they take turns. A finding names the reason and the fix of its family. */
export const FAMILIES = [
  "constant",
  "span",
  "tool",
  "literal",
  "list",
  "turns",
  "forgery",
  "markup",
  "gold",
  "length",
  "join",
  "characters",
  "code",
  "roles",
] as const;

export type Family = (typeof FAMILIES)[number];

/** Text that a program makes of what it has read. `undefined`: there is none in this view. */
export interface Text {
  readonly family: Family;
  /** Description for messages. */
  readonly words: string;
  /** Number of alternatives among which the text is one, such as the options of a question. */
  readonly among?: number;
  of(view: View): string | undefined;
}

/** Returns a text that is the same in each view. */
export function constantText(family: Family, value: string, words = `the text ${quote(value)}`): Text {
  return { family, words, of: () => value };
}

/** Shows a text in one line of at most 60 characters. */
export function quote(value: string, most = 60): string {
  const shown = JSON.stringify(value);
  return shown.length <= most ? shown : `${shown.slice(0, most - 10)}…" (${value.length} characters)`;
}

const AREA_WORDS: Readonly<Record<Area, string>> = {
  question: "the question",
  system: "the system prompt",
  latest: "what came last",
  all: "all that was read",
  tools: "the descriptions of the tools",
};

/** Returns one span by its place, from the end for negative ones. */
export function spanText(area: Area, kind: SpanKind, place: number, among: number): Text {
  const { words } = KINDS[kind];
  return {
    family: "span",
    words: `${kind === "text" ? "" : `the ${ordinal(place)}`}${kind === "text" ? "" : `${words} of `}${AREA_WORDS[area]}`,
    among,
    of: (view) => view.spans(area, kind).at(place),
  };
}

function ordinal(place: number): string {
  const names = ["first", "second", "third", "fourth", "fifth"];
  return place === -1 ? "last " : place < 0 ? `${names[-place - 1]} last ` : `${names[place]} `;
}

/** Returns all spans of a kind, joined. */
export function joinedSpans(area: Area, kind: SpanKind, separator: string, isReversed: boolean, family: Family): Text {
  return {
    family,
    words: `all spans "${KINDS[kind].words}" of ${AREA_WORDS[area]}${isReversed ? " in reverse order" : ""}, joined by ${quote(separator)}`,
    of: (view) => {
      const spans = view.spans(area, kind).slice(0, 500);
      return spans.length < 2 ? undefined : (isReversed ? spans.toReversed() : spans).join(separator);
    },
  };
}

/** Returns two texts one after the other; `undefined` unless both are there. */
export function joinTexts(one: Text, other: Text, separator: string, family: Family = one.family): Text {
  return {
    family,
    words: `${one.words}, then ${other.words}${separator.trim() === "" ? "" : `, joined by ${quote(separator)}`}`,
    of: (view) => {
      const [first, second] = [one.of(view), other.of(view)];
      return first === undefined || second === undefined ? undefined : `${first}${separator}${second}`;
    },
  };
}

/** Returns the characters of a text with a mark between them; blanks are left out. */
export function spacedText(text: Text, mark: string): Text {
  return {
    family: "join",
    words: `the characters of ${text.words}, ${mark === "" ? "without blanks" : `joined by ${quote(mark)}`}`,
    of: (view) => {
      const inner = text.of(view);
      return (
        inner &&
        [...new Intl.Segmenter("en").segment(inner.replaceAll(/\s/g, ""))].map(({ segment }) => segment).join(mark)
      );
    },
  };
}

/** Returns a text of the n-th turn from a list, from the start again after its end. */
export function listedText(words: string, list: (view: View) => readonly string[]): Text {
  return {
    family: "turns",
    words: `${words}, one in each turn`,
    of: (view) => {
      const items = list(view);
      return items.length === 0 ? undefined : items[view.turn % items.length];
    },
  };
}
