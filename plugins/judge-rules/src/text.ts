/** Sentence of an argument. */
export interface Sentence {
  /** Words in lower case; numbers are words. */
  readonly words: readonly string[];
  /** Characters, each run of white space counted once. */
  readonly characters: number;
  /** Parts between commas, semicolons, slashes, bullets and line breaks that have a word. */
  readonly parts: number;
  readonly hasStop: boolean;
}

const WORD = /\p{L}[\p{L}\p{M}'-]*|\p{N}[\p{N}.,:%]*/gu;
const SEPARATORS = /[,;/|•·–—\n\t]|(?:^|\s)[-*+]\s/u;
/** Sentences with fewer words are counted with the next one: a list of fragments is one sentence. */
const SHORTEST = 5;
/** Longer words are no words. */
const LONGEST_WORD = 30;

/** Normalises a text: compatible forms of characters, Latin letters without accents, straight apostrophes, no invisible characters. */
export function normalise(text: string): string {
  return text
    .normalize("NFKD")
    .replace(/(\p{Script=Latin})\p{M}+/gu, "$1")
    .normalize("NFC")
    .replace(/\p{Cf}/gu, "")
    .replace(/[’‘ʼ]/gu, "'");
}

/** Returns the words of a normalised text, in lower case, without the possessive 's. */
export function wordsOf(text: string): string[] {
  return (text.toLowerCase().match(WORD) ?? [])
    .map((word) => word.replace(/'s$|[',.:-]+$/u, ""))
    .filter((word) => word !== "" && word.length <= LONGEST_WORD);
}

/** Splits a normalised text into sentences, at stops and line breaks. */
export function sentencesOf(text: string): Sentence[] {
  const sentences: Sentence[] = [];
  let pending: string[] = [];
  let count = 0;
  const pieces = text.split(/(?<=[.!?…。！？])\s+|(?<=[。！？])|\n+/u);
  for (const [i, piece] of pieces.entries()) {
    if (piece !== "" || pending.length > 0) pending.push(piece);
    count += wordsOf(piece).length;
    if (i < pieces.length - 1 && count < SHORTEST) continue;
    const joined = pending.join("\n");
    if (joined.trim() !== "") sentences.push(sentenceOf(joined));
    [pending, count] = [[], 0];
  }
  return sentences;
}

function sentenceOf(text: string): Sentence {
  const shown = text.trim().replace(/\s+/gu, " ");
  return {
    words: wordsOf(text),
    characters: shown.length,
    parts: text.split(SEPARATORS).filter((part) => wordsOf(part).length > 0).length,
    hasStop: /[.!?…。！？]["')\]]*$/u.test(shown),
  };
}
