import type { Phrases } from "./phrases/phrases.ts";
import { normalise, wordsOf } from "./text.ts";

/** Kinds of phrases that a judge looks for. */
export const MARKER_KINDS = ["evidence", "reasoning", "structure"] as const;
export type MarkerKind = (typeof MARKER_KINDS)[number];

/** Phrases found in a sentence. */
export interface Markers {
  /** Distinct phrases of each kind. */
  readonly found: Readonly<Record<MarkerKind, readonly string[]>>;
  /** Words that belong to a phrase. */
  readonly words: number;
}

const SHORTEST_STEM = 3;

/** Phrases of a language, prepared for search. */
export class Lexicon {
  readonly #functionWords: ReadonlySet<string>;
  /** Stems of words without a topic, of markers too. */
  readonly #generic: ReadonlySet<string>;
  readonly #markers: ReadonlyMap<string, readonly { readonly kind: MarkerKind; readonly words: readonly string[] }[]>;
  readonly #concessions: readonly string[];
  readonly #stemLength: number;
  /** The longest ones first. */
  readonly #endings: readonly string[];

  constructor(phrases: Phrases) {
    this.#stemLength = phrases.stem_length;
    this.#endings = [...phrases.endings].sort((one, other) => other.length - one.length);
    this.#functionWords = new Set(phrases.function_words.flatMap(words));
    const byFirst = new Map<string, { readonly kind: MarkerKind; readonly words: readonly string[] }[]>();
    for (const kind of MARKER_KINDS)
      for (const phrase of phrases[kind]) {
        const parts = words(phrase);
        const [first] = parts;
        if (first !== undefined) byFirst.set(first, [...(byFirst.get(first) ?? []), { kind, words: parts }]);
      }
    // The longest phrase at a place is found: "according to" before "according".
    for (const list of byFirst.values()) list.sort((one, other) => other.words.length - one.words.length);
    this.#markers = byFirst;
    const markerWords = MARKER_KINDS.flatMap((kind) => phrases[kind].flatMap(words));
    this.#generic = new Set([...phrases.generic.flatMap(words), ...markerWords].map((word) => this.stem(word)));
    this.#concessions = phrases.concession.map((phrase) => ` ${words(phrase).join(" ")} `);
  }

  /** Returns the first letters of a word without its ending, so that forms of one word are equal. */
  stem(word: string): string {
    const ending =
      this.#endings.find((each) => word.length >= each.length + SHORTEST_STEM && word.endsWith(each)) ?? "";
    return word.slice(0, word.length - ending.length).slice(0, this.#stemLength);
  }

  isFunctionWord(word: string): boolean {
    return this.#functionWords.has(word);
  }

  /** Returns the stems of the words that carry a meaning of their own, in order, repeated as they are. */
  contentOf(given: readonly string[]): string[] {
    return given
      .filter((word) => /^\p{L}/u.test(word) && !this.#functionWords.has(word))
      .map((word) => this.stem(word))
      .filter((stem) => !this.#generic.has(stem));
  }

  /** Finds phrases in the words of a sentence. A number is evidence. */
  markersOf(given: readonly string[]): Markers {
    const found = { evidence: new Set<string>(), reasoning: new Set<string>(), structure: new Set<string>() };
    let count = 0;
    for (let at = 0; at < given.length;) {
      const word = given[at] as string;
      const marker = (this.#markers.get(word) ?? []).find((each) =>
        each.words.every((part, i) => given[at + i] === part),
      );
      if (marker !== undefined) found[marker.kind].add(marker.words.join(" "));
      else if (/^\p{N}/u.test(word)) found.evidence.add("a number");
      count += marker?.words.length ?? 0;
      at += marker?.words.length ?? 1;
    }
    const lists = Object.fromEntries(MARKER_KINDS.map((kind) => [kind, [...found[kind]]]));
    return { found: lists as unknown as Markers["found"], words: count };
  }

  /** Whether a text gives the other side right. */
  concedes(given: readonly string[]): boolean {
    const text = ` ${given.join(" ")} `;
    return this.#concessions.some((phrase) => text.includes(phrase));
  }
}

function words(phrase: string): string[] {
  return wordsOf(normalise(phrase));
}
