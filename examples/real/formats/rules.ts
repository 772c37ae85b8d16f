/** Rule of a form that a program can check. */
export interface Rule {
  /** Sentence that states it. */
  readonly states: string;
  /** Number or word of its kind. */
  readonly value?: number | string;
  keeps(text: string): boolean;
}

const wordsOf = (text: string): string[] => text.match(/[\p{L}\p{N}'’-]+/gu) ?? [];
const sentencesOf = (text: string): string[] => text.match(/[^.!?]+[.!?]+/g) ?? [];

const NUMBERS = ["two", "three", "four", "five", "six", "seven", "eight"];

/** Rules of one kind by the index of a variant. Kinds that cannot hold together are not joined: see `CONFLICTS`. */
export const KINDS: Readonly<Record<string, readonly Rule[]>> = {
  words: [4, 5, 6, 7, 8].map((count) => ({
    value: count,
    states: `Use exactly ${NUMBERS[count - 2]} words.`,
    keeps: (text) => wordsOf(text).length === count,
  })),
  short: [10, 12, 15].map((count) => ({
    states: `Use at most ${count} words.`,
    keeps: (text) => wordsOf(text).length <= count,
  })),
  capitals: [{ states: "Use capital letters only.", keeps: (text) => text === text.toUpperCase() }],
  small: [{ states: "Use no capital letters.", keeps: (text) => text === text.toLowerCase() }],
  sentences: [2, 3].map((count) => ({
    value: count,
    states: `Write exactly ${NUMBERS[count - 2]} short sentences.`,
    keeps: (text) => sentencesOf(text).length === count && /[.!?]\s*$/.test(text),
  })),
  list: [2, 3, 4].map((count) => ({
    value: count,
    states: `Write a list of exactly ${NUMBERS[count - 2]} short lines, each of which begins with "- ".`,
    keeps: (text) => {
      const lines = text.trim().split("\n");
      return lines.length === count && lines.every((line) => /^- \S/.test(line));
    },
  })),
  quotes: [{ states: "Put the whole answer in double quotes.", keeps: (text) => /^"[^"]+"$/.test(text.trim()) }],
  question: [{ states: "The answer must be a question.", keeps: (text) => /^[^.!?]+\?$/.test(text.trim()) }],
  commas: [{ states: "Use no commas.", keeps: (text) => !text.includes(",") }],
  start: ["Well", "Today", "Often", "Perhaps"].map((word) => ({
    value: word,
    states: `Begin with the word "${word}".`,
    keeps: (text) => wordsOf(text)[0]?.toLowerCase() === word.toLowerCase(),
  })),
  end: ["indeed", "again", "today", "friends"].map((word) => ({
    value: word,
    states: `End with the word "${word}".`,
    keeps: (text) => wordsOf(text).at(-1)?.toLowerCase() === word,
  })),
};

const CONFLICTS: Readonly<Record<string, readonly string[]>> = {
  words: ["short", "sentences", "list"],
  short: ["sentences", "list"],
  capitals: ["small"],
  sentences: ["list", "question"],
  list: ["quotes", "question", "start", "end"],
  // The mark at the end of a sentence would stand within the quotes.
  quotes: ["sentences", "question"],
};

export function areCompatible(first: string, second: string): boolean {
  return (
    first !== second && !(CONFLICTS[first]?.includes(second) ?? false) && !(CONFLICTS[second]?.includes(first) ?? false)
  );
}

/** Returns a rule by its kind and variant: `words/2`. */
export function ruleOf(name: string): Rule {
  const [kind = "", variant] = name.split("/");
  return KINDS[kind]?.[Number(variant)] as Rule;
}

/**
 * Whether a text is about the topic, so that no fixed text and no row of equal words keeps rules: it names the topic, and of its words, of which there are
 * three or more, three quarters are different.
 */
export function isAbout(text: string, topic: string): boolean {
  const words = wordsOf(text.toLowerCase());
  return words.includes(topic) && words.length >= 3 && new Set(words).size >= 0.75 * words.length;
}
